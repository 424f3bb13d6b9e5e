"""A streamed answer while it is being opened: its client is not left without a word meanwhile.

A model may have to be loaded first, and a long conversation to be read. What fails early has an
HTTP status of its own; later the client has its headers already, and an error is an event.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Generic, Protocol, TypeVar


class Opened(Protocol):
    """An answer that was opened."""

    def headers(self) -> dict[str, str]:
        """What its client is told ahead of it."""
        ...

    async def aclose(self) -> None:
        """End the work on it."""
        ...


T = TypeVar("T", bound=Opened)


class Opening(Generic[T]):
    """An answer that is opened in a task of its own; whoever holds it closes it."""

    def __init__(self, work: Coroutine[Any, Any, T], seconds: float) -> None:
        """Begin.

        Args:
            work: opens the answer.
            seconds: after so many the headers are not held back for it any longer.
        """
        self._task = asyncio.create_task(work, name="opening an answer")
        self._seconds = seconds

    async def headers(self) -> dict[str, str]:
        """Headers of the answer; none where it is still not opened.

        Whatever the work raises by then is raised here, and nothing is left of it.
        """
        try:
            done, _ = await asyncio.wait({self._task}, timeout=self._seconds)
            return self._task.result().headers() if done else {}
        except BaseException:
            await self.aclose()
            raise

    @property
    def ready(self) -> T | None:
        """The answer; None while it is not opened, or where that failed."""
        task = self._task
        is_open = task.done() and not task.cancelled() and task.exception() is None
        return task.result() if is_open else None

    async def opened(self) -> T:
        """The answer, once it is opened; raises what the work does."""
        return await self._task

    async def aclose(self) -> None:
        """End the work on it, whether it was opened or not."""
        self._task.cancel()
        await asyncio.wait({self._task})
        if (opened := self.ready) is not None:
            await opened.aclose()
