"""Requests whose answer comes as a stream of events, read as they come."""

import contextlib
import http.client
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from cloxy_core.client.connection import Headers, connected
from cloxy_core.client_config import ClientConfig, ClientError

SILENT_SECONDS: Final = 600.0
"""A model may have to be loaded, and to read a long conversation, before its first word."""

_MAX_LINE: Final = 4 * 1024 * 1024
_MAX_REFUSAL: Final = 1024 * 1024
_END: Final = "[DONE]"


@dataclass(frozen=True, slots=True)
class EventStream:
    """An answer that is being made.

    Attributes:
        headers: headers of the answer, by lower-case name.
        events: the JSON object of each event, in order; ends when the answer does. A break or an
            error that the server tells in the middle is raised as `ClientError`.
    """

    headers: Mapping[str, str]
    events: Iterator[dict[str, object]]


@contextlib.contextmanager
def streamed(
    config: ClientConfig,
    path: str,
    body: Mapping[str, object],
    *,
    silent_seconds: float = SILENT_SECONDS,
) -> Iterator[EventStream]:
    """Send a request and read its events; leaving the block ends the server's work on it.

    Args:
        config: where the server is; it is checked as for every other request.
        path: path below the server's address.
        body: JSON object to send.
        silent_seconds: how long nothing may come.

    Raises:
        UnreachableError: nothing accepts connections at the address.
        ClientError: the server refused, is not that of our data directory, or does not speak so.
    """
    with connected(config) as link:
        headers: Headers = {
            **link.headers,
            "Accept": "text/event-stream",
            "Content-Type": "application/json",
            "Connection": "close",
        }
        link.http.sock.settimeout(silent_seconds)
        payload = json.dumps(body).encode()
        with _told(config.url, silent_seconds):
            link.http.request("POST", link.base + path, body=payload, headers=headers)
            response = link.http.getresponse()
        with response:
            if response.status >= 300:
                with _told(config.url, silent_seconds):
                    data = response.read(_MAX_REFUSAL)
                raise _refusal(response.status, data)
            kind = response.headers.get_content_type()
            if kind != "text/event-stream":
                raise _bad_reply(config.url, f"it sent {kind} and no events")
            yield EventStream(
                headers={name.lower(): value for name, value in response.getheaders()},
                events=_events(response, config.url, silent_seconds),
            )


def _events(
    response: http.client.HTTPResponse, url: str, seconds: float
) -> Iterator[dict[str, object]]:
    """Objects of the stream (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
    data: list[str] = []
    while True:
        with _told(url, seconds):
            line = response.readline(_MAX_LINE + 1)
        if len(line) > _MAX_LINE:
            raise _bad_reply(url, "a line of its answer is too long")
        if not line:
            raise _bad_reply(url, "the answer broke off")
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text.startswith("data:"):
            data.append(text[5:].removeprefix(" "))
        elif not text and data:
            whole = "\n".join(data)
            data = []
            if whole == _END:
                return
            yield _object(whole, url)


def _object(text: str, url: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _bad_reply(url, "an event is no JSON") from error
    if not isinstance(value, dict):
        raise _bad_reply(url, "an event is no JSON object")
    if value.get("error"):
        raise _told_error(value, None, "the server broke off with an error")
    return value


def _refusal(status: int, data: bytes) -> ClientError:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    body = value if isinstance(value, dict) else {}
    if status == 404 and not isinstance(body.get("error"), dict):
        return ClientError(
            "the server has no such address; it is an older Cloxy, or its plugin model_api is off",
            code="not_found",
            hint="start the server anew, and look at `cloxy plugins list`",
            status=status,
        )
    return _told_error(body, status, f"the server answered with status {status}")


def _told_error(body: dict[str, object], status: int | None, otherwise: str) -> ClientError:
    error = body.get("error")
    told = error if isinstance(error, dict) else {}
    message = told.get("message") or body.get("detail")
    hint = told.get("hint")
    if status == 401:
        hint = "set CLOXY_API_KEY to the server's key, in the environment or in client.env"
    return ClientError(
        message if isinstance(message, str) else otherwise,
        code=str(told.get("code") or "server"),
        hint=hint if isinstance(hint, str) else None,
        status=status,
        body=body,
    )


@contextlib.contextmanager
def _told(url: str, seconds: float) -> Iterator[None]:
    """Turn what goes wrong on a connection into words."""
    try:
        yield
    except TimeoutError as error:
        raise ClientError(
            f"nothing came from the server at {url} for {seconds:g} seconds",
            code="timeout",
            hint="look at `cloxy status`, or try again",
        ) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _bad_reply(url, "the connection broke") from error


def _bad_reply(url: str, reason: str) -> ClientError:
    return ClientError(
        f"no usable answer from {url}: {reason}", code="bad_reply", hint="look at `cloxy status`"
    )
