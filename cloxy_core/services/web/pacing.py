"""Not more requests to one host, and not more pages at a time, than is polite and bearable."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from cloxy_hookspecs import FetchBusyError

PAGES = 8
"""Pages that are read at a time."""
WAITING = 32
"""Pages that may wait for that."""
PATIENCE = 2.0
"""Seconds that they wait: whoever asks may have something better to do than to wait behind servers
that do not answer."""
HOSTS = 512
"""Hosts whose last request is remembered."""
INTERVAL = 0.25
"""Seconds from the end of a request to a host to the next one to it."""


class Pacing:
    """Turns for pages and for hosts."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pages = asyncio.Semaphore(PAGES)
        self._waiting = 0
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def page(self) -> AsyncIterator[None]:
        """A turn to read a page.

        Raises:
            FetchBusyError: too many wait already, or it was not this one's turn in time.
        """
        if self._waiting >= WAITING:
            raise _busy()
        self._waiting += 1
        try:
            async with asyncio.timeout(PATIENCE):
                await self._pages.acquire()
        except TimeoutError as error:
            raise _busy() from error
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._pages.release()

    @asynccontextmanager
    async def host(self, name: str, *, breath: bool = True) -> AsyncIterator[None]:
        """A turn to ask a host: one request at a time, with a breath between two.

        Args:
            name: of the host.
            breath: whether to wait for it; not where the host itself has just sent us on.
        """
        host = self._host(name)
        host.users += 1
        try:
            async with host.turn:
                wait = host.ended + INTERVAL - self._clock()
                if breath and wait > 0:
                    await asyncio.sleep(wait)
                try:
                    yield
                finally:
                    host.ended = self._clock()
        finally:
            host.users -= 1

    def _host(self, name: str) -> "_Host":
        if len(self._hosts) >= HOSTS and name not in self._hosts:
            # Those that nobody asks, the longest ago first.
            idle = sorted((h.ended, n) for n, h in self._hosts.items() if not h.users)
            for _ended, known in idle[: HOSTS // 4]:
                del self._hosts[known]
        return self._hosts.setdefault(name, _Host())


def _busy() -> FetchBusyError:
    return FetchBusyError(f"{PAGES} pages are being read already", hint="try again in a moment")


class _Host:
    __slots__ = ("ended", "turn", "users")

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.ended = float("-inf")
        self.users = 0
