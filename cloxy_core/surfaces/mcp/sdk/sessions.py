"""The sessions of the older protocol: when there are too many, who was quiet longest makes room.

A client that is killed, or that opens a session for every question, never ends one. The library
refuses whoever comes after the last place is taken, for as long as those are kept.
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

SESSION: Final = b"mcp-session-id"


class Sessions:
    """An ASGI application in front of the library's, that ends sessions for new ones."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        """Know no session yet.

        Args:
            app: opens a session for a request without one, and ends it at a DELETE.
            most: how many may be open.
        """
        self._app = app
        self._most = most
        # Requests under way by session; who was heard of last is last.
        self._open: OrderedDict[bytes, int] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        session = next((value for name, value in scope["headers"] if name == SESSION), None)
        if session is None:
            await self._make_room()
            await self._app(scope, receive, self._noting(send))
        else:
            with self._in_use(session):
                await self._app(scope, receive, send)
            if scope["method"] == "DELETE":
                self._open.pop(session, None)

    def _noting(self, send: Send) -> Send:
        """Note the session that an answer opens."""

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                for name, value in message.get("headers", ()):
                    if name.lower() == SESSION:
                        self._open[value] = 0
            await send(message)

        return note

    @contextmanager
    def _in_use(self, session: bytes) -> Iterator[None]:
        if session not in self._open:  # never opened, or ended: the library says so
            yield
            return
        self._open[session] += 1
        self._open.move_to_end(session)
        try:
            yield
        finally:
            if session in self._open:
                self._open[session] -= 1
                self._open.move_to_end(session)

    async def _make_room(self) -> None:
        """End sessions that nobody uses now until one more can be opened, if that is possible."""
        while len(self._open) >= self._most:
            quiet = next((name for name, running in self._open.items() if not running), None)
            if quiet is None:
                return
            del self._open[quiet]
            await self._end(quiet)

    async def _end(self, session: bytes) -> None:
        scope = {
            "type": "http",
            "method": "DELETE",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "root_path": "",
            "scheme": "http",
            "query_string": b"",
            "headers": [(SESSION, session)],
        }
        await self._app(scope, _nothing, _unheard)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_message: Message) -> None:
    """Whether the library still knew it does not matter."""
