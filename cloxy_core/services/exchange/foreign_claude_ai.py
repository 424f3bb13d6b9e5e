"""Conversations of a Claude.ai export: a flat list of messages each."""

from pathlib import PurePosixPath
from typing import Final, Literal

from cloxy_core.services.exchange.foreign_talk import (
    NotUsableError,
    Object,
    Said,
    Talk,
    items,
    mapping,
    string,
    talk,
    time_of,
)

AGENT: Final = "claude-ai"
_ROLES: Final[dict[object, Literal["user", "assistant"]]] = {
    "human": "user",
    "assistant": "assistant",
}
_IMAGES: Final = frozenset(
    {".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic", ".bmp", ".svg", ".tif", ".tiff"}
)


def is_claude_ai(value: Object) -> bool:
    """Whether an item of the list is one of Claude.ai's."""
    return isinstance(value.get("chat_messages"), list)


def claude_ai_talk(value: Object) -> Talk:
    """A conversation, both sides of an edit included: both were said.

    Raises:
        NotUsableError: it has no id, or no messages.
    """
    if not is_claude_ai(value):
        raise NotUsableError("it has no chat_messages")
    said = [
        each
        for message in items(value["chat_messages"])
        if (each := _said(mapping(message))) is not None
    ]
    begun = time_of(value.get("created_at"))
    return talk(string(value.get("uuid")), string(value.get("name")), said, begun)


def _said(message: Object) -> Said | None:
    uid, role = string(message.get("uuid")), _ROLES.get(string(message.get("sender")))
    if uid is None or role is None:
        return None
    blocks = items(message.get("content"))
    if blocks:
        parts = [_block(mapping(block)) for block in blocks]
    else:
        parts = [string(message.get("text"))]
    parts += [_image(mapping(file)) for file in items(message.get("files"))]
    text = "\n".join(part for part in parts if part)
    model = string(message.get("model")) if role == "assistant" else None
    return Said(uid, role, text, time_of(message.get("created_at")), model)


def _block(block: Object) -> str | None:
    return string(block.get("text")) if block.get("type") == "text" else None


def _image(file: Object) -> str | None:
    name = string(file.get("file_name"))
    if name is None or PurePosixPath(name.lower()).suffix not in _IMAGES:
        return None
    return f"[image: {name[:200]}]"
