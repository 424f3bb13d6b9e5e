"""Progress from an operation to the door that called it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Listener: TypeAlias = Callable[[float, float | None, str], None]

_listener: ContextVar[Listener | None] = ContextVar("progress", default=None)


class DoorProgress:
    """Passes on what an operation reports to the door of this call."""

    def report(self, done: float, total: float | None = None, message: str = "") -> None:
        """Say how far it is; nothing happens when the door cannot show it."""
        listener = _listener.get()
        if listener is not None:
            listener(done, total, message)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear what operations report that are called inside, in tasks made inside too."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
