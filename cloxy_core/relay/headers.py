"""The headers of a message, by the rules of its era."""

import base64
import re
from collections.abc import Mapping
from typing import Final

from cloxy_core.relay.messages import Message

VERSION: Final = "MCP-Protocol-Version"
METHOD: Final = "Mcp-Method"
NAME: Final = "Mcp-Name"
SESSION: Final = "Mcp-Session-Id"

# Method: the parameter that is told as its name.
_NAMED: Final[Mapping[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}
_PLAIN: Final = re.compile(r"[\x20-\x7e]*")
_WRAPPED: Final = re.compile(r"=\?base64\?.*\?=")


def modern_headers(message: Message, version: str) -> dict[str, str]:
    """What a message of the era without sessions says of itself.

    Args:
        message: request or notification.
        version: protocol version of its envelope.
    """
    headers = {VERSION: encoded(version), METHOD: encoded(message.method)}
    name = message.params.get(_NAMED.get(message.method, ""))
    if isinstance(name, str):
        headers[NAME] = encoded(name)
    return headers


def encoded(value: str) -> str:
    """A text as a header can carry it: as it is, or in base64 between marks."""
    plain = _PLAIN.fullmatch(value) and value == value.strip() and not _WRAPPED.fullmatch(value)
    if plain:
        return value
    packed = base64.b64encode(value.encode("utf-8", "surrogatepass")).decode("ascii")
    return f"=?base64?{packed}?="
