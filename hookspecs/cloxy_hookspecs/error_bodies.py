"""The body of an error: one for every door, which clients of several APIs can read.

It holds what our own clients read (`code`, `message`, `hint`, and `detail` beside), what those of
OpenAI's API read (`message`, `type`, `param`, `code`) and what those of Anthropic's API read (the
outer `type` and `type`, `message`).
"""

from types import MappingProxyType
from typing import Final

from cloxy_hookspecs.errors import CloxyError

_TYPES: Final = MappingProxyType(
    {
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        503: "overloaded_error",
        504: "timeout_error",
    }
)
INTERNAL: Final = (
    500,
    "internal_error",
    "The request failed inside the server.",
    "The log of the server names the place; please report it.",
)
"""Status, code, message and hint of an error that nobody foresaw."""


def error_type(status: int) -> str:
    """The kind of an error, as clients of models know it, by its HTTP status."""
    return _TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")


def body_of(
    status: int, code: str, message: str, hint: str | None, param: str | None = None
) -> dict[str, object]:
    """The body of an error.

    Args:
        status: HTTP status.
        code: stable machine-readable name.
        message: what is wrong, for people.
        hint: what to do; None when that is plain.
        param: the field that is wrong, where one is and its name is told.
    """
    error: dict[str, object] = {
        "type": error_type(status),
        "code": code,
        "message": message,
        "hint": hint,
        "param": param,
    }
    return {"type": "error", "error": error, "detail": message}


def error_body(error: Exception) -> dict[str, object]:
    """The body of an error; of one that is not Cloxy's nothing is told but that there was one."""
    if not isinstance(error, CloxyError):
        return body_of(*INTERNAL)
    param = getattr(error, "param", None)
    body = body_of(error.http_status, error.code, error.message, error.hint, param)
    url = getattr(error, "url", None)
    return body if url is None else {**body, "url": url}
