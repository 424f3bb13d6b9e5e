"""One run of the parser over records of one log."""

from collections.abc import Mapping, Sequence

from cloxy_hookspecs import (
    Author,
    Message,
    ParseResult,
    RawLine,
    Relation,
    Role,
    SessionFacts,
    SourceItem,
)
from cloxy_hookspecs.logs.folders import is_inside
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import id_of, text_of
from cloxy_hookspecs.logs.notes import Notes
from cloxy_hookspecs.logs.titles import FIRST_WORDS, title_of_words
from cloxy_hookspecs.logs.turns import made_uid
from cloxy_plugins.qwen_code.roots import session_of_file
from cloxy_plugins.qwen_code.state import LogState

Record = Mapping[str, object]

_NANOSECONDS = 1_000_000


class Run(Notes):
    """Collects what the records of one run say.

    Attributes:
        state: memory of the file.
    """

    def __init__(
        self, item: SourceItem, state: LogState, own_folder: Sequence[str], latest: int
    ) -> None:
        """Start a run.

        Args:
            item: the file; its name tells the session where no record does.
            state: what earlier runs left; changed as records come.
            own_folder: parts of the path of Cloxy's data directory, whose sessions are not taken.
            latest: last plausible point in time, milliseconds.
        """
        super().__init__()
        self.state = state
        self._item = item
        self._own_folder = tuple(own_folder)
        self._latest = latest
        self._at: int | None = None
        self._messages: list[Message] = []
        self._titles: dict[str, tuple[str, int]] = {}
        self._spoken: dict[str, None] = {}
        self._uids: set[tuple[str, str]] = set()

    def strange(self) -> None:
        """Note that there was a conversation, understood or not."""
        self.state.silent = self.state.silent and self.state.ours

    def arrive(self, record: Record) -> None:
        """Take time, place and origin of a record."""
        state = self.state
        self._at = instant(record.get("timestamp"), self._latest)
        state.at = self._at or state.at
        state.branch = text_of(record, "gitBranch") or state.branch
        cwd = text_of(record, "cwd")
        if cwd is not None:
            state.cwd = state.cwd or cwd
            state.ours |= is_inside(cwd, self._own_folder)
        owner = _owner_of(record)
        if owner is not None and state.parent is None:
            state.parent, state.branched = owner, True

    def started_by(self, session: str | None) -> None:
        """Note the session that started this one."""
        if session is not None and not self.state.branched:
            self.state.parent, self.state.started = session, True

    def key_of(self, record: Record) -> str:
        """Key of the session in which a record was written first.

        What a branch begins with are records of the session that it was branched off, under the
        same ids: they are told as that session's.
        """
        owner = _owner_of(record)
        agent = id_of(record, "agentId")
        session = owner or id_of(record, "sessionId")
        if session is None:
            return session_of_file(self._item.uri)
        return session if agent is None else f"{session}/{agent}"

    def title(self, record: Record, text: str, rank: int) -> None:
        """Take a title of a record's session, if it is at least as good as the best so far."""
        key = self.key_of(record)
        if text and self.state.title(key, rank):
            self._titles[key] = (text, rank)

    def say(self, record: Record, line: RawLine, role: Role, author: Author, text: str) -> None:
        """Take a message.

        Args:
            record: the record that brings it.
            line: its line.
            role: whose turn it was.
            author: who wrote it, unless a sub-agent or another session did.
            text: its words.
        """
        self.strange()
        state = self.state
        if not text.strip() or state.ours:
            return
        key = self.key_of(record)
        uid = id_of(record, "uuid") or made_uid(key, role, str(record.get("timestamp")), text)
        if (key, uid) in self._uids:
            return
        self._uids.add((key, uid))
        self._spoken[key] = None
        state.meet(key)
        if role == "user" and not state.titled.get(key):
            self.title(record, title_of_words(text), FIRST_WORDS)
        self._messages.append(
            Message(
                uid=uid,
                session=key,
                role=role,
                author=self._author(key, role, author),
                text=text,
                at=self._at or state.at or self._item.mtime_ns // _NANOSECONDS,
                start=line.start,
                end=line.end,
                cwd=text_of(record, "cwd") or state.cwd,
                branch=state.branch,
                model=id_of(record, "model") if role == "assistant" else None,
                approximate=self._at is None,
            )
        )

    def result(self) -> ParseResult:
        """All that was found."""
        if self.bad_lines and not self.records:
            self.strange()
        keys = () if self.state.ours else dict.fromkeys([*self._spoken, *self._titles])
        return ParseResult(
            messages=self._messages,
            sessions={key: self._facts(key) for key in keys},
            bad_lines=self.bad_lines,
            records=self.records,
            unknown=self.unknown_kinds,
            state=self.state.dump(),
            silent=self.state.silent,
        )

    def _facts(self, key: str) -> SessionFacts:
        state = self.state
        text, rank = self._titles.get(key, (None, 0))
        parent, relation = _parent_in(key), self._relation(key)
        if parent is None and relation is not None:
            parent = state.parent
        return SessionFacts(
            key,
            parent=parent,
            cwd=state.cwd,
            branch=state.branch,
            title=text,
            title_rank=rank,
            relation=relation,
        )

    def _relation(self, key: str) -> Relation | None:
        if _parent_in(key) is not None:
            return "subagent"
        if self.state.parent in (None, key):
            return None
        return "fork" if self.state.branched else "subagent"

    def _author(self, key: str, role: Role, author: Author) -> Author:
        if role == "summary":
            return "summary"
        if _parent_in(key) is not None:
            return "subagent"
        return "program" if role == "user" and self.state.started else author


def _owner_of(record: Record) -> str | None:
    """The session that a record was copied from."""
    origin = record.get("forkedFrom")
    if not isinstance(origin, Mapping) or origin.get("messageUuid") != record.get("uuid"):
        return None
    return id_of(origin, "sessionId")


def _parent_in(key: str) -> str | None:
    """The session whose sub-agent a session is, by its key."""
    session, found, _agent = key.partition("/")
    return session if found else None
