"""What a session log says, line by line, in its two forms.

The flat form has `{version, kind, data}`, the other `{id, timestamp, payload}`. A message that
comes twice under one id is one; what it said last counts.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cloxy_hookspecs.logs.json_lines import LineRecovery, decode_line
from cloxy_hookspecs.logs.json_values import (
    Record,
    has_nearly,
    id_of,
    is_record,
    record_of,
    text_of,
)
from cloxy_hookspecs.logs.turns import MadeUids, unknown
from cloxy_hookspecs.logs.whole_lines import records_in
from cloxy_hookspecs.types.ingest import Role
from cloxy_plugins.kiro.words import Words, model_in, typed_in_editor, words_in

_KIND_LIMIT = 40
_FLAT_NOISE = frozenset({"ToolResults", "Clear", "ResetTo"})
_NOISE = frozenset(
    {
        "agent_note",
        "checkpoint",
        "error",
        "session_end",
        "system",
        "tombstone",
        "tool_call",
        "tool_result",
        "turn_end",
        "turn_start",
        "usage_summary",
    }
)
_THOUGHT = "reasoning"
_FLAT = LineRecovery(
    ("version", "kind", "data"), lambda record: "kind" in record and "data" in record
)
_BUCKETED = LineRecovery(
    ("id", "timestamp", "payload"), lambda record: is_record(record.get("payload"))
)


@dataclass(slots=True)
class Said:
    """One message of a log.

    Attributes:
        native: id that the log gives it, else one made of what it is.
        role: whose turn it was.
        text: its words.
        at: its time, as the log has it.
        model: model that the log names for it.
    """

    native: str
    role: Role
    text: str
    at: object = None
    model: str | None = None


@dataclass(slots=True)
class Log:
    """What a log says.

    Attributes:
        said: its messages by id, in order.
        problems: records of what could not be read or is not known.
    """

    said: dict[str, Said] = field(default_factory=dict[str, Said])
    problems: list[Record] = field(default_factory=list[Record])


def read_log(data: bytes, *, flat: bool) -> Log:
    """What a log says; nothing raises.

    Args:
        data: all of it.
        flat: whether it is of the flat form.
    """
    reading = _Reading()
    take = _take_flat if flat else _take_bucketed
    recovery = _FLAT if flat else _BUCKETED
    for record in records_in(data, recovery, reading.log.problems):
        take(reading, record)
    reading.log.problems += [unknown(name, count) for name, count in reading.strange.items()]
    return reading.log


def first_id(line: bytes, *, flat: bool) -> str | None:
    """The id in the first line of a log."""
    record = decode_line(line)
    if record is None:
        return None
    return id_of(record_of(record.get("data")), "message_id") if flat else id_of(record, "id")


class _Reading:
    def __init__(self) -> None:
        self.log = Log()
        self.strange: Counter[str] = Counter()
        self._made = MadeUids()

    def say(
        self, native: str | None, role: Role, text: str, at: object = None, model: str | None = None
    ) -> None:
        if not text:
            return
        native = native or self._made.of(role, str(at), text)
        known = self.log.said.get(native)
        if known is None:
            self.log.said[native] = Said(native, role, text, at, model)
        else:
            known.text = text

    def odd(self, name: str | None) -> None:
        self.strange[name[:_KIND_LIMIT] if name else "(no kind)"] += 1


def _take_flat(reading: _Reading, record: Record) -> None:
    kind, data = text_of(record, "kind"), record.get("data")
    handler = _FLAT_KINDS.get(kind or "")
    if handler is not None and is_record(data):
        handler(reading, data)
    elif kind not in _FLAT_NOISE:
        reading.odd(kind)


def _words(reading: _Reading, record: Record) -> Words:
    """What a record of speech says; one without a content is of another form."""
    words = words_in(record.get("content"))
    reading.strange.update(words.strange)
    if record.get("content") is None:
        reading.odd("message without content")
    return words


def _prompt(reading: _Reading, data: Record) -> None:
    words = _words(reading, data)
    at = record_of(data.get("meta")).get("timestamp")
    reading.say(id_of(data, "message_id"), "user", words.text, at)


def _answer(reading: _Reading, data: Record) -> None:
    words = _words(reading, data)
    at = record_of(data.get("meta")).get("timestamp")
    reading.say(id_of(data, "message_id"), "assistant", words.text, at, words.model)


def _compaction(reading: _Reading, data: Record) -> None:
    """A summary; beside it stands a copy of messages, which is not taken."""
    summary = data.get("summary")
    if is_record(summary):
        summary = summary.get("content", summary.get("text"))
    words = words_in(summary)
    at = record_of(data.get("meta")).get("timestamp")
    reading.say(id_of(data, "message_id"), "summary", words.text, at)
    if not words.text:
        reading.odd("Compaction")


_FLAT_KINDS: Mapping[str, Callable[[_Reading, Record], None]] = {
    "Prompt": _prompt,
    "AssistantMessage": _answer,
    "Compaction": _compaction,
}


def _take_bucketed(reading: _Reading, record: Record) -> None:
    payload = record.get("payload")
    kind = text_of(payload, "type") if is_record(payload) else None
    if not is_record(payload) or kind is None:
        reading.odd(kind)
        return
    native, at = id_of(record, "id"), record.get("timestamp")
    if kind in ("user", "session_start"):
        words = _words(reading, payload)
        text = typed_in_editor(words.text)
        # The prompt that began the session stands in its first line, rarely in one of its own too.
        first = kind == "user" and len(reading.log.said) == 1
        if not (first and text in (each.text for each in reading.log.said.values())):
            reading.say(native, "user", text, at)
    elif kind == "assistant":
        operation = payload.get("operationType")
        if not (isinstance(operation, str) and operation.lower() == _THOUGHT):
            words = _words(reading, payload)
            reading.say(native, "assistant", words.text, at, model_in(payload, "reasoningModelId"))
    elif kind in ("compaction", "summary"):
        words = words_in(payload.get("summary", payload.get("content")))
        reading.say(native, "summary", words.text, at)
        # One without a summary only says that there was a compaction.
        if words.strange or has_nearly(payload, "summary"):
            reading.odd(kind)
    elif kind not in _NOISE:
        reading.odd(kind)
