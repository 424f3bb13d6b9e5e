"""Endpoints of plugins as routes: they read bodies and write answers by themselves.

What the core does for them: no key reaches them, a client that goes away ends the work on its
answer, and what they raise becomes the common error body.
"""

import asyncio
import logging
import re
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from cloxy_core.surfaces.caller import called_by
from cloxy_core.surfaces.http.boundary_rules import OWNER_HEADER_NAME
from cloxy_core.surfaces.http.callers import is_owner
from cloxy_core.surfaces.http.routes import READ_METHODS
from cloxy_hookspecs import (
    CloxyError,
    EndpointAnswer,
    EndpointProvider,
    EndpointRequest,
    PluginContractError,
)
from cloxy_hookspecs.error_bodies import body_of

KEPT_BACK: Final = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "cookie", OWNER_HEADER_NAME.decode()}
)
"""Headers that carry keys or cookies."""

_FRAMING: Final = frozenset(
    {"content-length", "content-type", "connection", "keep-alive", "transfer-encoding", "upgrade"}
)
"""Headers that belong to the connection, or that the answer says elsewhere."""

_STREAM_HEADERS: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")

_STOPPING: Final = 503
STOPPED: Final = ("stopping", "the server is shutting down", "try again when it runs again")
"""Code, words and advice of the error for a request that the server's end cut off."""

T = TypeVar("T")

log = logging.getLogger("cloxy.http")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint that is ready to be asked.

    Attributes:
        record: its record.
        call: answers.
    """

    record: EndpointProvider
    call: Callable[[EndpointRequest], Awaitable[EndpointAnswer]]


def large_body_paths(endpoints: Iterable[Endpoint]) -> frozenset[str]:
    """Paths whose bodies may be as large as any; those with placeholders stay small."""
    return frozenset(
        endpoint.record.path
        for endpoint in endpoints
        if endpoint.record.large_body and "{" not in endpoint.record.path
    )


def add_endpoints(app: FastAPI, endpoints: Iterable[Endpoint]) -> None:
    """Add a route for every endpoint."""
    for endpoint in endpoints:
        _add_endpoint(app, endpoint)


def _add_endpoint(app: FastAPI, endpoint: Endpoint) -> None:
    record = endpoint.record

    async def answer(request: Request) -> Response:
        given = await _given(request)
        try:
            with called_by(owner=given.owner):
                answered = await _unless_gone(endpoint.call(given), request.receive)
        except asyncio.CancelledError:
            # So the web server ends what takes too long when it stops; left to itself it would
            # answer with a word of its own, which no client reads.
            return JSONResponse(body_of(_STOPPING, *STOPPED), _STOPPING, {"retry-after": "5"})
        if answered is None:
            return Response(status_code=204)  # nobody reads it
        try:
            return _response(record, answered)
        except BaseException:
            await _close(answered.body)
            raise

    app.add_api_route(
        record.path,
        answer,
        methods=READ_METHODS if record.method == "GET" else [record.method],
        name=record.name,
        summary=record.summary,
        response_model=None,
    )


async def _given(request: Request) -> EndpointRequest:
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        if name not in KEPT_BACK:
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return EndpointRequest(
        path_values={name: str(value) for name, value in request.path_params.items()},
        query=dict(request.query_params),
        headers=headers,
        body=await request.body(),
        owner=is_owner(request),
    )


async def _unless_gone(answering: Awaitable[T], receive: Receive) -> T | None:
    """What the work results in; None when the client went away before, and the work was ended."""
    work = asyncio.ensure_future(answering)
    gone = asyncio.create_task(_until_gone(receive), name="waiting for a client to go")
    try:
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        await _ended(gone)
        if not work.done():
            await _ended(work)


async def _until_gone(receive: Receive) -> None:
    """Wait until the client has closed its connection; its body was read before."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _ended(task: "asyncio.Future[Any]") -> None:
    """Cancel, and wait until it has let go of everything."""
    task.cancel()
    await asyncio.wait((task,))
    if not task.cancelled() and (error := task.exception()) is not None:
        log.warning("%s while it was ended", _told(error))


def _response(record: EndpointProvider, answer: EndpointAnswer) -> Response:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise PluginContractError(
                f"the endpoint {record.name!r} sets the header {name!r}, which cannot be sent"
            )
    headers = {name: value for name, value in headers.items() if name not in _FRAMING}
    if isinstance(answer.body, bytes):
        return Response(answer.body, answer.status, headers, answer.media_type)
    headers = {**_STREAM_HEADERS, **headers}
    return PiecesResponse(record.name, answer.body, answer.status, headers, answer.media_type)


class PiecesResponse(Response):
    """An answer that is sent as its pieces come; they are closed in every case."""

    def __init__(
        self,
        name: str,
        pieces: AsyncIterator[bytes],
        status: int,
        headers: dict[str, str],
        media_type: str,
    ) -> None:
        """Answer.

        Args:
            name: of the endpoint, for the log.
            pieces: of the body.
            status: HTTP status.
            headers: further headers.
            media_type: type of the body.
        """
        super().__init__(None, status, headers, media_type)
        # Its length is not known before its end.
        self.raw_headers = [pair for pair in self.raw_headers if pair[0] != b"content-length"]
        self._name = name
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the pieces until they end or the client goes away."""
        try:
            sending = self._send(send, head_only=scope["method"] == "HEAD")
            await _unless_gone(sending, receive)
        finally:
            await _close(self._pieces)

    async def _send(self, send: Send, *, head_only: bool) -> None:
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        if not head_only:
            try:
                async for piece in self._pieces:
                    if piece:
                        body = {"type": "http.response.body", "body": piece, "more_body": True}
                        await send(body)
                        # Neither need have waited: who watches the client gets a turn.
                        await asyncio.sleep(0)
            except Exception as error:
                # The status is sent already. The connection ends without the last chunk, so that
                # nobody takes what came for the whole.
                log.error("the stream of %r ended: %s", self._name, _told(error))
                return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _close(pieces: bytes | AsyncIterator[bytes]) -> None:
    close = getattr(pieces, "aclose", None)
    if close is not None:
        await close()


def _told(error: BaseException) -> str:
    """What went wrong and where, without the error's text, which may quote a conversation."""
    what = f"{type(error).__name__} ({error.code})" if isinstance(error, CloxyError) else None
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    places = " < ".join(f"{f.filename}:{f.lineno} {f.name}" for f in reversed(frames))
    return f"{what or type(error).__name__} at {places}"
