"""`/mcp`: a small application that loads the real one when the first request comes."""

import asyncio
import importlib
import json
import logging
from collections.abc import Awaitable, Iterable
from pathlib import Path
from typing import Final, Protocol

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from cloxy_core.launching.mcp_use import is_used, note_use
from cloxy_core.surfaces.mcp.calls import Calls
from cloxy_core.surfaces.mcp.catalogue import Catalogue
from cloxy_core.surfaces.mcp.pages import Shelf
from cloxy_core.surfaces.operations import Operation

PATH: Final = "/mcp"
METHODS: Final = ["GET", "POST", "DELETE"]
SDK: Final = "cloxy_core.surfaces.mcp.sdk.running"

_log = logging.getLogger("cloxy.mcp")


class _Running(Protocol):
    """The loaded server."""

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


class McpEndpoint:
    """The MCP side of a server; an ASGI application."""

    def __init__(
        self, operations: Iterable[Operation], max_body: int, data_dir: Path | None = None
    ) -> None:
        """Load nothing yet.

        Args:
            operations: everything that can be asked for.
            max_body: largest request, in bytes.
            data_dir: where it is noted that a client came; nowhere when None.
        """
        self._data_dir = data_dir
        self._operations = tuple(operations)
        self._max_body = max_body
        self._shelf = Shelf()
        self._opening: asyncio.Task[_Running] | None = None
        self._closed = False
        for operation in self._operations:
            if operation.record.effect != "read":
                operation.after.append(self.drop_answers)

    def drop_answers(self) -> None:
        """Keep no answer any longer of which parts are still to come."""
        self._shelf.clear()

    @property
    def loaded(self) -> bool:
        """Whether somebody asked already."""
        return self._opening is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        running = await self._running()
        if running is None:
            await _unavailable(send, closed=self._closed)
        else:
            await running(scope, receive, send)

    async def warm(self) -> None:
        """Load it before somebody asks, if clients of this kind have come before."""
        if self._data_dir is not None and is_used(self._data_dir):
            await self._running()

    async def close(self) -> None:
        """End all sessions; every further request is refused. May be called again."""
        self._closed = True
        opening, self._opening = self._opening, None
        if opening is not None:
            running = await _outcome(opening)
            if running is not None:
                await running.close()

    async def _running(self) -> _Running | None:
        """The loaded server; None when it is closed or cannot be loaded."""
        if self._closed:
            return None
        if self._opening is None:
            self._opening = asyncio.create_task(self._open(), name="mcp opening")
        opening = self._opening
        # Shielded: when the first client leaves, those who wait beside it still get it.
        running = await _outcome(asyncio.shield(opening))
        if running is None and self._opening is opening:
            self._opening = None
        return self._unless_closed(running)

    def _unless_closed(self, running: _Running | None) -> _Running | None:
        return None if self._closed else running

    async def _open(self) -> _Running:
        # On a thread, since it takes a second; requests of other kinds go on meanwhile.
        module = await asyncio.to_thread(importlib.import_module, SDK)
        calls = Calls(Catalogue(self._operations), self._shelf)
        running: _Running = module.RunningServer(calls, self._max_body)
        await running.start()
        if self._data_dir is not None:
            await asyncio.to_thread(note_use, self._data_dir)
        return running


def mount(app: Starlette, endpoint: McpEndpoint) -> None:
    """Put the endpoint at its place in an application."""
    app.router.routes.append(Route(PATH, endpoint=endpoint, methods=METHODS, name="mcp"))


async def _outcome(opening: Awaitable[_Running]) -> _Running | None:
    try:
        return await opening
    except Exception:
        _log.exception("the MCP part of the server cannot be loaded")
        return None


async def _unavailable(send: Send, *, closed: bool) -> None:
    """Say that nobody answers here now."""
    message = (
        "the server is stopping"
        if closed
        else "the MCP part of the server cannot be loaded; its log says why"
    )
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": message}}
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(error).encode()})
