"""The server of the library as an ASGI application that runs in a task of its own."""

import asyncio
import json
from typing import Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import PROTOCOL_VERSION_META_KEY
from starlette.types import Message, Receive, Scope, Send

from cloxy_core.surfaces.mcp.calls import Calls
from cloxy_core.surfaces.mcp.sdk.logs import take_logs
from cloxy_core.surfaces.mcp.sdk.server import create_server
from cloxy_core.surfaces.mcp.sdk.sessions import Sessions

MOST_SESSIONS: Final = 1000
SPARE_SESSIONS: Final = 256
"""Requests that may be opening a session at the same time, beside those that are open."""
IDLE_SECONDS: Final = 2 * 3600.0
"""How long a session of the older protocol is kept with no request and no stream open."""

_VERSION: Final = MCP_PROTOCOL_VERSION_HEADER.encode()


class RunningServer:
    """Sessions and requests of clients; made once, closed once."""

    def __init__(self, calls: Calls, max_body: int) -> None:
        """Start nothing yet.

        Args:
            calls: the doors.
            max_body: largest request, in bytes.
        """
        take_logs()
        self._manager = StreamableHTTPSessionManager(
            create_server(calls),
            # The boundary in front of the whole server has looked at Host and Origin already, and
            # knows the names that were allowed by a setting, which the library does not.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            session_idle_timeout=IDLE_SECONDS,
            max_request_body_size=max_body,
            max_sessions=MOST_SESSIONS + SPARE_SESSIONS,
        )
        self._sessions = Sessions(self._manager.handle_request, MOST_SESSIONS)
        self._ready: asyncio.Future[None] | None = None
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Be ready for requests."""
        self._ready = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(self._ready), name="mcp")
        await self._ready

    async def close(self) -> None:
        """End every session and its streams."""
        self._stop.set()
        if self._task is not None:
            await self._task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] == "POST" and not _has_version(scope):
            scope, receive = await _judged_by_body(scope, receive)
        await self._sessions(scope, receive, send)

    async def _run(self, ready: "asyncio.Future[None]") -> None:
        # One task enters and leaves: the task group inside belongs to whoever opened it.
        try:
            async with self._manager.run():
                ready.set_result(None)
                await self._stop.wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)


def _has_version(scope: Scope) -> bool:
    return any(name == _VERSION for name, _value in scope["headers"])


async def _judged_by_body(scope: Scope, receive: Receive) -> tuple[Scope, Receive]:
    """See whether a request without the header names a version in its body.

    The library goes by the header alone and would take such a request for one of the older
    protocol; with an empty header it tells what is missing.
    """
    message = await receive()
    body: bytes = message.get("body", b"")
    taken = [message]

    async def replay() -> Message:
        return taken.pop() if taken else await receive()

    if PROTOCOL_VERSION_META_KEY.encode() in body and not message.get("more_body", False):
        try:
            meta = json.loads(body)["params"]["_meta"]
        except (ValueError, LookupError, TypeError, RecursionError):
            meta = None
        if isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta:
            scope = {**scope, "headers": [*scope["headers"], (_VERSION, b"")]}
    return scope, replay
