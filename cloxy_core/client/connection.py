"""A connection to the server, checked before anything private goes over it."""

import contextlib
import http.client
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from cloxy_core import identity
from cloxy_core.client.verification import CHECK_SECONDS, verified_version
from cloxy_core.client_config import ClientConfig, ClientError

CONNECT_SECONDS = 5.0

Headers = dict[str, str | bytes]


class UnreachableError(ClientError):
    """Nothing accepts connections at the address."""

    exit_code: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class Connection:
    """An open connection to a server that may be spoken to.

    Attributes:
        http: the connection; it does not open itself again, since it would not be checked then.
        base: path of the server's address, before that of a request.
        headers: those that every request sends, the key among them.
        version: version that the server told; None where it was not asked.
    """

    http: http.client.HTTPConnection
    base: str
    headers: Mapping[str, str | bytes]
    version: str | None


@contextlib.contextmanager
def connected(config: ClientConfig, seconds: float | None = None) -> Iterator[Connection]:
    """Connect, check who answers where that is possible, and close at the end.

    Args:
        config: where the server is.
        seconds: as `open_connection` takes it.

    Raises:
        UnreachableError: nothing accepts connections at the address.
        ClientError: what answers is not the server of our data directory.
    """
    link = open_connection(config, seconds)
    try:
        yield link
    finally:
        link.http.close()


def open_connection(config: ClientConfig, seconds: float | None = None) -> Connection:
    """Connect, and check who answers where that is possible.

    Args:
        config: where the server is.
        seconds: time limit of either step, for who has less time than these usually get.

    Raises:
        UnreachableError: nothing accepts connections at the address.
        ClientError: what answers is not the server of our data directory.
    """
    limit = float("inf") if seconds is None else seconds
    opened = _connect(config.url, min(CONNECT_SECONDS, limit))
    base = urlsplit(config.url).path
    try:
        version = None
        if config.data_dir is not None:
            patience = min(CHECK_SECONDS, limit)
            version = verified_version(opened, base, config.url, config.data_dir, patience)
        return Connection(opened, base, _headers(config), version)
    except BaseException:
        opened.close()
        raise


def owner_header(config: ClientConfig) -> Headers:
    """What shows a checked server that the owner of its data asks; nothing for another server."""
    if config.data_dir is None:
        return {}
    token = identity.read_token(config.data_dir)
    return {} if token is None else {identity.OWNER_HEADER: token}


def _connect(url: str, seconds: float) -> http.client.HTTPConnection:
    """Open the connection, so that an unreachable server is told from a slow one."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=seconds)
    try:
        connection.connect()
    except (OSError, UnicodeError) as error:
        raise UnreachableError(
            f"no server at {url}", code="server_unreachable", hint="run `cloxy start`"
        ) from error
    connection.auto_open = 0
    # A server that vanishes without a word (sleep, cut link) must not be waited for for ever.
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return connection


def _headers(config: ClientConfig) -> Headers:
    headers: Headers = {"Accept": "application/json"}
    key = config.api_key if config.api_key is not None else _key_of(config)
    if key is not None:
        # Bytes, since http.client would refuse a key outside Latin-1.
        headers["X-API-Key"] = key.encode("utf-8", "surrogateescape")
    return headers


def _key_of(config: ClientConfig) -> str | None:
    """The key that `cloxy key create` made; it is asked for after the check, and only then."""
    if config.data_dir is None:
        return None
    try:
        return identity.read_key(config.data_dir)
    except OSError as error:
        raise ClientError(
            f"{config.data_dir / identity.KEY_FILE} cannot be read: {error.strerror or error}",
            code="config",
            hint="check who owns the file, or set CLOXY_API_KEY",
        ) from error
