"""Whether something that was asked for changed what is stored."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Changes:
    """What is known of one call.

    Attributes:
        happened: whether a transaction that it began changed a row, and was committed.
    """

    happened: bool = False


_current: ContextVar[Changes | None] = ContextVar("changes", default=None)


@contextmanager
def watched() -> Iterator[Changes]:
    """Watch what this block does, on whatever thread and in whatever task that it begins."""
    outer, changes = _current.get(), Changes()
    token = _current.set(changes)
    try:
        yield changes
    finally:
        _current.reset(token)
        if outer is not None and changes.happened:
            outer.happened = True


def note_change() -> None:
    """Say that a row was changed."""
    changes = _current.get()
    if changes is not None:
        changes.happened = True
