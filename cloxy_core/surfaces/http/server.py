"""uvicorn, configured for a server that must not be reached or slowed by strangers."""

import uvicorn
from starlette.types import ASGIApp

from cloxy_core.services.exposure import check_exposure
from cloxy_core.surfaces.http.boundary import Boundary
from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy
from cloxy_core.surfaces.http.protocol import ConnectionLimits, protocol_with


def server_config(
    app: ASGIApp,
    policy: BoundaryPolicy,
    *,
    fd: int | None = None,
    log_level: str = "warning",
) -> uvicorn.Config:
    """Return the uvicorn configuration of an application behind the boundary.

    Args:
        app: The application; it is put behind a `Boundary` unless it already is one.
        policy: Address, names, key and limits.
        fd: Descriptor of a socket that is already listening, instead of host and port.
        log_level: uvicorn's own level. `trace` would log request headers, keys included,
            and counts as `debug`.

    Raises:
        ExposureError: The address is not loopback and there is no proper key.
    """
    check_exposure(policy.host, policy.api_key)
    limits = ConnectionLimits(policy.head_seconds, policy.write_seconds)
    return uvicorn.Config(
        app if isinstance(app, Boundary) else Boundary(app, policy),
        host=policy.host,
        port=policy.port,
        fd=fd,
        http=protocol_with(limits),
        ws="none",
        loop="auto",
        interface="asgi3",
        log_config=None,
        log_level="debug" if log_level == "trace" else log_level,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=policy.idle_seconds,
    )
