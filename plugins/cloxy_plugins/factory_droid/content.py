"""The words and attachments in the content of a message."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cloxy_hookspecs.logs.json_values import Record, is_record, list_of, record_of, words_of
from cloxy_hookspecs.logs.pictures import (
    NAME_LIMIT,
    bytes_of_base64,
    name_in_path,
    picture_mark,
)

PARAGRAPH = "\n\n"
TASK = "# Task Tool Invocation"
"""Beginning of what an agent tells the sub-agent that it starts."""

_SILENT = frozenset({"thinking", "redacted_thinking", "tool_use", "tool_result", "server_tool_use"})
_KIND_LIMIT = 60
_MOST = 50
_TAIL = 100
_OPENING = re.compile(r"\s*<system-reminder>")
_CLOSING = re.compile(r"</system-reminder>\s*\Z")
_OPEN, _CLOSE = "<system-reminder>", "</system-reminder>"


@dataclass(frozen=True, slots=True)
class Content:
    """What a message holds.

    Attributes:
        text: its words, and marks of what was attached; empty when it says nothing.
        unknown: kinds of blocks that are not known.
    """

    text: str
    unknown: tuple[str, ...] = ()


def content_of(message: Record, *, typed: bool) -> Content | None:
    """What a message holds; None when it has no content of a known form.

    Args:
        message: the message, without the record around it.
        typed: whether it stands as the user's, so that reminders of the program are taken out.
    """
    content = message.get("content")
    if isinstance(content, str):
        return Content(human_words(content) if typed else content.strip())
    if not isinstance(content, list):
        return None
    texts: list[str] = []
    marks: list[str] = []
    unknown: list[str] = []
    for block in list_of(content):
        if isinstance(block, str):
            texts.append(block)
        elif is_record(block):
            kind = block.get("type")
            if kind == "text" or (kind is None and "text" in block):
                texts.append(words_of(block, "text"))
                if not isinstance(block.get("text"), str):
                    unknown.append("text without text")
            elif kind in ("image", "document"):
                marks.append(_mark(block, str(kind)))
            elif not (isinstance(kind, str) and kind in _SILENT):
                unknown.append(str(kind)[:_KIND_LIMIT])
        else:
            unknown.append("(no block)")
    if typed:
        texts = [human_words(text) for text in texts]
    words = [text.strip() for text in [*texts, "\n".join(marks[:_MOST])]]
    return Content(PARAGRAPH.join(word for word in words if word), tuple(unknown))


def human_words(text: str) -> str:
    """The text without reminders at its beginning and end; one cut off takes all behind it.

    Reminders in the middle of words stay: somebody may have written about them.
    """
    position = 0
    while opening := _OPENING.match(text, position):
        closing = text.find(_CLOSE, opening.end())
        position = len(text) if closing < 0 else closing + len(_CLOSE)
    end = len(text)
    while closed := _CLOSING.search(text, max(position, end - _TAIL), end):
        start = text.rfind(_OPEN, position, closed.start())
        if start < 0:
            break
        end = start
    return text[position:end].strip()


def has_summary(record: Record) -> bool:
    """Whether a record has a summary of a known form, which may be empty."""
    inner = record_of(record.get("summary")).get("body")
    found = (record.get("summaryText"), record.get("summary"), inner)
    return any(isinstance(each, str) for each in found)


def summary_of(record: Record) -> str:
    """The words of a summary of what was said before."""
    text = words_of(record, "summaryText") or words_of(record, "summary")
    if text:
        return text.strip()
    summary = record_of(record.get("summary"))
    parts = [words_of(summary, name).strip() for name in ("title", "body")]
    return PARAGRAPH.join(part for part in parts if part)


def _mark(block: Mapping[str, object], kind: str) -> str:
    """What stands for a picture or another file."""
    source = record_of(block.get("source"))
    word = "image" if kind == "image" else "file"
    name = next(filter(None, map(_name, _names(block, source))), "")
    if name:
        return f"[{word}: {name}]"
    media = source.get("media_type")
    media = media[:NAME_LIMIT] if isinstance(media, str) and media.isprintable() else ""
    data = source.get("data")
    if word == "image" and isinstance(data, str) and data:
        return picture_mark(media or "unknown", bytes_of_base64(data))
    return f"[{word}: {media or 'unknown'}]"


def _names(block: Mapping[str, object], source: Mapping[str, object]) -> Iterator[object]:
    for holder in (block, source):
        for key in ("name", "filename", "path"):
            yield holder.get(key)


def _name(value: object) -> str:
    return name_in_path(value) if isinstance(value, str) else ""
