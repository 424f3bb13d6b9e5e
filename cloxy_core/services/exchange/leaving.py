"""What an export says: the rows of one snapshot, a line after the other."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, or_, select

from cloxy_core.services.exchange.form import FORMAT, IMPORTED, VERSION, time_text
from cloxy_core.services.exchange.ruling import TRANSCRIPT
from cloxy_core.services.write.transcripts import APPROXIMATE
from cloxy_core.store.filters import filter_clause
from cloxy_hookspecs import Filters
from cloxy_hookspecs.tables import memories, passages, projects, sessions, sources

_AT_ONCE = 200
_TELL_EVERY = 500
Line = Mapping[str, object]


@dataclass(slots=True)
class Counts:
    """How many lines there are of each kind."""

    sessions: int = 0
    messages: int = 0
    notes: int = 0


@dataclass(frozen=True, slots=True)
class Leaving:
    """One export.

    Attributes:
        connection: a read transaction, which is the snapshot.
        filters: what is wanted, as for recall; a message is whole or not there at all.
        cloxy: version of Cloxy, for the header.
        now: time for the header, milliseconds.
        tell: told how many messages and notes were handed out.
        counts: grows while lines are handed out.
    """

    connection: Connection
    filters: Filters
    cloxy: str
    now: int
    tell: Callable[[int], None]
    counts: Counts = field(default_factory=Counts)

    def lines(self) -> Iterator[Line]:
        """Header, sessions each before its messages, notes, end."""
        yield {
            "kind": "header",
            "format": FORMAT,
            "version": VERSION,
            "cloxy": self.cloxy,
            "time": time_text(self.now),
        }
        conditions = and_(True, *filter_clause(self.connection, self.filters))
        narrowed = self.filters != Filters()
        for session in self._stream(_sessions(conditions, narrowed=narrowed)):
            self.counts.sessions += 1
            yield _session_line(session)
            for line in self._messages(session, _wanted(conditions) if narrowed else None):
                yield self._counted(line)
        for note in self._stream(_notes(conditions)):
            self.counts.notes += 1
            yield self._counted(_note_line(note))
        done = self.counts
        yield {
            "kind": "end",
            "sessions": done.sessions,
            "messages": done.messages,
            "notes": done.notes,
        }

    def total(self) -> int:
        """About how many messages and notes the whole memory has, for the progress."""
        statement = select(func.count()).select_from(passages).where(passages.c.part == 0)
        return self.connection.execute(statement).scalar_one()

    def _counted(self, line: Line) -> Line:
        count = self.counts.messages + self.counts.notes
        if count % _TELL_EVERY == 0:
            self.tell(count)
        return line

    def _messages(self, session: Row[*tuple[object, ...]], wanted: object) -> Iterator[Line]:
        """The messages of a session; the parts of a long one are put together."""
        waiting: dict[str, object] | None = None
        texts: list[str] = []
        for row in self._stream(_parts(session.id, wanted)):
            if waiting is not None and (waiting["uid"] != row.message_uid or row.part == 0):
                yield self._message(waiting, texts)
                waiting = None
            if waiting is None:
                waiting, texts = _message_line(session, row), []
            texts.append(row.text)
        if waiting is not None:
            yield self._message(waiting, texts)

    def _message(self, waiting: dict[str, object], texts: list[str]) -> Line:
        self.counts.messages += 1
        return {**waiting, "text": "".join(texts)}

    def _stream(self, statement: Select[*tuple[object, ...]]) -> Iterator[Row[*tuple[object, ...]]]:
        """Rows as they come, so that memory does not grow with the number of them."""
        yield from self.connection.execution_options(yield_per=_AT_ONCE).execute(statement)


def _sessions(conditions: ColumnElement[bool], *, narrowed: bool) -> Select[*tuple[object, ...]]:
    statement = (
        select(sessions, projects.c.path)
        .outerjoin(projects, projects.c.id == sessions.c.project_id)
        .order_by(sessions.c.id)
    )
    if not narrowed:
        return statement
    within = (
        select(passages.c.id)
        .join(memories, memories.c.id == passages.c.memory_id)
        .where(passages.c.session_id == sessions.c.id, memories.c.state == "active", conditions)
    )
    return statement.where(within.correlate(sessions).exists())


_memory = memories.alias("memory")
_passage = passages.alias("passage")


def _wanted(conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether any part of the message of `_passage` meets the conditions."""
    same_message = and_(
        passages.c.session_id == _passage.c.session_id,
        or_(
            passages.c.id == _passage.c.id,
            passages.c.message_uid == _passage.c.message_uid,
        ),
    )
    return (
        select(passages.c.id)
        .join(memories, memories.c.id == passages.c.memory_id)
        .where(same_message, conditions)
        .correlate(_passage)
        .exists()
    )


