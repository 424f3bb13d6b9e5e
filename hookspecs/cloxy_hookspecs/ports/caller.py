"""Who asks: what the door of this call knows of it."""

from typing import Protocol


class Caller(Protocol):
    """Tells an operation what its door found out about the caller of the running call."""

    def is_owner(self) -> bool:
        """Whether the caller proved to be the owner of the data directory.

        False at every door that cannot tell.
        """
        ...
