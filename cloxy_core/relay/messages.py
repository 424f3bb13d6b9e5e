"""JSON-RPC messages as the relay must know them: kind, id, era, and errors of its own."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
RELAY_ERROR: Final = -32000
METHOD_NOT_FOUND: Final = -32601

MODERN_VERSION: Final = "2026-07-28"
BATCH_VERSION: Final = "2025-03-26"
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
DISCOVER: Final = "server/discover"
INITIALIZE: Final = "initialize"
INITIALIZED: Final = "notifications/initialized"
CANCELLED: Final = "notifications/cancelled"
LISTEN: Final = "subscriptions/listen"

Kind = Literal["request", "notification", "response"]
# Some readers end lines there too, and in JSON they can only stand inside of strings.
_LINE_MARKS: Final = {"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"}
_LINE_MARK: Final = re.compile("[\u2028\u2029\x85]")


class InvalidMessageError(Exception):
    """A line that is no message.

    Attributes:
        code: JSON-RPC error code.
        message: for people.
        id: id of the message, where it has a usable one.
    """

    def __init__(self, code: int, message: str, message_id: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = message_id


@dataclass(frozen=True)
class Message:
    """One message of the client.

    Attributes:
        body: as it is sent on.
        value: its members.
    """

    body: bytes
    value: Mapping[str, object]

    @property
    def method(self) -> str:
        """Method; empty for a response."""
        return str(self.value.get("method", ""))

    @property
    def id(self) -> object:
        """Id; None for a notification."""
        return self.value.get("id")

    @cached_property
    def kind(self) -> Kind:
        """What it is."""
        if "method" not in self.value:
            return "response"
        return "request" if "id" in self.value else "notification"

    @property
    def params(self) -> Mapping[str, object]:
        """Parameters by name; empty when there are none."""
        found = self.value.get("params")
        return found if isinstance(found, dict) else {}

    @property
    def version(self) -> str | None:
        """Protocol version in its envelope, which only messages of the modern era have."""
        meta = self.params.get("_meta")
        if isinstance(meta, dict) and VERSION_KEY in meta:
            found = meta[VERSION_KEY]
            return found if isinstance(found, str) else json.dumps(found)
        return MODERN_VERSION if self.method == DISCOVER else None


def parse_line(line: bytes) -> object:
    """The JSON value of a line.

    Raises:
        InvalidMessageError: it is no JSON.
    """
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidMessageError(PARSE_ERROR, f"this line is no JSON: {error}") from error


def as_message(value: object, body: bytes | None = None) -> Message:
    """A message of a JSON value.

    Args:
        value: what was parsed.
        body: the text it was parsed from; made anew when None.

    Raises:
        InvalidMessageError: it is no JSON-RPC message.
    """
    if not isinstance(value, dict):
        raise InvalidMessageError(INVALID_REQUEST, "a message must be a JSON object")
    message_id = value.get("id")
    if "id" in value and not is_id(message_id):
        raise InvalidMessageError(INVALID_REQUEST, "an id must be a text or a whole number")
    if "method" in value:
        if not isinstance(value["method"], str):
            raise InvalidMessageError(INVALID_REQUEST, "a method must be a text", message_id)
    elif "id" not in value or not ("result" in value or "error" in value):
        raise InvalidMessageError(INVALID_REQUEST, "a message needs a method", message_id)
    return Message(json.dumps(value).encode() if body is None else body, value)


def is_id(value: object) -> bool:
    """Whether a value can be the id of a request."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def key_of(message_id: object) -> tuple[str, object]:
    """An id as a key: the number 1 is not the text "1"."""
    return type(message_id).__name__, message_id


def error_line(message_id: object, code: int, message: str, data: object = None) -> bytes:
    """A JSON-RPC error as a line."""
    error: dict[str, object] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return as_line({"jsonrpc": "2.0", "id": message_id, "error": error})


def as_line(value: object) -> bytes:
    """A value as a line of JSON."""
    return json.dumps(value, separators=(",", ":")).encode()


def is_answer(value: Mapping[str, object]) -> bool:
    """Whether a message of the server ends a request."""
    return "method" not in value and ("result" in value or "error" in value)


def one_line(payload: bytes, value: Mapping[str, object]) -> bytes:
    """A message of the server as it came, if that is one line for every reader."""
    text = payload.decode("utf-8").strip()
    if "\n" in text or "\r" in text:
        return as_line(value)
    return _LINE_MARK.sub(lambda mark: _LINE_MARKS[mark[0]], text).encode()
