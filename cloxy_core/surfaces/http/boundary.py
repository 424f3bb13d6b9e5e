"""The outermost layer of the HTTP surface: what it refuses, no handler ever sees.

It is plain ASGI and stands in front of everything, mounted applications, static files and
WebSockets included. Bodies are read here, so that a handler only runs once the whole
request has arrived within its size and its time.
"""

import logging
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cloxy_core.surfaces.http.boundary_keys import KeyGate
from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy
from cloxy_core.surfaces.http.boundary_replies import (
    BODY_TIMEOUT,
    INTERNAL_ERROR,
    OWNER_ONLY,
    Refusal,
    busy,
    secure_headers,
)
from cloxy_core.surfaces.http.boundary_rules import (
    FORM_RULES,
    ORIGIN_RULES,
    SIZE_RULES,
    Context,
    Head,
    Rule,
    context_of,
    is_foreign_navigation,
    read_head,
)
from cloxy_core.surfaces.http.limits import BodyReader, PathGates, discard

__all__ = ["Boundary", "BoundaryPolicy"]

_log = logging.getLogger("cloxy.http")
_DISCARD_SECONDS = 1.0
_POLICY_VIOLATION = 1008


def _first_refusal(rules: tuple[Rule, ...], head: Head, context: Context) -> Refusal | None:
    for rule in rules:
        refusal = rule(head, context)
        if refusal is not None:
            return refusal
    return None


@dataclass(frozen=True, slots=True)
class _Sender:
    """What is known of whoever sent a request.

    Attributes:
        authenticated: Whether they may see data.
        owner: Whether they proved to be the owner of the data.
    """

    authenticated: bool = False
    owner: bool = False


_NOBODY = _Sender()


def _with_sender(scope: Scope, sender: _Sender) -> Scope:
    known = {"authenticated": sender.authenticated, "owner": sender.owner}
    return {**scope, "state": {**scope.get("state", {}), **known}}


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give a body that was already read, then whatever follows it."""
    pending: bytes | None = body

    async def replay() -> Message:
        nonlocal pending
        if pending is None:
            return await receive()
        message = {"type": "http.request", "body": pending, "more_body": False}
        pending = None
        return message

    return replay


class _Reply:
    """The sending side of one request."""

    __slots__ = ("_send", "started")

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def send(self, message: Message) -> None:
        """Pass a message of the application on, with the security headers."""
        if message["type"] == "http.response.start":
            self.started = True
            message = {**message, "headers": secure_headers(message.get("headers", ()))}
        await self._send(message)

    async def refuse(self, refusal: Refusal, unread: Receive | None = None) -> None:
        """Send a refusal.

        Args:
            refusal: What to say.
            unread: Where the rest of the body would come from, when there is one; the
                connection then ends with the reply.
        """
        _log.info("refused a request: %s (%d)", refusal.code, refusal.status)
        body = refusal.body()
        headers = refusal.reply_headers(len(body), close=unread is not None)
        start = {"type": "http.response.start", "status": refusal.status, "headers": headers}
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body, "more_body": True})
        if unread is not None and refusal is not BODY_TIMEOUT:
            await discard(unread, _DISCARD_SECONDS)
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})


class Boundary:
    """ASGI middleware that decides which requests reach the application.

    The application finds `scope["state"]["authenticated"]`: False on an open path without
    the key, where only a body without data may be shown; and `scope["state"]["owner"]`: whether
    the sender proved to be the owner of the data directory.
    """

    def __init__(
        self,
        app: ASGIApp,
        policy: BoundaryPolicy,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Guard an application.

        Args:
            app: The application behind the boundary.
            policy: Names, key and limits.
            clock: Monotonic clock in seconds, for the back-off after wrong keys.
        """
        self._app = app
        self._policy = policy
        self._context = context_of(policy)
        self._keys = KeyGate(policy.api_key, clock, policy.owner_token)
        self._bodies = BodyReader(policy.body_seconds)
        self._gates = PathGates(policy.work)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge one connection and pass it on, or refuse it."""
        kind = scope["type"]
        if kind == "http":
            await self._http(scope, receive, _Reply(send))
        elif kind == "websocket":
            await self._websocket(scope, receive, send)
        elif kind == "lifespan":
            await self._app(scope, receive, send)
        else:
            raise ValueError("the boundary knows http, websocket and lifespan only")

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = read_head(scope)
        refusal, sender = self._judge(head)
        if refusal is None:
            await self._app(_with_sender(scope, sender), receive, send)
            return
        _log.info("refused a websocket: %s (%d)", refusal.code, refusal.status)
        await receive()
        # Closed before it is accepted, the handshake is answered with 403.
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION})

    async def _http(self, scope: Scope, receive: Receive, reply: _Reply) -> None:
        head = read_head(scope)
        refusal, sender = self._judge(head)
        if refusal is not None:
            await reply.refuse(refusal, receive if head.has_body else None)
            return
        scope = _with_sender(scope, sender)
        if not head.has_body:
            await self._enter(head, scope, receive, reply)
            return
        limit = self._policy.body_limit(head.path, sized=head.is_sized)
        body = await self._bodies.read(receive, limit)
        if isinstance(body, Refusal):
            await reply.refuse(body, receive)
        elif body is not None:
            try:
                await self._enter(head, scope, _replay(body, receive), reply)
            finally:
                self._bodies.release(len(body))

    def _judge(self, head: Head) -> tuple[Refusal | None, _Sender]:
        """Return the refusal, if any, and what is known of the sender."""
        refusal = _first_refusal(ORIGIN_RULES, head, self._context)
        if refusal is None and not head.is_websocket:
            refusal = _first_refusal(FORM_RULES, head, self._context)
        if refusal is not None:
            return refusal, _NOBODY
        authenticated = self._keys.admits(head)
        owner = self._keys.is_owner(head, admitted=authenticated)
        if not self._may_enter(head, authenticated=authenticated, owner=owner):
            refusal = OWNER_ONLY if authenticated else self._keys.refusal(head)
            return refusal, _NOBODY
        known = _Sender(authenticated, owner)
        if is_foreign_navigation(head, self._context):
            known = _NOBODY
        return _first_refusal(SIZE_RULES, head, self._context), known

    def _may_enter(self, head: Head, *, authenticated: bool, owner: bool) -> bool:
        if head.path in self._policy.owner_paths:
            return owner
        is_open = head.is_read and not head.is_websocket and head.path in self._policy.open_paths
        return authenticated or is_open

    async def _enter(self, head: Head, scope: Scope, receive: Receive, reply: _Reply) -> None:
        gate = self._gates.of(head.method, head.path)
        if gate is None:
            await self._run(scope, receive, reply)
        elif await gate.enter():
            try:
                await self._run(scope, receive, reply)
            finally:
                gate.leave()
        else:
            await reply.refuse(busy(gate.retry_seconds))

    async def _run(self, scope: Scope, receive: Receive, reply: _Reply) -> None:
        try:
            await self._app(scope, receive, reply.send)
        except Exception as error:
            # The text of an error may quote the request or a memory; its place may not.
            frames = traceback.extract_tb(error.__traceback__)[-8:]
            places = " < ".join(f"{f.filename}:{f.lineno} {f.name}" for f in reversed(frames))
            _log.error("unhandled %s at %s", type(error).__name__, places)
            if not reply.started:
                await reply.refuse(INTERNAL_ERROR)
