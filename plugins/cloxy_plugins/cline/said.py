"""What was said in a task, from the messages that its window shows."""

from collections.abc import Iterator
from dataclasses import dataclass

from cloxy_hookspecs import Author, Role
from cloxy_hookspecs.logs.instants import EARLIEST
from cloxy_hookspecs.logs.json_values import Record, id_of, is_record, record_of, words_of
from cloxy_hookspecs.logs.turns import MadeUids, damaged, message, unknown
from cloxy_plugins.cline.about import About
from cloxy_plugins.cline.elements import Elements
from cloxy_plugins.cline.kinds import (
    ASKED,
    CHANGED,
    NOISE,
    PROGRESS,
    SAID,
    SUMMARIES,
    SUMMARY_TOOL,
    TYPED,
)
from cloxy_plugins.cline.pictures import pictures_of
from cloxy_plugins.cline.wordless import lacks_words
from cloxy_plugins.cline.words import fields_in

_NUMBER_LIMIT = 2**53


@dataclass(frozen=True, slots=True)
class _Words:
    """Words of a message.

    Attributes:
        role: whose turn.
        text: the words.
        name: what tells them from others of the same moment.
        typed: whether a person wrote them, whoever started the task.
        near: whether the moment is not theirs.
    """

    role: Role
    text: str
    name: str
    typed: bool = False
    near: bool = False


def said_records(key: str, elements: Elements, about: About, cwd: str | None) -> Iterator[Record]:
    """Records of the messages of a task.

    Args:
        key: key of its session.
        elements: what the window shows, in order.
        about: facts of the task.
        cwd: its folder.
    """
    talk = _Talk(key, about, cwd)
    values = elements.values if about.own is None else elements.values[: about.own]
    talk.task_expected = not elements.headless
    for value in values:
        if is_record(value):
            yield from talk.records(value)
        else:
            yield damaged("a message is no JSON object")
    yield from talk.last()


class _Talk:
    """Makes records of messages, one after another."""

    def __init__(self, key: str, about: About, cwd: str | None) -> None:
        self._key = key
        self._about = about
        self._cwd = cwd
        self._made = MadeUids()
        self._origin: str | None = None
        self._given: dict[str, set[str]] = {}
        self._result = ""
        self._progress: Record | None = None
        self.task_expected = True

    def records(self, record: Record) -> Iterator[Record]:
        """Records of a message."""
        name = id_of(record, "say") if record.get("type") == "say" else id_of(record, "ask")
        if record.get("type") not in ("say", "ask") or name is None:
            yield damaged("a message of no known form")
            return
        time = _plausible(record.get("ts"))
        if self._origin is None and time is not None:
            self._origin = str(time)
        lost = lacks_words(record, name)
        if lost:
            yield unknown(f"{record.get('type')}: {name}")
        if name == PROGRESS:
            if words := words_of(record, "text"):
                self._progress = self._message(record, _Words("assistant", words, name))
                # It is rewritten at each step, and stays one.
                self._progress["uid"] = f"{self._origin or self._key}/{name}"
            return
        found = self._words(record, name)
        if found is None and not lost:
            yield unknown(f"{record.get('type')}: {name}")
        for each in found or ():
            if made := self._new_message(record, each):
                yield made

    def last(self) -> Iterator[Record]:
        """The list of steps as it was at the end."""
        if self._progress is not None:
            yield self._progress

    def _words(self, record: Record, name: str) -> list[_Words] | None:
        """The words of a message; None when its kind is not known."""
        text = words_of(record, "text")
        if record["type"] == "ask":
            return self._asked(text, name)
        if name == "task" or (name == "text" and self.task_expected):
            self.task_expected = False
            return [_typed(record, text, name, typed=self._about.parent is None)]
        if name in TYPED:
            # What a person changed in a proposed file comes as JSON; it is no words.
            changed = name == "user_feedback_diff" and fields_in(text) is not None
            return [] if changed else [_typed(record, text, name, typed=True)]
        if name in SAID:
            text = text.removesuffix(CHANGED)
            if name != "text":
                self._result = text.strip()
            return [_Words("assistant", text, name)]
        if name == "condense_context":
            summary = words_of(record_of(record.get("contextCondense")), "summary")
            return [_Words("summary", summary, name)]
        if name == "tool":
            fields = fields_in(text) if SUMMARY_TOOL in text[:200] else None
            if fields is not None and fields.get("tool") == SUMMARY_TOOL:
                return [_Words("summary", words_of(fields, "content"), name)]
            return []
        return [] if name in NOISE else None

    def _asked(self, text: str, name: str) -> list[_Words] | None:
        if name == "completion_result":
            # It repeats what was said just before, if it is not empty.
            text = text.removesuffix(CHANGED)
            return [] if text.strip() == self._result else [_Words("assistant", text, name)]
        if name in SUMMARIES:
            fields = fields_in(text)
            return [_Words("summary", words_of(fields, "context") if fields else text, name)]
        if name not in ASKED:
            return [] if name in NOISE else None
        fields = fields_in(text)
        if fields is None:
            return [_Words("assistant", text, name)]
        question = words_of(fields, "response") or words_of(fields, "question")
        chosen = words_of(fields, "selected")
        return [
            _Words("assistant", question, name),
            _Words("user", chosen, f"{name}/selected", typed=True, near=True),
        ]

    def _new_message(self, record: Record, words: _Words) -> Record | None:
        """A record for words; none for blanks, and for what stands there twice."""
        if not words.text.strip():
            return None
        made = self._message(record, words)
        uid = str(made["uid"])
        given = self._given.setdefault(uid, set())
        if words.text in given:
            return None
        if given:
            made["uid"] = f"{uid}/{len(given)}"
        given.add(words.text)
        return made

    def _message(self, record: Record, words: _Words) -> Record:
        time = _plausible(record.get("ts"))
        if time is None:
            uid = self._made.of(self._key, words.name, words.text)
        else:
            uid = f"{self._origin}/{time}/{words.name}"
        model = id_of(record_of(record.get("modelInfo")), "modelId")
        spoken = words.role == "assistant"
        return message(
            self._key,
            uid,
            words.role,
            self._author(words),
            words.text,
            at=time,
            approximate=words.near,
            cwd=self._cwd,
            model=(model or self._about.model_at(time)) if spoken else None,
        )

    def _author(self, words: _Words) -> Author:
        """Who wrote words; in a task that another one started both sides are an agent's."""
        if words.role == "summary":
            return "summary"
        if words.typed:
            return "human"
        child = self._about.parent is not None
        return "subagent" if child or words.role == "user" else "assistant"


def _typed(record: Record, text: str, name: str, *, typed: bool) -> _Words:
    """Words of the user's side, with a mark for each picture."""
    parts = [text, *pictures_of(record)] if text else pictures_of(record)
    return _Words("user", "\n\n".join(parts), name, typed=typed)


def _plausible(value: object) -> int | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return int(value) if EARLIEST <= value < _NUMBER_LIMIT else None
