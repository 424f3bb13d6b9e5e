"""The records that the source writes: one for a session, one for each message.

`{"kind": "session", "id", "parent", "relation", "directory", "title"}` stands first and last,
`{"kind": "message", "id", "role", "created", "cwd", "model", "parts"}` between. A part is
`{"type": "text", "text"}` or `{"type": "image", "mark"}`, or only a type that is not known.
`{"kind": "damaged", "what"}` stands for what could not be understood.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath, PureWindowsPath
from urllib.parse import unquote

import orjson

from cloxy_hookspecs import RawLine
from cloxy_hookspecs.logs.pictures import NAME_LIMIT, bytes_of_address, picture_mark
from cloxy_plugins.opencode.values import Record, id_in, milliseconds, record_in, text_in

Part = Mapping[str, str]

NOISE = frozenset(
    {
        "agent",
        "compaction",
        "file",
        "patch",
        "reasoning",
        "retry",
        "snapshot",
        "step-finish",
        "step-start",
        "subtask",
        "tool",
    }
)
"""Types of parts that hold no conversation."""

_DATA = re.compile(r"data:([a-z]+/[a-z0-9.+-]{1,60})?[;,]", re.I)
_KIND_LIMIT = 60
_PARTS = 2_000


@dataclass(slots=True)
class Said:
    """One message.

    Attributes:
        id: id of the message.
        role: `user`, `assistant`, `summary`, or what else stands there.
        created: when it began, milliseconds; 0 when unknown.
        cwd: working directory; empty when unknown.
        model: name of the model; empty when unknown.
        parts: what it says, in order.
        damaged: parts of it that could not be understood.
    """

    id: str
    role: str
    created: int = 0
    cwd: str = ""
    model: str = ""
    parts: list[Part] = field(default_factory=list[Part])
    damaged: int = 0

    @property
    def words(self) -> str:
        """All words together, to see that they stand elsewhere, too."""
        return "\0".join(part.get("text", part.get("mark", "")) for part in self.parts)


@dataclass(slots=True)
class Talk:
    """One session.

    Attributes:
        id: id of the session.
        parent: the session that started it, or that it was copied from; empty for none.
        relation: `subagent` or `fork`, with a parent.
        directory: working directory; empty when unknown.
        title: its title; empty when it has none.
        said: its messages, in order.
        damaged: words for what could not be understood.
    """

    id: str
    parent: str = ""
    relation: str = ""
    directory: str = ""
    title: str = ""
    said: list[Said] = field(default_factory=list[Said])
    damaged: list[str] = field(default_factory=list[str])


def lines_of(talk: Talk) -> Iterator[RawLine]:
    """A session as lines."""
    for number, record in enumerate(_records(talk)):
        yield RawLine(number, number + 1, orjson.dumps(record))


def _records(talk: Talk) -> Iterator[dict[str, object]]:
    head: dict[str, object] = {
        "kind": "session",
        "id": talk.id,
        "parent": talk.parent,
        "relation": talk.relation,
        "directory": talk.directory,
        "title": talk.title,
    }
    yield head
    for what in talk.damaged:
        yield {"kind": "damaged", "what": what}
    for said in talk.said:
        yield {
            "kind": "message",
            "id": said.id,
            "role": said.role,
            "created": said.created,
            "cwd": said.cwd,
            "model": said.model,
            "parts": said.parts,
        }
        for _ in range(said.damaged):
            yield {"kind": "damaged", "what": "part"}
    if talk.said:
        yield head


def said_in(uid: str, message: Record, row: object = None) -> Said:
    """A message as versions before 2 keep it, still without its parts.

    Args:
        uid: its id.
        message: its JSON.
        row: time in its row, for a message that has none.
    """
    role = text_in(message, "role")[:_KIND_LIMIT]
    if role == "assistant" and message.get("summary") is True:
        role = "summary"
    return Said(
        uid,
        role,
        created=milliseconds(record_in(message, "time").get("created")) or milliseconds(row),
        cwd=text_in(record_in(message, "path"), "cwd"),
        model=text_in(message, "modelID") if role != "user" else "",
    )


def take_part(said: Said, part: Record | None) -> None:
    """Add a part as versions before 2 keep it to its message; None for one that is damaged."""
    if part is None:
        said.damaged += 1
        return
    kind = part.get("type")
    if kind == "text":
        if isinstance(part.get("text"), str):
            _take_text(said, part)
        else:
            said.damaged += 1
    elif kind == "file" and text_in(part, "mime").lower().startswith("image/"):
        _take(said, {"type": "image", "mark": image_mark(part, "url", "filename")})
    elif kind not in NOISE:
        _take(said, {"type": text_in(part, "type")[:_KIND_LIMIT] or "(no type)"})


def said_in_entry(uid: str, kind: str, entry: Record, row: object) -> Said:
    """A message as version 2 keeps it.

    Args:
        uid: its id.
        kind: its type.
        entry: its JSON.
        row: time in its row.
    """
    created = milliseconds(record_in(entry, "time").get("created")) or milliseconds(row)
    said = Said(
        uid, kind[:_KIND_LIMIT], created, model=id_in(record_in(entry, "model"), "id") or ""
    )
    if kind == "user":
        said.model = ""
        _take_text(said, entry)
        for file in _list_in(entry, "files"):
            if text_in(file, "mime").lower().startswith("image/"):
                _take(said, {"type": "image", "mark": image_mark(file, "uri", "name")})
    elif kind == "assistant":
        for part in _list_in(entry, "content"):
            take_part(said, part)
    elif kind == "compaction":
        said.role = "summary"
        if entry.get("status") in (None, "completed"):
            _take(said, {"type": "text", "text": text_in(entry, "summary")})
    return said


def _list_in(record: Record, key: str) -> Iterable[Record]:
    value = record.get(key)
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _take_text(said: Said, part: Record) -> None:
    if part.get("synthetic") is True or part.get("ignored") is True:
        return
    if words := text_in(part, "text"):
        _take(said, {"type": "text", "text": words})


def _take(said: Said, part: Part) -> None:
    if len(said.parts) < _PARTS:
        said.parts.append(part)
    else:
        said.damaged += 1


def image_mark(file: Record, address: str, name: str) -> str:
    """What stands for a picture: its type and a digest of its data, or its name without data."""
    url, media = text_in(file, address), text_in(file, "mime").lower()
    if _DATA.match(url):
        return picture_mark(media[:NAME_LIMIT], bytes_of_address(url))
    shown = text_in(file, name) or unquote(url.partition("?")[0])
    shown = PureWindowsPath(PurePath(shown).name).name[:NAME_LIMIT]
    return f"[image: {shown}]" if shown.isprintable() and shown else "[image: unknown]"
