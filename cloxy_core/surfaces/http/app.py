"""The FastAPI application: doors become routes, errors become bodies."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException

from cloxy_core import __version__
from cloxy_core.surfaces.http.banner import banner
from cloxy_core.surfaces.http.boundary_replies import INTERNAL_ERROR
from cloxy_core.surfaces.http.callers import is_authenticated
from cloxy_core.surfaces.http.endpoints import Endpoint, add_endpoints
from cloxy_core.surfaces.http.local_routes import SERVICE, LocalServer, add_local_routes
from cloxy_core.surfaces.http.routes import READ_METHODS, add_routes
from cloxy_core.surfaces.operations import Operation, invalid
from cloxy_hookspecs import CloxyError
from cloxy_hookspecs.error_bodies import body_of, error_body

NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "auto_configure": False,
}
RETRY_SECONDS = 1
CODES = {404: "not_found", 405: "method_not_allowed", 400: "bad_request"}
HINTS = {
    404: "Look at the path and the version of the server; the REST reference lists every path.",
    405: "Use a method that the header Allow names.",
    400: "Send one JSON object in UTF-8.",
}

Health = Callable[[], Awaitable[Mapping[str, object]]]
Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_app(
    operations: Iterable[Operation],
    health: Health,
    lifespan: Lifespan,
    server: LocalServer | None = None,
    endpoints: Iterable[Endpoint] = (),
) -> FastAPI:
    """Build the application; the boundary is put in front of it by the server.

    Args:
        operations: everything that can be asked for.
        health: tells how the server is.
        lifespan: what runs beside the requests.
        server: the running server, which can then prove who it is and be told to stop.
        endpoints: paths whose form others prescribe.
    """
    app = FastAPI(
        title="Cloxy",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        telemetry=NO_TELEMETRY,
    )
    _add_errors(app)
    _add_own_routes(app, health)
    if server is not None:
        add_local_routes(app, server)
    add_routes(app, operations)
    add_endpoints(app, endpoints)
    return app


def _add_own_routes(app: FastAPI, health: Health) -> None:
    async def show_health(request: Request) -> Response:
        if not is_authenticated(request):
            return JSONResponse({"status": "OK", "service": SERVICE, "version": __version__})
        return JSONResponse(dict(await health()))

    async def show_banner(request: Request) -> Response:
        facts = await health() if is_authenticated(request) else {}
        return HTMLResponse(banner(__version__, facts))

    app.add_api_route("/health", show_health, methods=READ_METHODS)
    app.add_api_route("/", show_banner, methods=READ_METHODS)


def _add_errors(app: FastAPI) -> None:
    async def on_cloxy_error(_request: Request, error: Exception) -> Response:
        assert isinstance(error, CloxyError)  # registered for no other
        seconds = getattr(error, "retry_seconds", RETRY_SECONDS)
        headers = {"retry-after": str(seconds)} if error.retryable else None
        return JSONResponse(error_body(error), status_code=error.http_status, headers=headers)

    async def on_invalid(_request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # registered for no other
        return JSONResponse(error_body(invalid(error.errors())), status_code=422)

    async def on_http_error(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # registered for no other
        code = CODES.get(error.status_code, "error")
        hint = HINTS.get(error.status_code)
        body = body_of(error.status_code, code, str(error.detail), hint)
        return JSONResponse(body, status_code=error.status_code, headers=error.headers)

    async def on_unforeseen(_request: Request, _error: Exception) -> Response:
        # The framework raises it again, and the boundary logs its place.
        body, status = INTERNAL_ERROR.body(), INTERNAL_ERROR.status
        return Response(body, status, media_type="application/json")

    app.add_exception_handler(Exception, on_unforeseen)
    app.add_exception_handler(CloxyError, on_cloxy_error)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http_error)
