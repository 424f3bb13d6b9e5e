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
from cloxy_core.surfaces.http.routes import add_routes
from cloxy_core.surfaces.operations import Operation, error_body, invalid
from cloxy_hookspecs import CloxyError

SERVICE = "cloxy"
NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "auto_configure": False,
}
RETRY_SECONDS = "1"
CODES = {404: "not_found", 405: "method_not_allowed", 400: "bad_request"}

Health = Callable[[], Awaitable[Mapping[str, object]]]
Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_app(operations: Iterable[Operation], health: Health, lifespan: Lifespan) -> FastAPI:
    """Build the application; the boundary is put in front of it by the server.

    Args:
        operations: everything that can be asked for.
        health: tells how the server is.
        lifespan: what runs beside the requests.
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
    add_routes(app, operations)
    return app


def _add_own_routes(app: FastAPI, health: Health) -> None:
    async def show_health(request: Request) -> Response:
        if not _is_authenticated(request):
            return JSONResponse({"status": "OK", "service": SERVICE, "version": __version__})
        return JSONResponse(dict(await health()))

    async def show_banner(request: Request) -> Response:
        facts = await health() if _is_authenticated(request) else {}
        return HTMLResponse(banner(__version__, facts))

    app.add_api_route("/health", show_health, methods=["GET"])
    app.add_api_route("/", show_banner, methods=["GET"])


def _is_authenticated(request: Request) -> bool:
    """What the boundary found out; without a boundary nobody is."""
    return bool(request.scope.get("state", {}).get("authenticated", False))


def _add_errors(app: FastAPI) -> None:
    async def on_cloxy_error(_request: Request, error: Exception) -> Response:
        assert isinstance(error, CloxyError)  # registered for no other
        headers = {"retry-after": RETRY_SECONDS} if error.retryable else None
        return JSONResponse(error_body(error), status_code=error.http_status, headers=headers)

    async def on_invalid(_request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # registered for no other
        return JSONResponse(error_body(invalid(error.errors())), status_code=422)

    async def on_http_error(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # registered for no other
        code = CODES.get(error.status_code, "error")
        body = {
            "error": {"code": code, "message": str(error.detail), "hint": None},
            "detail": str(error.detail),
        }
        return JSONResponse(body, status_code=error.status_code, headers=error.headers)

    app.add_exception_handler(CloxyError, on_cloxy_error)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http_error)
