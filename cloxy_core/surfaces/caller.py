"""Who calls an operation: said by the door, asked for by the operation."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_owner: ContextVar[bool] = ContextVar("owner", default=False)


class DoorCaller:
    """What the door of this call said; implements `Caller`."""

    def is_owner(self) -> bool:
        """Whether the caller proved to be the owner of the data directory."""
        return _owner.get()


@contextmanager
def called_by(*, owner: bool) -> Iterator[None]:
    """Say who calls the operations inside."""
    token = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(token)
