"""What a server and its clients on one machine say to each other: who it is, when to stop."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from cloxy_core import __version__
from cloxy_core.identity import NONCE_PATTERN, proof
from cloxy_core.surfaces.http.boundary_replies import OWNER_ONLY
from cloxy_core.surfaces.http.callers import is_owner
from cloxy_core.surfaces.http.routes import READ_METHODS
from cloxy_hookspecs import ValidationError

SERVICE = "cloxy"
IDENTITY = "/identity"
SHUTDOWN = "/shutdown"


@dataclass(frozen=True, slots=True)
class LocalServer:
    """What the routes need to know of the running server.

    Attributes:
        token: contents of `owner.token`.
        stop: tells the server to end; returns at once.
    """

    token: str
    stop: Callable[[], None]


def add_local_routes(app: FastAPI, server: LocalServer) -> None:
    """Add `/identity` and `/shutdown`."""

    async def show_identity(request: Request) -> Response:
        nonce = _nonce(request)
        shown = {
            "service": SERVICE,
            "version": __version__,
            "proof": proof(server.token, nonce, _place(request)),
        }
        return JSONResponse(shown)

    async def shut_down(request: Request) -> Response:
        if not is_owner(request):  # the boundary says so already; a server without one must too
            return Response(
                OWNER_ONLY.body(), status_code=OWNER_ONLY.status, media_type="application/json"
            )
        server.stop()
        return JSONResponse({"status": "stopping"}, status_code=202)

    app.add_api_route(IDENTITY, show_identity, methods=READ_METHODS)
    app.add_api_route(SHUTDOWN, shut_down, methods=["POST"])


def _place(request: Request) -> tuple[str, int]:
    """Our end of the connection, as the client sees its peer."""
    host, port = request.scope["server"]
    return host, port


def _nonce(request: Request) -> str:
    """The question of the client.

    Raises:
        ValidationError: it is missing, given twice, or no nonce.
    """
    given = request.query_params.multi_items()
    if len(given) == 1 and given[0][0] == "nonce" and NONCE_PATTERN.fullmatch(given[0][1]):
        return given[0][1]
    raise ValidationError(
        "nonce: must be given once, and be 32 to 128 hexadecimal digits in lower case",
        hint="draw a fresh one for every question: /identity?nonce=...",
    )
