"""The rules a request head must satisfy, one function each, in the order they apply."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import Scope

from cloxy_core.identity import OWNER_HEADER
from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy
from cloxy_core.surfaces.http.boundary_replies import (
    BAD_ORIGIN,
    BAD_REQUEST,
    CROSS_SITE,
    ENCODED_BODY,
    METHOD_NOT_ALLOWED,
    MISDIRECTED_HOST,
    NOT_JSON,
    PAYLOAD_TOO_LARGE,
    UNSUPPORTED_TRANSFER,
    Refusal,
)

_READ_METHODS = frozenset({"GET", "HEAD"})
_METHODS = _READ_METHODS | {"POST", "PUT", "PATCH", "DELETE"}
OWNER_HEADER_NAME = OWNER_HEADER.lower().encode()
_HEADERS = frozenset(
    {
        b"host",
        b"origin",
        b"sec-fetch-site",
        b"sec-fetch-mode",
        b"sec-fetch-dest",
        b"content-type",
        b"content-encoding",
        b"content-length",
        b"transfer-encoding",
        b"authorization",
        b"x-api-key",
        OWNER_HEADER_NAME,
    }
)
_JSON = re.compile(rb'application/json(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?', re.IGNORECASE)
_OWN_SITES = frozenset({b"same-origin", b"none"})
_TOP_LEVEL: tuple[list[bytes], ...] = ([], [b"document"])


@dataclass(frozen=True, slots=True)
class Head:
    """The parts of a request head that decide.

    Attributes:
        method: HTTP method; `GET` for a WebSocket.
        path: Decoded path.
        is_websocket: Whether the request opens a WebSocket.
        values: The values of each deciding header, in the order they came.
    """

    method: str
    path: str
    is_websocket: bool
    values: dict[bytes, list[bytes]]

    def all(self, name: bytes) -> list[bytes]:
        """Return every value of a header, an empty list when it is absent."""
        return self.values.get(name, [])

    @property
    def is_read(self) -> bool:
        """Whether the method only reads."""
        return self.method in _READ_METHODS

    @property
    def is_sized(self) -> bool:
        """Whether the length of the body is declared."""
        return b"transfer-encoding" not in self.values

    @property
    def has_body(self) -> bool:
        """Whether a body is announced."""
        return not self.is_sized or self.all(b"content-length") not in ([], [b"0"])


@dataclass(frozen=True, slots=True)
class Context:
    """A policy with its tables made ready for comparison."""

    policy: BoundaryPolicy
    hosts: frozenset[bytes]
    origins: frozenset[bytes]


Rule = Callable[[Head, Context], Refusal | None]


def context_of(policy: BoundaryPolicy) -> Context:
    """Prepare a policy for the rules."""
    return Context(policy, policy.hosts(), policy.origins())


def read_head(scope: Scope) -> Head:
    """Collect what the rules look at.

    Args:
        scope: ASGI scope of a request or a WebSocket.
    """
    values: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        if name in _HEADERS:
            values.setdefault(name, []).append(value)
    is_websocket = scope["type"] == "websocket"
    method = "GET" if is_websocket else scope["method"]
    return Head(method, scope["path"], is_websocket, values)


def host_rule(head: Head, context: Context) -> Refusal | None:
    """Answer only to our own names: this is what stops DNS rebinding."""
    hosts = head.all(b"host")
    if len(hosts) == 1 and hosts[0].lower() in context.hosts:
        return None
    return MISDIRECTED_HOST


def origin_rule(head: Head, context: Context) -> Refusal | None:
    """Refuse every page that is not ours."""
    origins = head.all(b"origin")
    if not origins or (len(origins) == 1 and origins[0] in context.origins):
        return None
    return BAD_ORIGIN


def is_foreign_navigation(head: Head, context: Context) -> bool:
    """Tell whether a link on another site leads to a page without data."""
    return (
        head.all(b"sec-fetch-site") == [b"cross-site"]
        and head.all(b"sec-fetch-mode") == [b"navigate"]
        and head.all(b"sec-fetch-dest") in _TOP_LEVEL
        and head.is_read
        and not head.is_websocket
        and head.path in context.policy.static_paths
    )


def fetch_site_rule(head: Head, context: Context) -> Refusal | None:
    """Refuse what another site makes a browser send, reads included.

    A reply that cannot be read can still be timed, so GET is no exception; only a link to
    a page without data is.
    """
    sites = head.all(b"sec-fetch-site")
    if not sites or (len(sites) == 1 and sites[0] in _OWN_SITES):
        return None
    return None if is_foreign_navigation(head, context) else CROSS_SITE


def method_rule(head: Head, _context: Context) -> Refusal | None:
    """Refuse OPTIONS, so that no preflight ever succeeds, and methods nobody needs."""
    return None if head.method in _METHODS else METHOD_NOT_ALLOWED


def encoding_rule(head: Head, _context: Context) -> Refusal | None:
    """Refuse compressed bodies, and transfer codings besides plain chunks."""
    if head.all(b"content-encoding"):
        return ENCODED_BODY
    codings = head.all(b"transfer-encoding")
    if codings and [coding.lower() for coding in codings] != [b"chunked"]:
        return UNSUPPORTED_TRANSFER
    return None


def content_type_rule(head: Head, _context: Context) -> Refusal | None:
    """Demand JSON wherever a browser could otherwise send without asking first.

    A program may leave the type out of a POST that has no body. A browser may not: its
    POST without a type is a simple request, and the Origin header must not be the only guard.
    """
    types = head.all(b"content-type")
    if not head.has_body:
        if head.is_read:
            return None
        is_browser = b"origin" in head.values or b"sec-fetch-site" in head.values
        if not types and not (is_browser and head.method == "POST"):
            return None
    if len(types) == 1 and _JSON.fullmatch(types[0]):
        return None
    return NOT_JSON


def length_rule(head: Head, context: Context) -> Refusal | None:
    """Refuse a body by its declared length, before any of it is read."""
    lengths = head.all(b"content-length")
    if not lengths:
        return None
    if len(lengths) > 1 or not lengths[0].isdigit() or not head.is_sized:
        return BAD_REQUEST
    # Bounded before int(): a header of many digits must cost nothing.
    too_long = len(lengths[0].lstrip(b"0")) > 18
    limit = context.policy.body_limit(head.path, sized=True)
    return PAYLOAD_TOO_LARGE if too_long or int(lengths[0]) > limit else None


# The key stands between the second and the third group: it needs state and is not a rule.
ORIGIN_RULES: tuple[Rule, ...] = (host_rule, origin_rule, fetch_site_rule)
FORM_RULES: tuple[Rule, ...] = (method_rule, encoding_rule, content_type_rule)
SIZE_RULES: tuple[Rule, ...] = (length_rule,)
