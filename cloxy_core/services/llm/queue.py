"""How many answers of a model are made at the same time, and how many requests wait."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from cloxy_hookspecs import ModelBusyError

FIRST_GUESS: Final = 10.0
MOST_RETRY_SECONDS: Final = 60
_SHARE: Final = 0.3


class ModelQueueError(ModelBusyError):
    """There is no place in the queue, or it took too long.

    Attributes:
        retry_seconds: when to try again, in seconds from now.
    """

    def __init__(self, message: str, retry_seconds: int) -> None:
        super().__init__(message, hint=f"try again in {retry_seconds} s")
        self.retry_seconds = retry_seconds


class Places:
    """The places of one model: first come, first served."""

    def __init__(
        self,
        concurrent: int,
        waiting: int,
        seconds: float,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Everything is free.

        Args:
            concurrent: answers at the same time.
            waiting: requests that may wait.
            seconds: most that one waits.
            now: a monotonic clock, in seconds.
        """
        self._concurrent = concurrent
        self._most_waiting = waiting
        self._seconds = seconds
        self._now = now
        self._free = asyncio.Semaphore(concurrent)
        self._typical = FIRST_GUESS
        self.running = 0
        self.waiting = 0

    @property
    def free(self) -> bool:
        """Whether a request would begin at once."""
        return not self._free.locked()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place meanwhile.

        Raises:
            ModelQueueError: too many wait, or it waited too long.
        """
        await self._enter()
        began = self._now()
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._free.release()
            self._typical += _SHARE * (self._now() - began - self._typical)

    async def _enter(self) -> None:
        if self.free:
            await self._free.acquire()
            return
        if self.waiting >= self._most_waiting:
            raise self._refusal("the model is busy, and too many requests wait for it")
        self.waiting += 1
        try:
            async with asyncio.timeout(self._seconds):
                await self._free.acquire()
        except TimeoutError as error:
            raise self._refusal(
                f"the model was busy for the {self._seconds:g} seconds that a request may wait"
            ) from error
        finally:
            self.waiting -= 1

    def _refusal(self, message: str) -> ModelQueueError:
        expected = self._typical * (self.waiting + 1) / self._concurrent
        return ModelQueueError(message, min(max(round(expected), 1), MOST_RETRY_SECONDS))
