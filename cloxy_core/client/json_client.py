"""Requests with JSON bodies and their answers."""

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from cloxy_core.client.connection import Headers, connected, owner_header
from cloxy_core.client_config import ClientConfig, ClientError

ANSWER_SECONDS = 60.0
MAX_ANSWER_BYTES = 256 * 1024 * 1024
_PIECE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes


class Client:
    """Sends requests to one server."""

    def __init__(self, config: ClientConfig) -> None:
        self.url = config.url
        self._config = config

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        seconds: float | None = ANSWER_SECONDS,
        as_owner: bool = False,
    ) -> dict[str, object]:
        """Send one request and read its JSON answer.

        Args:
            method: HTTP method.
            path: path below the server's address, with its query string.
            body: JSON object to send; a method that takes a body sends an empty object for None.
            seconds: time limit of the whole answer; None waits as long as the server works. To
                connect and to check the server may take no longer either.
            as_owner: show the server of this machine that the owner of its data asks.

        Raises:
            UnreachableError: nothing accepts connections at the address.
            ClientError: the server refused (its code, message and hint), was too slow, is not
                that of our data directory, or what answers is not a Cloxy server.
        """
        with connected(self._config, seconds) as link:
            headers: Headers = {**link.headers, "Connection": "close"}
            if as_owner:
                headers |= owner_header(self._config)
            try:
                answer = _exchange(link.http, method, link.base + path, headers, body, seconds)
            except TimeoutError as error:
                raise ClientError(
                    f"the server at {self.url} did not answer within {seconds:g} seconds",
                    code="timeout",
                    hint="look at `cloxy status`, or try again",
                ) from error
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise ClientError(
                    f"no usable answer from {self.url}: {_reason(error)}",
                    code="bad_reply",
                    hint="check that the address belongs to a Cloxy server (CLOXY_URL, CLOXY_PORT)",
                ) from error
        return _decode(answer, self.url)


def _exchange(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    headers: Mapping[str, str | bytes],
    body: Mapping[str, object] | None,
    seconds: float | None,
) -> _Answer:
    connection.sock.settimeout(seconds)
    deadline = None if seconds is None else time.monotonic() + seconds
    sent_headers = dict(headers)
    payload = None
    if body is not None or method not in {"GET", "HEAD", "DELETE"}:
        payload = json.dumps(body or {}).encode()
        sent_headers["Content-Type"] = "application/json"
    connection.request(method, path, body=payload, headers=sent_headers)
    # The socket is kept, because `getresponse` gives it away when the reply closes it.
    sock = connection.sock
    response = connection.getresponse()
    pieces = bytearray()
    while piece := response.read1(_PIECE_BYTES):
        pieces += piece
        if len(pieces) > MAX_ANSWER_BYTES:
            raise ValueError(f"the answer is larger than {MAX_ANSWER_BYTES:,} bytes")
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            sock.settimeout(left)
    if response.length:  # bytes that were promised and did not come; `read1` is silent about it
        raise http.client.IncompleteRead(b"", response.length)
    return _Answer(response.status, bytes(pieces))


def _reason(error: Exception) -> str:
    if isinstance(error, http.client.RemoteDisconnected | ConnectionError):
        return "the connection was closed before an answer came"
    if isinstance(error, http.client.IncompleteRead):
        return "the answer ended before it was whole"
    if isinstance(error, http.client.HTTPException):
        return "it does not speak HTTP"
    return str(error) or type(error).__name__


def _decode(answer: _Answer, url: str) -> dict[str, object]:
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise _not_cloxy(url, f"status {answer.status}, and no JSON") from error
    if not isinstance(value, dict):
        raise _not_cloxy(url, f"status {answer.status}, and no JSON object")
    if answer.status >= 400:
        _raise_refusal(answer.status, value)
    if answer.status >= 300:
        raise _not_cloxy(url, f"status {answer.status}")
    return value


def _not_cloxy(url: str, found: str) -> ClientError:
    return ClientError(
        f"what answers at {url} is not a Cloxy server ({found})",
        code="bad_reply",
        hint="another program may hold the port; check CLOXY_URL and CLOXY_PORT",
    )


def _raise_refusal(status: int, body: dict[str, object]) -> NoReturn:
    """Turn an error body, ours or the plain forms of other versions, into an exception."""
    error = body.get("error")
    code, message, hint = f"http_{status}", "", None
    if isinstance(error, dict):
        code = str(error.get("code") or code)
        message = str(error.get("message") or "")
        hint = str(error["hint"]) if error.get("hint") else None
    elif isinstance(error, str):
        message = error
    if not message:
        detail = body.get("detail")
        message = detail if isinstance(detail, str) else json.dumps(detail) if detail else ""
    if status == 401:
        # The server's own hint speaks of headers, which nobody types at a command line.
        hint = "set CLOXY_API_KEY to the server's key, in the environment or in client.env"
    raise ClientError(
        message or f"the server answered with status {status}",
        code=code,
        hint=hint,
        status=status,
        body=body,
    )
