"""The words of a message: an array of parts `{type, data}`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from cloxy_hookspecs.logs.json_values import decode, is_record, record_of, text_of, words_of
from cloxy_hookspecs.logs.pictures import (
    NAME_LIMIT,
    bytes_of_base64,
    name_in_path,
    picture_mark,
)

_NOISE = frozenset({"finish", "reasoning", "shell_command", "tool_call", "tool_result"})
_PARAGRAPH = "\n\n"
_KIND_LIMIT = 60
_MOST_MARKS = 50
_FILE = r"\*\*[^*\n]{1,200}\*\*"
# Crush asks for a file of instructions in the user's name, and repeats a request after a summary.
_PROGRAMS = re.compile(
    rf"`?\s*(?:Please analyze this codebase and create a {_FILE} file"
    rf"|Analyze this codebase and create/update {_FILE} to help future agents"
    rf"|Create or update {_FILE} to help future agents"
    r"|The previous (?:session|turn) was interrupted because )"
)


@dataclass(slots=True)
class Words:
    """What a message says.

    Attributes:
        text: its words, and marks of its pictures; empty when it says nothing.
        damaged: whether a part of it could not be read.
        unknown: types of parts that are not known.
    """

    text: str = ""
    damaged: bool = False
    unknown: list[str] = field(default_factory=list[str])


def words_in(value: object) -> Words | None:
    """The words of a message; None when it cannot be read.

    Args:
        value: the parts as JSON, as text or bytes.
    """
    if not isinstance(value, (str, bytes)):
        return None
    try:
        parts = decode(value)
    except ValueError:
        return None
    if not isinstance(parts, list):
        return None
    found = Words()
    texts: list[str] = []
    marks: list[str] = []
    for part in parts:
        _take(found, texts, marks, part)
    lines = "\n".join(marks[:_MOST_MARKS])
    found.text = _PARAGRAPH.join([*texts, lines] if lines else texts)
    return found


def is_programs(text: str) -> bool:
    """Whether a prompt is one that Crush writes in the user's name."""
    return _PROGRAMS.match(text) is not None


def _take(found: Words, texts: list[str], marks: list[str], part: object) -> None:
    if not is_record(part):
        found.damaged = True
        return
    kind, data = part.get("type"), part.get("data")
    if kind in _NOISE:
        return
    if kind not in ("text", "image_url", "binary"):
        found.unknown.append(f"part {str(kind)[:_KIND_LIMIT]}")
    elif not is_record(data):
        found.damaged = True
    elif kind == "image_url":
        marks.append(_mark_of_address(words_of(data, "url")))
    elif kind == "binary":
        if str(data.get("MIMEType")).lower().startswith("image/"):
            marks.append(_mark_of_data(data))
    elif not isinstance(data.get("text"), str):
        found.damaged = True
    elif data.get("hidden") is not True and (words := words_of(data, "text")):
        texts.append(words)


def _mark_of_data(data: Mapping[str, object]) -> str:
    """What stands for an attached picture: its name, or its type and a digest."""
    name = name_in_path(text_of(record_of(data), "Path") or "")
    return f"[image: {name}]" if name else _digest(str(data["MIMEType"]), data.get("Data"))


def _mark_of_address(url: str) -> str:
    head, comma, body = url.partition(",")
    if url.startswith("data:") and comma:
        return _digest(head[len("data:") :].partition(";")[0], body)
    return f"[image: {name_in_path(url.partition('?')[0]) or 'unknown'}]"


def _digest(media: str, data: object) -> str:
    shown = "".join(each for each in media if each.isprintable())[:NAME_LIMIT] or "unknown"
    if not isinstance(data, str) or not data:
        return f"[image: {shown}]"
    return picture_mark(shown, bytes_of_base64(data))
