"""The words of a message, without thoughts, tools, and the bodies of what it mentions."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from cloxy_hookspecs.logs.json_values import (
    Record,
    is_record,
    list_of,
    record_of,
    text_of,
    words_of,
)

_WORK = ("Thinking", "RedactedThinking", "ToolUse")
_OLD_WORK = ("thinking", "RedactedThinking")
_PICTURE = "[image: unknown]"
_NAMES = ("name", "abs_path", "file_path", "url", "path", "base_ref")
_NAME_LIMIT = 200
_KIND_LIMIT = 40


@dataclass(slots=True)
class Words:
    """What a message says.

    Attributes:
        text: its words; empty when it has none.
        unknown: kinds of parts that are not known.
        damaged: whether its content has no form that content can have.
    """

    text: str = ""
    unknown: list[str] = field(default_factory=list[str])
    damaged: bool = False


def words_of_user(content: object) -> Words:
    """What a person wrote; of a file or another thing that is mentioned, its name."""
    words = Words(damaged=not isinstance(content, list))
    pieces, pictures, spoken = [], 0, False
    for kind, value in _parts(content, words):
        if kind == "Text" and isinstance(value, str):
            pieces.append(value)
            spoken = spoken or bool(value.strip())
        elif kind == "Mention":
            pieces.append(_mention(record_of(value).get("uri")))
        elif kind == "Image":
            pictures += 1
        else:
            _note(words, kind)
    typed = "".join(pieces).strip() if spoken else ""
    words.text = "\n\n".join(part for part in (typed, "\n".join([_PICTURE] * pictures)) if part)
    return words


def words_of_agent(content: object) -> Words:
    """What the agent said between its thoughts and its work."""
    words = Words(damaged=not isinstance(content, list))
    pieces = []
    for kind, value in _parts(content, words):
        if kind == "Text" and isinstance(value, str):
            pieces.append(value.strip())
        elif kind not in _WORK:
            _note(words, kind)
    words.text = "\n\n".join(piece for piece in pieces if piece)
    return words


def old_words(message: Record) -> Words:
    """What a message of the older form says; the oldest of them have a plain text."""
    segments = message.get("segments")
    if segments is None:
        text = message.get("text")
        return Words(words_of(message, "text").strip(), damaged=not isinstance(text, str))
    words = Words(damaged=not isinstance(segments, list))
    pieces = []
    for segment in list_of(segments):
        record = record_of(segment)
        kind, text = record.get("type"), record.get("text")
        if kind == "text" and isinstance(text, str):
            pieces.append(text if message.get("role") == "user" else text.strip())
        elif kind not in _OLD_WORK:
            _note(words, kind if isinstance(kind, str) else None)
    # As the newer form has them once Zed has turned one into the other.
    between = "" if message.get("role") == "user" else "\n\n"
    words.text = between.join(piece for piece in pieces if piece).strip()
    return words


def _parts(content: object, words: Words) -> Iterable[tuple[str | None, object]]:
    """Parts by kind: each is an object with one field, or the bare name of a kind."""
    for part in list_of(content):
        if isinstance(part, str):
            yield part, None
        elif is_record(part) and len(part) == 1:
            yield next(iter(part.items()))
        else:
            words.damaged = True


def _note(words: Words, kind: str | None) -> None:
    """Count what is not known; of a known kind the form is damaged."""
    if kind in (None, "Text", "text"):
        words.damaged = True
    else:
        words.unknown.append(f"part of kind {kind_of(kind)}")


def kind_of(value: object) -> str:
    """The name of a kind that is not known; what is no name might be words."""
    return value[:_KIND_LIMIT] if isinstance(value, str) and value else "(no name)"


def _mention(uri: object) -> str:
    """A thing that is mentioned, as it is shown: its name behind an @."""
    value = next(iter(uri.values()), None) if is_record(uri) and len(uri) == 1 else None
    record = record_of(value)
    name = next((found for key in _NAMES if (found := text_of(record, key))), "")
    if "://" not in name:
        name = re.split(r"[\\/]", name.rstrip("\\/"))[-1]
    kind = next(iter(uri)) if is_record(uri) and len(uri) == 1 else ""
    shown = " ".join((name or kind)[:_NAME_LIMIT].split())
    return f"@{shown}" if shown else ""
