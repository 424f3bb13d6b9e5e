"""What the server answers: JSON, or a stream of events, as messages."""

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cloxy_core.client_config import ClientError

MAX_MESSAGE: Final = 64 * 1024 * 1024


class AnswerError(ClientError):
    """The server's answer cannot be passed on."""

    def __init__(self, message: str, *, hint: str | None = None, status: int | None = None) -> None:
        super().__init__(message, code="relay", hint=hint, status=status)


@dataclass(frozen=True, slots=True)
class Received:
    """A message of the server.

    Attributes:
        payload: its text.
        value: its members.
    """

    payload: bytes
    value: dict[str, object]


def media_type(response: http.client.HTTPResponse) -> str:
    """Kind of the body, without its parameters."""
    return (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()


def messages_of(response: http.client.HTTPResponse) -> Iterator[Received]:
    """The messages of a good answer, as they come.

    Raises:
        AnswerError: the body is neither JSON nor events, or holds what is no message.
        OSError: the connection broke.
        http.client.HTTPException: it ended before its time.
    """
    kind = media_type(response)
    if kind == "application/json":
        yield received(read_body(response))
    elif kind == "text/event-stream":
        for payload in event_data(response):
            yield received(payload)
    else:
        raise AnswerError(
            f"the server answered with {kind or 'nothing'} instead of a message",
            hint="check that CLOXY_URL is the address of a Cloxy server",
        )


def received(payload: bytes) -> Received:
    """A message of its text.

    Raises:
        AnswerError: it is none.
    """
    try:
        value = json.loads(payload.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"the server sent what is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise AnswerError("the server sent what is no message")
    return Received(payload, value)


def read_body(response: http.client.HTTPResponse, limit: int = MAX_MESSAGE) -> bytes:
    """The whole body.

    Raises:
        AnswerError: it is larger than a message may be.
    """
    pieces = bytearray()
    while piece := response.read(64 * 1024):
        pieces += piece
        if len(pieces) > limit:
            raise AnswerError(f"the server's answer is larger than {limit:,} bytes")
    return bytes(pieces)


def event_data(response: http.client.HTTPResponse, limit: int = MAX_MESSAGE) -> Iterator[bytes]:
    """The data of each event of a stream that has some.

    Raises:
        AnswerError: an event is larger than a message may be.
    """
    data: list[bytes] = []
    size = 0
    for line in _event_lines(response, limit):
        if not line:
            if any(data):
                yield b"\n".join(data)
            data, size = [], 0
        elif line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
            size += len(line)
            if size > limit:
                raise AnswerError(f"the server's answer is larger than {limit:,} bytes")


def _event_lines(response: http.client.HTTPResponse, limit: int) -> Iterator[bytes]:
    while line := response.readline(limit + 2):
        if len(line) > limit:
            raise AnswerError(f"the server's answer is larger than {limit:,} bytes")
        yield line.rstrip(b"\r\n")
