"""Whether what answers at an address of this machine is the server of our data directory."""

import contextlib
import http.client
import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cloxy_core import identity
from cloxy_core.client.ports import another_port
from cloxy_core.client_config import ClientError

CHECK_SECONDS: Final = 10.0
_ANSWER_LIMIT: Final = 64 * 1024
# What is told of a server that is not ours is in its own words, which may be anything.
_VERSION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,63}")
_TUNNEL = "behind a container or a tunnel set CLOXY_VERIFY_SERVER=0"


class NotOurServerError(ClientError):
    """Something answers, and it is not the server of our data directory."""


def verified_version(
    connection: http.client.HTTPConnection,
    base: str,
    url: str,
    data_dir: Path,
    seconds: float = CHECK_SECONDS,
) -> str:
    """Let the server prove that it knows the token of the data directory.

    Args:
        connection: open connection, which stays open for the request.
        base: path of the server's address.
        url: the server's address, for messages.
        data_dir: data directory.
        seconds: how long its whole answer may take.

    Returns:
        The server's version.

    Raises:
        NotOurServerError: it cannot prove it; the message says what is likely.
        ClientError: no usable answer came in time, or the token cannot be read.
    """
    nonce = identity.new_nonce()
    host, port = connection.sock.getpeername()[:2]
    place = (str(host), int(port))
    answer = _ask(connection, f"{base}/identity?nonce={nonce}", url, seconds)
    if answer is None or answer.get("service") != "cloxy" or "proof" not in answer:
        raise _no_identity(connection, base, url, seconds)
    version = _version_in(answer)
    token = _token(data_dir)
    if token is None or not identity.is_proof(str(answer["proof"]), token, nonce, place):
        raise _not_ours(url, data_dir, version, _port(connection), has_token=token is not None)
    if connection.sock is None:  # the server closed it: what comes next would be unchecked
        raise ClientError(
            f"the server at {url} closed the connection after its proof",
            code="bad_reply",
            hint=f"connect to it without a proxy between, or, {_TUNNEL}",
        )
    return version


def _ask(
    connection: http.client.HTTPConnection, path: str, url: str, seconds: float
) -> dict[str, object] | None:
    """The JSON object that is answered with status 200; None for any other answer.

    Raises:
        ClientError: the whole of it did not come in time.
    """
    with _cut_off_after(connection.sock, seconds) as is_late:
        try:
            connection.request("GET", path, headers={"Accept": "application/json"})
            response = connection.getresponse()
            body = response.read(_ANSWER_LIMIT)
            if response.read(1):
                connection.close()
                return None
            found = json.loads(body) if response.status == 200 else None
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            if not (is_late.is_set() or isinstance(error, TimeoutError)):
                return None
            raise ClientError(
                f"what listens at {url} did not say within {seconds:g} seconds who it is",
                code="timeout",
                hint="if it is Cloxy, wait until it is less busy, or stop it; if it is another "
                f"program, set {another_port(_port(connection))}",
            ) from error
    return found if isinstance(found, dict) else None


@contextlib.contextmanager
def _cut_off_after(sock: socket.socket, seconds: float) -> Iterator[threading.Event]:
    """End a connection when its time is over, whatever still comes; the event says that it is.

    A time limit of the socket begins anew with every byte.
    """
    is_late = threading.Event()

    def cut_off() -> None:
        is_late.set()
        with contextlib.suppress(OSError):
            # Not the method of a TLS socket, which takes away what the reader still uses.
            socket.socket.shutdown(sock, socket.SHUT_RDWR)

    sock.settimeout(seconds)
    timer = threading.Timer(seconds, cut_off)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()


def _version_in(answer: dict[str, object]) -> str:
    """The version that a server tells, if it looks like one."""
    told = answer.get("version")
    return told if isinstance(told, str) and _VERSION.fullmatch(told) else "of unknown version"


def _token(data_dir: Path) -> str | None:
    try:
        return identity.read_token(data_dir)
    except OSError as error:
        raise ClientError(
            f"{data_dir / identity.TOKEN_FILE} cannot be read: {error.strerror or error}",
            code="config",
            hint="check who owns the file; without it the server cannot be told from others",
        ) from error


def _port(connection: http.client.HTTPConnection) -> int:
    return connection.port or connection.default_port


def _not_ours(
    url: str, data_dir: Path, version: str, port: int, *, has_token: bool
) -> NotOurServerError:
    why = (
        f"does not belong to the data directory {data_dir}"
        if has_token
        else f"is not that of {data_dir}, where no server ever ran"
    )
    return NotOurServerError(
        f"the Cloxy server ({version}) at {url} {why}, so nothing was sent",
        code="server_not_ours",
        hint="it may be another user's or that of another CLOXY_DATA_DIR: set CLOXY_DATA_DIR to "
        f"its folder, or {another_port(port)}; {_TUNNEL}",
    )


def _no_identity(
    connection: http.client.HTTPConnection, base: str, url: str, seconds: float
) -> NotOurServerError:
    old = None
    if connection.sock is not None:
        old = _ask(connection, f"{base}/health", url, seconds)
    if old is not None and old.get("service") == "cloxy":
        version = _version_in(old)
        return NotOurServerError(
            f"an older Cloxy ({version}) runs at {url}, which cannot show whose it is, "
            "so nothing was sent",
            code="server_too_old",
            hint="stop it, then run `cloxy start`; or set " + another_port(_port(connection)),
        )
    return NotOurServerError(
        f"what answers at {url} is not a Cloxy server of this data directory, so nothing was sent",
        code="server_not_ours",
        hint="another program holds the port: stop it, or set "
        f"{another_port(_port(connection))}; {_TUNNEL}",
    )
