"""From the bytes of a log to the sessions that it holds.

The first form is one document `{sessionId, projectHash, startTime, lastUpdated, messages}`. The
second is lines: a head with the same fields; messages, of which one with a known id takes the place
of the earlier one; `$set`, which changes fields of the head, the list of messages among them; and
`$rewindTo`, which takes a message and all behind it back. What was taken back was said, and stays.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cloxy_hookspecs.logs.json_lines import decode_line
from cloxy_hookspecs.logs.json_values import Record
from cloxy_plugins.gemini_cli.content import is_known, is_spoken
from cloxy_plugins.gemini_cli.decoding import recover

_MESSAGE = re.compile(r'\{\s*"id"\s*:\s*"')
_SESSION = re.compile(r'"sessionId"\s*:\s*"([^"\\]{1,200})"')
_HASH = re.compile(r'"projectHash"\s*:\s*"([0-9a-f]{64})"')
_ATTEMPTS = 5_000
_KINDS = 100
_KIND_LIMIT = 60
_HEAD = ("sessionId", "projectHash", "startTime", "lastUpdated", "kind", "summary", "directories")
_FIELDS = ("id", "timestamp", "type", "content", "displayContent", "model")
_PARTS = ("text", "thought", "inlineData", "fileData")


@dataclass(slots=True)
class Conversation:
    """One session.

    Attributes:
        head: its fields.
        messages: the latest form of each, by id, in the order in which they came.
    """

    head: Record = field(default_factory=dict[str, object])
    messages: dict[str, Record] = field(default_factory=dict[str, Record])


@dataclass(slots=True)
class Replay:
    """What a log holds.

    Attributes:
        conversations: sessions with an id, or one without.
        damage: what was passed over, a reason for each place.
        unknown: lines and entries of no known form, with counts.
    """

    conversations: list[Conversation] = field(default_factory=list[Conversation])
    damage: list[str] = field(default_factory=list[str])
    unknown: dict[str, int] = field(default_factory=dict[str, int])

    def take(self, record: Record) -> None:
        """Take a line, or a whole document."""
        changes = record.get("$set")
        if isinstance(record.get("id"), str) and "type" in record:
            self._message(record)
        elif isinstance(changes, dict):
            self._head(changes)
        elif isinstance(record.get("sessionId"), str):
            self._head(record)
        elif "$rewindTo" not in record:
            self._count("line")

    def _head(self, fields: Record) -> None:
        session = fields.get("sessionId")
        current = self._current()
        if isinstance(session, str) and current.head.get("sessionId", session) != session:
            # A log in which one session follows another.
            current = Conversation()
            self.conversations.append(current)
        current.head.update({key: fields[key] for key in _HEAD if key in fields})
        messages = fields.get("messages", [])
        if isinstance(messages, list):
            for number, message in enumerate(messages):
                if isinstance(message, dict):
                    self._message(message, number)
                else:
                    self._count("entry")
        if not isinstance(messages, list) or any(map(_is_list_of_messages, _others(fields))):
            self._count("messages")

    def _message(self, message: Record, number: int = 0) -> None:
        kind = message.get("type")
        if is_spoken(kind) and not is_known(message.get("content")):
            self._count(str(kind))
        messages = self._current().messages
        known = message.get("id")
        uid = known if isinstance(known, str) and known else f"made-{number}-{kind}"
        kept: Record = {key: message[key] for key in _FIELDS if key in message}
        kept["id"] = uid
        for key in ("content", "displayContent"):
            if key in kept:
                kept[key] = _slim(kept[key])
        before = messages.get(uid)
        if before is not None:
            # What a later form lacks is what it had.
            kept = before | {key: value for key, value in kept.items() if value}
        messages[uid] = kept

    def _current(self) -> Conversation:
        if not self.conversations:
            self.conversations.append(Conversation())
        return self.conversations[-1]

    def _count(self, kind: str) -> None:
        if kind in self.unknown or len(self.unknown) < _KINDS:
            self.unknown[kind[:_KIND_LIMIT]] = self.unknown.get(kind, 0) + 1


def replay(data: bytes, *, lines: bool) -> Replay:
    """The sessions of a log; never raises.

    Args:
        data: its bytes.
        lines: whether it should be lines; a document is recognised in any case.
    """
    found = Replay()
    whole = decode_line(data)
    if whole is not None:
        found.take(whole)
        if not lines and "messages" not in whole and not found.unknown:
            found.unknown["messages"] = 1
    elif lines:
        for line in data.split(b"\n"):
            _take_line(found, line)
    else:
        _take_document(found, data)
    return found


def _take_line(found: Replay, line: bytes) -> None:
    record = decode_line(line)
    if record is not None:
        found.take(record)
    elif line.strip():
        recovered = recover(line)
        for each in recovered.records:
            found.take(each)
        if recovered.damage:
            found.damage.append(recovered.damage)


def _take_document(found: Replay, data: bytes) -> None:
    recovered = recover(data)
    if recovered.records and recovered.damage is None:
        for each in recovered.records:
            found.take(each)
    else:
        _salvage(found, data)


def _salvage(found: Replay, data: bytes) -> None:
    """Take the messages that are whole out of a document that is not."""
    if not data.strip():
        found.damage.append("empty")
        return
    text = data.decode("utf-8", "replace")
    found.damage.append("not a JSON document")
    for key, pattern in (("sessionId", _SESSION), ("projectHash", _HASH)):
        named = pattern.search(text)
        if named is not None:
            found.take({"sessionId": named[1]} if key == "sessionId" else {"$set": {key: named[1]}})
    decoder = json.JSONDecoder(strict=False)
    position = 0
    for _ in range(_ATTEMPTS):
        start = _MESSAGE.search(text, position)
        if start is None:
            return
        try:
            message, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
            continue
        if isinstance(message, dict) and "timestamp" in message and "type" in message:
            found.take(message)


def _others(fields: Record) -> Iterator[object]:
    """Values of fields of a head that have no known name."""
    return (value for key, value in fields.items() if key != "messages" and key not in _HEAD)


def _is_list_of_messages(value: object) -> bool:
    return isinstance(value, list) and any(
        isinstance(each, dict) and is_spoken(each.get("type")) for each in value
    )


def _slim(content: object) -> object:
    """The content of a message without what tools were told and what they gave."""
    if not isinstance(content, list):
        return content
    return [
        {key: part[key] for key in _PARTS if key in part} if isinstance(part, Mapping) else part
        for part in content
    ]
