"""Progress of an operation as notifications, for a client that gave a token."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from mcp.server.context import ServerRequestContext

from cloxy_core.surfaces.mcp.neutral import neutral_text
from cloxy_core.surfaces.progress import listening

_log = logging.getLogger("cloxy.mcp")

Said = tuple[float, float | None, str]


@asynccontextmanager
async def told(ctx: ServerRequestContext[Any, Any]) -> AsyncIterator[None]:
    """Tell the client what operations inside report; the last word comes before the result."""
    if ctx.meta is None or "progress_token" not in ctx.meta:
        yield
        return
    teller = _Teller(ctx)
    task = asyncio.create_task(teller.run())
    try:
        with listening(teller.hear):
            yield
        await teller.finish()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class _Teller:
    """Sends what was heard last; what came and went in between is not worth a message."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._session = ctx.session
        self._loop = asyncio.get_running_loop()
        self._heard = asyncio.Event()
        self._sending = asyncio.Lock()
        self._last: Said | None = None
        self._told = float("-inf")

    def hear(self, done: float, total: float | None, message: str) -> None:
        """Take a report, from whatever thread."""
        self._loop.call_soon_threadsafe(self._take, (done, total, message))

    def _take(self, said: Said) -> None:
        self._last = said
        self._heard.set()

    async def run(self) -> None:
        """Send, until cancelled."""
        while True:
            await self._heard.wait()
            await self._send()

    async def finish(self) -> None:
        """Send what is left."""
        await asyncio.sleep(0)  # lets in what was heard last
        await self._send()

    async def _send(self) -> None:
        async with self._sending:
            self._heard.clear()
            said, self._last = self._last, None
            # The protocol wants it to grow with every message.
            if said is None or said[0] <= self._told:
                return
            self._told = said[0]
            try:
                await self._session.report_progress(said[0], said[1], neutral_text(said[2]) or None)
            except Exception as error:
                # Whoever cannot be told how far it is can still be given the result.
                _log.info("progress was not sent: %s", type(error).__name__)
