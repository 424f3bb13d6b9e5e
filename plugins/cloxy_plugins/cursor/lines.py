"""What the lines of a transcript say, of JSON and of plain text.

Records have `role`, `text`, `number` (of the line among those that are not empty) and perhaps
`time`; others are `damaged` or `unknown` ones.
"""

import re
from collections.abc import Iterator

from cloxy_hookspecs.logs.json_values import Record, decode, list_of, record_of
from cloxy_hookspecs.logs.turns import damaged, unknown
from cloxy_plugins.cursor.instants import instant_of_words
from cloxy_plugins.cursor.words import answer_of, picture, prompt_of

_ROLES = ("user", "assistant")
_OTHER_ROLES = ("system", "tool")
_NO_SPEECH = frozenset({"turn_ended", "turn_started", "tool_call", "tool_result", "turn_id"})
_BLOCKS = frozenset(
    {"tool_use", "tool_result", "tool-call", "tool-result", "thinking", "reasoning", "redacted"}
)
_HEAD = re.compile(r"(user|assistant|system|tool):[ \t]*\Z", re.I)
_MARK = re.compile(r"\[(?:Tool call|Tool result|Thinking)\]", re.I)
_KIND_LIMIT = 60


def lines_of_json(data: bytes) -> Iterator[Record]:
    """Records of the lines of a transcript."""
    number = 0
    for raw in data.split(b"\n"):
        if not raw.strip():
            continue
        number += 1
        try:
            line = decode(raw)
        except ValueError:
            yield damaged(f"line {number} is not JSON")
            continue
        if not isinstance(line, dict):
            yield damaged(f"line {number} is no object")
            continue
        role, kind = line.get("role"), line.get("type")
        if role in _ROLES:
            content = record_of(line.get("message")).get("content", line.get("content"))
            yield from message_of(str(role), content, number)
        elif role not in _OTHER_ROLES and not (isinstance(kind, str) and kind in _NO_SPEECH):
            yield unknown(f"line of type {kind if role is None else role}"[:_KIND_LIMIT])


def message_of(role: str, content: object, number: int) -> Iterator[Record]:
    """The record of a message, if it has words, and of what in it is not known.

    Args:
        role: user or assistant.
        content: a text, or blocks.
        number: its place.
    """
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts: list[str] = []
    pictures: list[str] = []
    time = None
    for block in list_of(blocks):
        part = record_of(block)
        kind, text = part.get("type"), part.get("text")
        if kind == "text" and isinstance(text, str):
            if role == "user":
                prompt = prompt_of(text)
                time = time or prompt.time
                text = prompt.text
            else:
                text = answer_of(text)
            if text:
                texts.append(text)
        elif kind in ("image", "file"):
            name = part.get("path") or part.get("filename") or part.get("mediaType")
            pictures.append(picture(name if isinstance(name, str) else None))
        elif not (isinstance(kind, str) and kind in _BLOCKS):
            yield unknown(f"part of type {kind}"[:_KIND_LIMIT])
    if role == "user" and pictures:
        texts.append("\n".join(pictures))
    if texts:
        record: Record = {"role": role, "text": "\n\n".join(texts), "number": number}
        if time is not None and (moment := instant_of_words(time)) is not None:
            record["time"] = moment
        yield record


def lines_of_text(data: bytes) -> Iterator[Record]:
    """Records of a transcript in plain text: heads of roles, and marked blocks of tools between.

    A marked block ends where a line is empty.
    """
    role: str | None = None
    kept: list[str] = []
    number = start = 0
    marked = False
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        head = _HEAD.match(line)
        if head is not None:
            yield from _spoken(role, kept, start)
            role, kept, start, marked = head[1].lower(), [], number, False
        elif role is None:
            if line.strip():
                yield damaged(f"line {number} stands before any role")
        elif _MARK.match(line):
            marked = True
        elif marked:
            marked = bool(line.strip())
        else:
            kept.append(line)
    yield from _spoken(role, kept, start)


def _spoken(role: str | None, kept: list[str], number: int) -> Iterator[Record]:
    if role in _ROLES:
        yield from message_of(role, "\n".join(kept).strip(), number)
