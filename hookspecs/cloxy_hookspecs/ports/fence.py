"""Putting recalled or fetched text into a conversation as data."""

from typing import Protocol


class Fence(Protocol):
    """Wraps text so that it can neither pass for an instruction of ours nor close its fence."""

    def fence(self, text: str) -> str:
        """A block that says that it is data; characters that nobody sees are made visible.

        Args:
            text: what was said, stored or fetched.
        """
        ...
