"""Events on their way to a client, and a sign of life while there are none."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

QUIET_SECONDS: Final = 15.0
"""How long nothing may come before there is a sign of life.

The HTML standard advises "every 15 seconds or so", because of proxies that drop what is silent:
https://html.spec.whatwg.org/multipage/server-sent-events.html#authoring-notes.
"""
FIRST_SECONDS: Final = 15.0
"""How long the headers are held back for the first piece; after that, errors come as events."""
OPEN_SECONDS: Final = FIRST_SECONDS + 5.0
"""How long they are held back for a model that is loaded first; after that, without memories."""
MEDIA_TYPE = "text/event-stream"
HEADERS = {"x-accel-buffering": "no"}


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds the client of a stream is left without a word.

    Attributes:
        first: without headers, for the first piece of an answer.
        opening: without headers, for all that comes before, loading a model included.
        quiet: between two pieces.
    """

    first: float = FIRST_SECONDS
    opening: float = OPEN_SECONDS
    quiet: float = QUIET_SECONDS


PATIENCE: Final = Patience()


class EventBody(AsyncIterator[bytes]):
    """The pieces of a body, and a ping whenever there was none for a while."""

    def __init__(
        self,
        pieces: AsyncGenerator[bytes, None],
        ping: bytes,
        on_close: Callable[[], Awaitable[None]],
        seconds: float,
    ) -> None:
        """Send nothing yet.

        Args:
            pieces: what is sent.
            ping: what is sent in between.
            on_close: called at the end, and when the client goes away, even before the first piece.
            seconds: how long it may be silent.
        """
        self._pieces = pieces
        self._ping = ping
        self._on_close = on_close
        self._seconds = seconds
        self._waiting: asyncio.Task[bytes] | None = None

    async def __anext__(self) -> bytes:
        """The next piece, or a ping."""
        if self._waiting is None:
            self._waiting = asyncio.create_task(_next_of(self._pieces))
        done, _ = await asyncio.wait({self._waiting}, timeout=self._seconds)
        if not done:
            return self._ping
        task, self._waiting = self._waiting, None
        try:
            return task.result()
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """End the work behind the pieces, whatever it is doing."""
        task, self._waiting = self._waiting, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration, Exception):
                await task
        try:
            await self._pieces.aclose()
        finally:
            await self._on_close()


async def _next_of(pieces: AsyncGenerator[bytes, None]) -> bytes:
    return await anext(pieces)