def _parts(session_id: object, wanted: object) -> Select[*tuple[object, ...]]:
    text = func.substr(
        _memory.c.content,
        _passage.c.char_start + 1,
        _passage.c.char_end - _passage.c.char_start,
    )
    statement = (
        select(
            _passage.c.message_uid,
            _passage.c.part,
            _passage.c.role,
            _passage.c.author,
            _passage.c.occurred_at,
            _memory.c.extra,
            _memory.c.origin,
            sources.c.plugin,
            sources.c.uri,
            text.label("text"),
        )
        .join(_memory, _memory.c.id == _passage.c.memory_id)
        .outerjoin(sources, sources.c.id == _memory.c.source_id)
        .where(_memory.c.session_id == session_id, _memory.c.state == "active")
        .order_by(_memory.c.ordinal, _passage.c.ordinal)
    )
    return statement if wanted is None else statement.where(wanted)  # type: ignore[arg-type]


def _notes(conditions: ColumnElement[bool]) -> Select[*tuple[object, ...]]:
    within = select(passages.c.id).where(passages.c.memory_id == memories.c.id, conditions)
    return (
        select(memories, projects.c.path)
        .outerjoin(projects, projects.c.id == memories.c.project_id)
        .where(
            memories.c.session_id.is_(None),
            memories.c.state == "active",
            within.correlate(memories).exists(),
        )
        .order_by(memories.c.id)
    )


def _session_line(row: Row[*tuple[object, ...]]) -> Line:
    return {
        "kind": "session",
        "agent": row.agent,
        "key": row.key,
        "parent": row.parent_key,
        "project": row.path,
        "cwd": row.cwd,
        "branch": row.branch,
        "title": row.title,
        "title_rank": row.title_rank,
        "program": bool(row.program),
        "relation": row.relation,
        "started": time_text(row.started_at),
        "ended": time_text(row.ended_at),
    }


def _message_line(
    session: Row[*tuple[object, ...]], row: Row[*tuple[object, ...]]
) -> dict[str, object]:
    extra = row.extra if isinstance(row.extra, dict) else {}
    unnamed = row.plugin == IMPORTED and row.uri.startswith("(")
    return {
        "kind": "message",
        "agent": session.agent,
        "session": session.key,
        "uid": row.message_uid,
        "role": row.role,
        "author": row.author,
        "text": "",
        "time": time_text(row.occurred_at),
        "branch": extra.get("git_branch"),
        "source": None if unnamed else row.uri,
        "origin": None if row.origin == TRANSCRIPT.name else row.origin,
        "model": extra.get("model") if row.role == "assistant" else None,
        "approximate": extra.get("time") == APPROXIMATE,
    }


def _note_line(row: Row[*tuple[object, ...]]) -> Line:
    return {
        "kind": "note",
        "uid": row.uid,
        "origin": row.origin,
        "text": row.content,
        "source": row.source,
        "part": row.ordinal,
        "project": row.path,
        "memory_kind": row.kind,
        "tier": row.tier,
        "metadata": row.extra,
        "time": time_text(row.occurred_from),
    }
