"""What the boundary says: refusals, and the headers every reply carries."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from cloxy_hookspecs.error_bodies import INTERNAL, body_of

Headers = list[tuple[bytes, bytes]]

CONTENT_SECURITY_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    b"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    b"require-trusted-types-for 'script'"
)
SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", CONTENT_SECURITY_POLICY),
)
NO_STORE = (b"cache-control", b"no-store")
CLOSE = (b"connection", b"close")
_OWNED = frozenset(name for name, _ in SECURITY_HEADERS) | {b"server"}


def secure_headers(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Put the security headers on a reply and take cross-origin permissions off it.

    A handler may choose its own `Cache-Control`; the other headers belong to the boundary,
    so that neither a route nor a plugin can weaken them.

    Args:
        headers: The reply headers as the application gave them.

    Returns:
        The headers to send.
    """
    kept: Headers = list(SECURITY_HEADERS)
    storable = False
    for name, value in headers:
        lowered = name.lower()
        if lowered in _OWNED or lowered.startswith(b"access-control-"):
            continue
        storable = storable or lowered == b"cache-control"
        kept.append((lowered, value))
    if not storable:
        kept.append(NO_STORE)
    return kept


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer given instead of running a handler.

    It is written from constants only: nothing of the request and nothing stored is in it.

    Attributes:
        status: HTTP status code.
        code: Stable machine-readable name.
        message: What is wrong, for a person.
        hint: What to do about it.
        headers: Headers beyond those of every refusal.
    """

    status: int
    code: str
    message: str
    hint: str
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def body(self) -> bytes:
        """Return the JSON body, in UTF-8."""
        return json.dumps(body_of(self.status, self.code, self.message, self.hint)).encode()

    def reply_headers(self, length: int, *, close: bool) -> Headers:
        """Return every header of the reply.

        Args:
            length: Size of the body in bytes.
            close: Whether the connection ends with this reply.
        """
        headers = secure_headers(self.headers)
        headers.append((b"content-type", b"application/json"))
        headers.append((b"content-length", str(length).encode()))
        if close:
            headers.append(CLOSE)
        return headers


_JSON_HINT = "Send the body as JSON with the header Content-Type: application/json."
_READ_HINT = "Correct the request line and headers and send the request again."

MISDIRECTED_HOST = Refusal(
    421,
    "misdirected_host",
    "This server does not answer to the name in the Host header.",
    "Use http://127.0.0.1 or http://localhost with the port of the server; another name must be "
    "listed in the setting CLOXY_ALLOWED_HOSTS.",
)
BAD_ORIGIN = Refusal(
    403,
    "bad_origin",
    "Requests from other web origins are refused.",
    "Only pages of this server itself may call it from a browser.",
)
CROSS_SITE = Refusal(
    403,
    "cross_site",
    "Requests that another site causes a browser to send are refused.",
    "Open the address in the browser yourself, or call the server from a program.",
)
METHOD_NOT_ALLOWED = Refusal(
    405,
    "method_not_allowed",
    "This method is not supported.",
    "Use GET, HEAD, POST, PUT, PATCH or DELETE; there is no cross-origin access to ask for.",
    ((b"allow", b"GET, HEAD, POST, PUT, PATCH, DELETE"),),
)
ENCODED_BODY = Refusal(
    415,
    "unsupported_media_type",
    "Compressed request bodies are not accepted.",
    "Send the body as it is, without a Content-Encoding header.",
)
NOT_JSON = Refusal(
    415, "unsupported_media_type", "The request must be JSON, encoded in UTF-8.", _JSON_HINT
)
UNSUPPORTED_TRANSFER = Refusal(
    400,
    "bad_request",
    "Only the transfer coding 'chunked' is understood.",
    "Send the body with Content-Length, or plainly chunked.",
)
UNAUTHORIZED = Refusal(
    401,
    "unauthorized",
    "A valid key is required.",
    "Send the server's key (CLOXY_API_KEY, or what `cloxy key show --reveal` prints) in the header "
    "X-API-Key or Authorization: Bearer.",
    ((b"www-authenticate", b"Bearer"),),
)
OWNER_ONLY = Refusal(
    403,
    "owner_only",
    "Only the owner of the data may do this.",
    "Use the command line (such as `cloxy stop`) on the machine of the server, as the user whose "
    "data directory it is.",
)
PAYLOAD_TOO_LARGE = Refusal(
    413,
    "payload_too_large",
    "The request body is larger than this path accepts.",
    "Split the content over several requests; bodies over 2 MiB need a Content-Length.",
)
BODY_TIMEOUT = Refusal(
    408,
    "timeout",
    "The request body did not arrive in time.",
    "Send the whole body without pauses.",
)
HEAD_TIMEOUT = Refusal(
    408,
    "timeout",
    "The request headers did not arrive in time.",
    "Send the whole request without pauses.",
)
BAD_REQUEST = Refusal(400, "bad_request", "The request is not valid HTTP.", _READ_HINT)
NOT_ORIGIN_FORM = Refusal(
    400,
    "bad_request",
    "The request target must be a path.",
    "Name the server in the Host header and start the target with '/'; this is not a proxy.",
)
URI_TOO_LONG = Refusal(
    414,
    "uri_too_long",
    "The request target is too long.",
    "Put the parameters into a JSON body.",
)
HEAD_TOO_LARGE = Refusal(
    431, "head_too_large", "The request headers are too large or too many.", _READ_HINT
)
INTERNAL_ERROR = Refusal(*INTERNAL)


def too_many_attempts(seconds: int) -> Refusal:
    """Return the refusal of one more wrong key.

    Args:
        seconds: When to try again, in seconds from now.
    """
    return Refusal(
        429,
        "too_many_attempts",
        "Too many wrong keys.",
        "Check the key that is sent; a request with the right key is answered at once.",
        ((b"retry-after", str(seconds).encode()),),
    )


def busy(seconds: int) -> Refusal:
    """Return the refusal of a request for which there is no room now.

    Args:
        seconds: When to try again, in seconds from now.
    """
    return Refusal(
        503,
        "busy",
        "Too many requests of this kind are running or waiting.",
        "Send the request again after the time in the Retry-After header.",
        ((b"retry-after", str(seconds).encode()),),
    )
