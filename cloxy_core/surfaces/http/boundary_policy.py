"""What the boundary is told: names, key and limits of one server."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cloxy_core.surfaces.http.limits import (
    DEFAULT_WORK,
    MAX_BODY,
    MAX_PLAIN_BODY,
    MAX_UNSIZED_BODY,
)
from cloxy_core.surfaces.work import WorkClass

OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST_ENTRY = re.compile(
    r"(?P<name>[a-z0-9](?:[a-z0-9._-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::(?P<port>\d{1,5}))?"
)
_KEY_TEXT = re.compile(r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?")


def parse_allowed_host(entry: str) -> tuple[str, int | None]:
    """Read one entry of the list of extra host names.

    Args:
        entry: `name` or `name:port`; an IPv6 address stands in brackets.

    Returns:
        The name in lower case, and the port or None.

    Raises:
        ValueError: The entry is a URL, a pattern, or not a host name.
    """
    match = _HOST_ENTRY.fullmatch(entry.strip().lower())
    port = int(match["port"]) if match and match["port"] else None
    if match is None or (port is not None and not 1 <= port <= 65535):
        raise ValueError(
            f"CLOXY_ALLOWED_HOSTS: {entry!r} is not a host name; write 'name' or 'name:port', "
            "without a scheme, a path or a wildcard (an IPv6 address in brackets)"
        )
    return match["name"], port


def _origin(scheme: str, name: str, port: int | None) -> bytes:
    # Browsers leave the default port out of an origin.
    shown = "" if port in (None, _DEFAULT_PORTS[scheme]) else f":{port}"
    return f"{scheme}://{name}{shown}".encode()


@dataclass(frozen=True, slots=True)
class BoundaryPolicy:
    """The rules of one server.

    Attributes:
        host: Address the server listens on. It admits no name by itself.
        port: Port the server listens on.
        api_key: The key every request must carry, or None for an open server.
        owner_token: The secret of the data directory: whoever sends it is the owner of the
            data. None when there is none, so that only the key can prove it.
        allowed_hosts: Extra host names, `name` or `name:port`.
        max_body: Largest body of `large_body_paths`, in bytes, with a declared length.
        max_plain_body: Largest body of every other path, in bytes.
        max_unsized_body: Largest chunked body of any path, in bytes.
        open_paths: Paths that answer GET and HEAD without a key.
        owner_paths: Paths that only the owner may use; the token stands for the key there.
        static_paths: Paths a link on another site may lead to; such a visitor counts as
            not authenticated, also on an open server.
        large_body_paths: Paths that accept `max_body`.
        work: Classes of requests that stay open, each with a limited number at a time.
        head_seconds: Time for a whole request head.
        body_seconds: Time for a whole request body.
        idle_seconds: How long a connection is kept between two requests.
        write_seconds: How long a client may leave a reply unread.
    """

    host: str
    port: int
    api_key: str | None
    allowed_hosts: tuple[str, ...] = ()
    max_body: int = MAX_BODY
    owner_token: str | None = None
    open_paths: frozenset[str] = frozenset({"/", "/health", "/identity"})
    owner_paths: frozenset[str] = frozenset({"/shutdown"})
    static_paths: frozenset[str] = frozenset({"/"})
    large_body_paths: frozenset[str] = frozenset({"/ingest_text", "/mcp", "/mcp/"})
    max_plain_body: int = MAX_PLAIN_BODY
    max_unsized_body: int = MAX_UNSIZED_BODY
    work: tuple[WorkClass, ...] = DEFAULT_WORK
    head_seconds: float = 5.0
    body_seconds: float = 10.0
    idle_seconds: int = 5
    write_seconds: float = 30.0

    def __post_init__(self) -> None:
        """Refuse values that would make a rule mean nothing.

        Raises:
            ValueError: The port, the key or a host name cannot work.
        """
        if not 1 <= self.port <= 65535:
            raise ValueError(f"port: {self.port} is not between 1 and 65535")
        if self.api_key is not None and not _KEY_TEXT.fullmatch(self.api_key):
            raise ValueError(
                "CLOXY_API_KEY: the key is empty, or begins or ends with a space, or holds a "
                "control character, so no request could carry it; set another or unset it"
            )
        for entry in self.allowed_hosts:
            parse_allowed_host(entry)

    def hosts(self) -> frozenset[bytes]:
        """Return every Host value that is answered, in lower case."""
        return frozenset(self._host_values())

    def _host_values(self) -> Iterator[bytes]:
        entries = [(name, None) for name in OWN_NAMES]
        for name, port in (*entries, *map(parse_allowed_host, self.allowed_hosts)):
            if port is None:
                yield name.encode()
            yield f"{name}:{port or self.port}".encode()

    def origins(self) -> frozenset[bytes]:
        """Return every Origin value that is one of our own."""
        return frozenset(self._origin_values())

    def _origin_values(self) -> Iterator[bytes]:
        for name in OWN_NAMES:
            yield _origin("http", name, self.port)
        for name, port in map(parse_allowed_host, self.allowed_hosts):
            for scheme in _DEFAULT_PORTS:
                yield _origin(scheme, name, port or self.port)
                # An entry without a port is also answered on the default port of a proxy.
                if port is None:
                    yield _origin(scheme, name, None)

    def body_limit(self, path: str, *, sized: bool) -> int:
        """Return the largest body a request may have, in bytes.

        Args:
            path: Path of the request.
            sized: Whether the request declares the length of its body.
        """
        limit = self.max_body if path in self.large_body_paths else self.max_plain_body
        return limit if sized else min(limit, self.max_unsized_body)
