"""What a message of Goose says: an array of blocks, each with a type."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cloxy_hookspecs.logs.json_values import is_record, text_of, words_of
from cloxy_hookspecs.logs.pictures import NAME_LIMIT, bytes_of_base64, picture_mark

_NOISE = frozenset(
    {
        "actionRequired",
        "contextLengthExceeded",
        "conversationCompacted",
        "frontendToolRequest",
        "reasoning",
        "redactedThinking",
        "summarizationRequested",
        "systemNotification",
        "thinking",
        "toolConfirmationRequest",
        "toolRequest",
        "toolResponse",
    }
)
_PARAGRAPH = "\n\n"
_KIND_LIMIT = 60
_MOST_MARKS = 50
_OPENING, _CLOSING = "<info-msg>", "</info-msg>"


@dataclass(slots=True)
class Words:
    """What a message says.

    Attributes:
        text: its words, and marks of its pictures; empty when it says nothing.
        damaged: blocks of it that could not be read.
        unknown: types of blocks that are not known.
    """

    text: str = ""
    damaged: int = 0
    unknown: list[str] = field(default_factory=list[str])


def words_in(blocks: object, *, typed: bool) -> Words | None:
    """The words in the blocks of a message; None when they are no array.

    Args:
        blocks: as Goose has them.
        typed: whether it is a turn of the user, to which Goose adds where and when it is.
    """
    if not isinstance(blocks, list):
        return None
    found = Words()
    texts: list[str] = []
    marks: list[str] = []
    for block in blocks:
        kind = block.get("type") if is_record(block) else None
        if kind in _NOISE:
            continue
        if not is_record(block):
            found.damaged += 1
        elif kind == "image":
            marks.append(_mark(block))
        elif kind != "text":
            found.unknown.append(f"content {str(kind)[:_KIND_LIMIT]}")
        elif not isinstance(block.get("text"), str):
            found.damaged += 1
        else:
            words = words_of(block, "text")
            if words := _without_info(words) if typed else words:
                texts.append(words)
    lines = "\n".join(marks[:_MOST_MARKS])
    found.text = _PARAGRAPH.join([*texts, lines] if lines else texts)
    return found


def _without_info(text: str) -> str:
    """A text without the block about date and folder that may stand before it."""
    start = text.lstrip()
    if not start.startswith(_OPENING):
        return text
    # Cut off before its end, all of it is the program's.
    return start.partition(_CLOSING)[2].lstrip()


def _mark(block: Mapping[str, object]) -> str:
    """What stands for a picture: its type, and a digest of its data."""
    media = text_of(block, "mimeType") or "unknown"
    media = "".join(each for each in media if each.isprintable())[:NAME_LIMIT]
    data = block.get("data")
    if not isinstance(data, str) or not data:
        return f"[image: {media}]"
    return picture_mark(media, bytes_of_base64(data))
