"""The words of a message: of its content, of the editor beside it, without an agent's thoughts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from cloxy_hookspecs.logs.json_values import (
    Record,
    is_record,
    list_of,
    record_of,
    text_of,
    words_of,
)
from cloxy_plugins.continue_dev.editor import typed_in

_THOUGHT = re.compile(r"\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
_PICTURE = re.compile(r"data:([\w.+-]{1,40}/[\w.+-]{1,80})[;,]")
_NAME_LIMIT = 120
_KIND_LIMIT = 40
_SHORTEST_BODY = 20
MARGIN = 500
"""Characters by which a prompt is so much longer than what was typed that the rest is context."""


@dataclass(slots=True)
class Content:
    """The content of a message.

    Attributes:
        text: its words.
        pictures: what stands for its pictures.
        unknown: kinds of parts that are not known.
        damaged: whether it has no form that content can have.
    """

    text: str = ""
    pictures: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])
    damaged: bool = False


def content_of(value: object) -> Content:
    """What a message's content holds: a text, or a list of parts."""
    if isinstance(value, str):
        return Content(value)
    content = Content(damaged=value is not None and not isinstance(value, list))
    texts = []
    for part in list_of(value):
        record = record_of(part)
        kind = record.get("type")
        if isinstance(part, str):
            texts.append(part)
        elif kind == "text":
            texts.append(words_of(record, "text"))
            content.damaged |= not isinstance(record.get("text"), str)
        elif kind == "imageUrl":
            content.pictures.append(_picture(record.get("imageUrl")))
        else:
            content.unknown.append(f"part of type {kind_of(kind)}")
    content.text = "\n".join(text for text in texts if text)
    return content


def answer_of(text: str) -> str:
    """An answer without the thoughts at its start, as models write them that know no other place.

    An answer that was stopped while it was thought of has no words.
    """
    return _THOUGHT.sub("", text, count=1).strip() if _THOUGHT.match(text) else text.strip()


def prompt_of(text: str, item: Record) -> str:
    """A prompt as it was typed.

    Args:
        text: the content's words, into which Continue may have put bodies of files.
        item: the entry of the history, which may have what stood in the editor.
    """
    text = text.strip()
    typed = typed_in(item.get("editorState"))
    if typed is None or not (len(text) > len(typed.text) + MARGIN or _is_inlined(text, item)):
        return text
    if typed.text:
        return typed.text
    return "\n".join(f"[file: {_tidy(name)}]" for name in typed.attached) or text


def kind_of(value: object) -> str:
    """The name of a kind that is not known; what is no name might be words."""
    return value[:_KIND_LIMIT] if isinstance(value, str) and value else "(no name)"


def with_pictures(text: str, pictures: Sequence[str]) -> str:
    """Words, and what stands for the pictures below them."""
    return "\n\n".join(part for part in (text, "\n".join(pictures)) if part)


def _is_inlined(text: str, item: Record) -> bool:
    """Whether the body of something that belongs to a prompt stands in it."""
    attached = (each for each in list_of(item.get("contextItems")) if is_record(each))
    bodies = (words_of(each, "content").strip() for each in attached)
    return any(len(each) >= _SHORTEST_BODY and each in text for each in bodies)


def _picture(value: object) -> str:
    address = text_of(record_of(value), "url") or words_of(record_of(value), "url")[:200]
    found = _PICTURE.match(address)
    name = found[1] if found else re.split(r"[?#]", address)[0].rpartition("/")[2]
    return f"[image: {_tidy(name)}]"


def _tidy(name: str) -> str:
    shown = " ".join(name[:_NAME_LIMIT].replace("[", "(").replace("]", ")").split())
    return shown if shown.isprintable() and shown else "unknown"
