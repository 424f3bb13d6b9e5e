"""Errors as bodies, for those that come when an answer has already begun."""

import traceback
from collections.abc import Awaitable, Callable

from cloxy_hookspecs import CloxyError, EndpointAnswer, EndpointRequest

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
_SERVER = 500
_FRAMES = 8

Endpoint = Callable[[EndpointRequest], Awaitable[EndpointAnswer]]


def error_type(status: int) -> str:
    """The word that clients know for a status."""
    fallback = "api_error" if status >= _SERVER else "invalid_request_error"
    return _TYPES.get(status, fallback)


def error_body(error: Exception) -> dict[str, object]:
    """The common error body; of an error that is none of ours nothing is told but that it was."""
    if isinstance(error, CloxyError):
        status, code, message, hint = (error.http_status, error.code, error.message, error.hint)
    else:
        status, code, message = 500, "internal_error", "The request failed inside the server."
        hint = "The log of the server names the place; please report it."
    return {
        "type": "error",
        "error": {
            "type": error_type(status),
            "code": code,
            "message": message,
            "hint": hint,
            "param": getattr(error, "param", None),
        },
        "detail": message,
    }


def told(error: BaseException) -> str:
    """What failed and where, for the log; not in its own words, which may quote a conversation."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = " < ".join(f"{f.filename}:{f.lineno} {f.name}" for f in reversed(frames))
    return f"{type(error).__name__} at {places}"
