"""Whether what answers at an address of this machine is the server of our data directory."""

import http.client
import json
from pathlib import Path
from typing import Final

from cloxy_core import identity
from cloxy_core.client.ports import another_port
from cloxy_core.client_config import ClientError

CHECK_SECONDS: Final = 10.0
_ANSWER_LIMIT: Final = 64 * 1024
_TUNNEL = "behind a container or a tunnel set CLOXY_VERIFY_SERVER=0"


class NotOurServerError(ClientError):
    """Something answers, and it is not the server of our data directory."""


def verified_version(
    connection: http.client.HTTPConnection, base: str, url: str, data_dir: Path
) -> str:
    """Let the server prove that it knows the token of the data directory.

    Args:
        connection: open connection, which stays open for the request.
        base: path of the server's address.
        url: the server's address, for messages.
        data_dir: data directory.

    Returns:
        The server's version.

    Raises:
        NotOurServerError: it cannot prove it; the message says what is likely.
        ClientError: no usable answer came in time, or the token cannot be read.
    """
    connection.sock.settimeout(CHECK_SECONDS)
    nonce = identity.new_nonce()
    host, port = connection.sock.getpeername()[:2]
    place = (str(host), int(port))
    answer = _ask(connection, f"{base}/identity?nonce={nonce}", url)
    if answer is None or answer.get("service") != "cloxy" or "proof" not in answer:
        raise _no_identity(connection, base, url)
    version = str(answer.get("version") or "of unknown version")
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


def _ask(connection: http.client.HTTPConnection, path: str, url: str) -> dict[str, object] | None:
    """The JSON object that is answered with status 200; None for any other answer.

    Raises:
        ClientError: nothing came in time.
    """
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        body = response.read(_ANSWER_LIMIT)
        if response.read(1):
            connection.close()
            return None
        found = json.loads(body) if response.status == 200 else None
    except TimeoutError as error:
        raise ClientError(
            f"what listens at {url} did not say within {CHECK_SECONDS:g} seconds who it is",
            code="timeout",
            hint="if it is Cloxy, wait until it is less busy, or stop it; if it is another "
            f"program, set {another_port(_port(connection))}",
        ) from error
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


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


def _no_identity(connection: http.client.HTTPConnection, base: str, url: str) -> NotOurServerError:
    old = None
    if connection.sock is not None:
        connection.sock.settimeout(CHECK_SECONDS)
        old = _ask(connection, f"{base}/health", url)
    if old is not None and old.get("service") == "cloxy":
        version = str(old.get("version") or "of unknown version")
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
