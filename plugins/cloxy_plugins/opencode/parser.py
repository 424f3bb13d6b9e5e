"""The records of the source as a parser; their form is told in the module `records`.

The id of a message is OpenCode's own: it is the same in the database, in the files that were before
it, and in both versions of the tables.
"""

import os
from collections.abc import Callable, Iterable, Mapping

from cloxy_hookspecs import (
    Author,
    HostContext,
    Message,
    ParseResult,
    RawLine,
    Relation,
    Role,
    SessionFacts,
    SourceItem,
)
from cloxy_hookspecs.logs.folders import is_inside, parts_of
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.notes import Notes
from cloxy_hookspecs.logs.titles import FIRST_WORDS, NAMED, title_of_name, title_of_words
from cloxy_hookspecs.logs.words import paragraphs
from cloxy_plugins.opencode.state import TalkState, load_state
from cloxy_plugins.opencode.values import Record, decode, id_in, text_in

_DAY = 86_400_000
_NANOSECONDS = 1_000_000
_KIND_LIMIT = 60
_RELATIONS: Mapping[str, Relation] = {"subagent": "subagent", "fork": "fork"}
_ROLES: Mapping[str, tuple[Role, Author]] = {
    "user": ("user", "human"),
    "assistant": ("assistant", "assistant"),
    "summary": ("summary", "summary"),
}


def create_parser(context: HostContext) -> "RecordParser":
    """Make the parser; messages of sessions in the data directory are not taken."""
    return RecordParser(str(context.paths.data), context.clock.now_ms)


class RecordParser:
    """Turns records into messages; implements `Parser`."""

    def __init__(self, own_folder: str, now_ms: Callable[[], int]) -> None:
        """Make a parser.

        Args:
            own_folder: folder whose sessions are not taken.
            now_ms: the present in milliseconds; a later time of a message is not believed.
        """
        self._own_folder = parts_of(os.path.normpath(own_folder))
        self._now_ms = now_ms

    def parse(
        self, item: SourceItem, lines: Iterable[RawLine], state: Mapping[str, object]
    ) -> ParseResult:
        """Parse a run of records; see `Parser.parse`."""
        run = _Run(item, load_state(state), self._own_folder, self._now_ms() + _DAY)
        for line in lines:
            if line.dropped:
                run.bad(line, f"a record of {line.dropped} bytes is too long")
            elif line.data and not line.data.isspace():
                run.take(line)
        return run.result()


class _Run(Notes):
    """Collects what the records of one run say."""

    def __init__(
        self, item: SourceItem, state: TalkState, own_folder: tuple[str, ...], latest: int
    ) -> None:
        super().__init__()
        self._item = item
        self._state = state
        self._own_folder = own_folder
        self._latest = latest
        self._messages: list[Message] = []
        self._uids: set[str] = set()
        self._head: SessionFacts | None = None
        self._words = ""

    @property
    def _key(self) -> str:
        return self._state.key or _key_of(self._item.uri)

    def take(self, line: RawLine) -> None:
        """Take a record."""
        record = decode(line.data)
        kind = None if record is None else record.get("kind")
        if record is None or not isinstance(kind, str):
            self.bad(line, "not a record")
        elif kind == "session":
            self.understood()
            self._session(record)
        elif kind == "message":
            self._message(record, line)
        elif kind == "damaged":
            self.bad(line, f"a damaged {text_in(record, 'what')[:_KIND_LIMIT] or 'value'}")
        else:
            self.unknown(kind)

    def result(self) -> ParseResult:
        """All that was found."""
        return ParseResult(
            messages=self._messages,
            sessions=self._sessions(),
            bad_lines=self.bad_lines,
            records=self.records,
            unknown=self.unknown_kinds,
            state=self._state.dump(),
            silent=self._state.silent and not (self.bad_lines and not self.records),
        )

    def _session(self, record: Record) -> None:
        state = self._state
        state.key = state.key or id_in(record, "id") or self._key
        state.directory = text_in(record, "directory") or state.directory
        parent = id_in(record, "parent")
        relation = _RELATIONS.get(text_in(record, "relation"))
        state.child = relation == "subagent"
        state.ours |= is_inside(state.directory, self._own_folder)
        title = title_of_name(text_in(record, "title"))
        self._head = SessionFacts(
            self._key,
            parent=parent,
            cwd=state.directory or None,
            title=title or None,
            title_rank=NAMED if title else 0,
            relation=relation if parent else None,
        )

    def _message(self, record: Record, line: RawLine) -> None:
        kind, uid, parts = text_in(record, "role"), id_in(record, "id"), record.get("parts")
        known = _ROLES.get(kind)
        if known is None:
            self.unknown(f"message/{kind}")
            self._state.silent = False
            return
        if uid is None or not isinstance(parts, list):
            self.bad(line, "a message without id or parts")
            return
        self.understood()
        self._state.silent = False
        texts = [self._text(part) for part in parts]
        text = paragraphs(texts)
        if text and not self._state.ours and uid not in self._uids:
            self._uids.add(uid)
            self._say(record, line, uid, known, text)

    def _text(self, part: object) -> str:
        """The words of a part; a part of an unknown type is counted."""
        if not isinstance(part, Mapping):
            self.unknown("part/(no object)")
            return ""
        kind = text_in(part, "type")
        if kind not in ("text", "image"):
            self.unknown(f"part/{kind}")
        return text_in(part, "text") or text_in(part, "mark")

    def _say(
        self, record: Record, line: RawLine, uid: str, known: tuple[Role, Author], text: str
    ) -> None:
        state = self._state
        role, author = known
        if state.child and role != "summary":
            author = "subagent"
        state.spoken = True
        state.key = self._key
        if role == "user" and not state.titled:
            state.titled = True
            self._words = title_of_words(text)
        at = instant(record.get("created"), self._latest)
        near = min(self._item.mtime_ns // _NANOSECONDS, self._latest - _DAY)
        state.at = at or state.at
        self._messages.append(
            Message(
                uid=uid,
                session=self._key,
                role=role,
                author=author,
                text=text,
                at=at or state.at or near,
                start=line.start,
                end=line.end,
                cwd=text_in(record, "cwd") or state.directory,
                model=(text_in(record, "model") or None) if role != "user" else None,
                approximate=at is None,
            )
        )

    def _sessions(self) -> Mapping[str, SessionFacts]:
        """Facts of the session; one without a word is none."""
        state = self._state
        if state.ours or not state.spoken:
            return {}
        facts = self._head or SessionFacts(self._key, cwd=state.directory)
        if self._words and not facts.title:
            facts = SessionFacts(
                facts.key,
                parent=facts.parent,
                cwd=facts.cwd,
                title=self._words,
                title_rank=FIRST_WORDS,
                relation=facts.relation,
            )
        return {facts.key: facts}


def _key_of(uri: str) -> str:
    """Id of the session that an item is of, for when no record tells."""
    name = uri.rpartition("#")[2].replace("\\", "/").rpartition("/")[2]
    return name.removesuffix(".json") or "session"
