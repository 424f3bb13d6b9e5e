"""The database of claude-mem, `~/.claude-mem/claude-mem.db`.

Confirmed in its sources were the steps 4 to 11, 16, 17 and 19 to 21 of its schema, and the whole
schema as of steps 31 and 35 (tables `sdk_sessions`, `observations`, `session_summaries`,
`user_prompts`, later `directives`; until step 17 the columns `claude_session_id` and
`sdk_session_id`, then `content_session_id` and `memory_session_id`; later
`user_prompts.session_db_id`), and steps 1 to 3 of the generation before (`sessions`, `memories`,
`overviews`). Times are milliseconds. A database that grew over the years has both.

Observations and summaries are what a model wrote about a session, not what was said in it. The
prompts are cut and cleaned by claude-mem, and know nothing of the ids in the logs of the agent, so
that they cannot be told from the same prompts read there: they come as notes. Summaries stand in
no log, and so join their session.
"""

from collections.abc import Iterator
from typing import Final

from cloxy_core.services.exchange import foreign_claude_mem_rows as rows
from cloxy_core.services.exchange.foreign_claude_mem_rows import Session, content_id, memory_id
from cloxy_core.services.exchange.foreign_memories import (
    ForeignMessage,
    ForeignNote,
    TableReader,
    Told,
)
from cloxy_core.services.exchange.foreign_records import Record, records, tell_left_out
from cloxy_core.services.exchange.foreign_values import text_of, whole

_OWN: Final = "observer-sessions"
"""Project of the sessions in which claude-mem's own model works; old versions recorded them."""

_OWN_WORDS: Final = "records of claude-mem's own work (left out)"
_LEFT_OUT: Final = {
    "pending_messages": "pieces of work that claude-mem has not done yet",
    "observation_feedback": "uses of observations",
    "transcript_events": "raw events of sessions",
    "diagnostics": "diagnoses of claude-mem",
}


class _Sessions:
    """All sessions of a database; there are few of them beside what belongs to them."""

    def __init__(self) -> None:
        self._by_memory: dict[str, Session] = {}
        self._by_key: dict[str, Session] = {}
        self._by_row: dict[int, Session] = {}

    def add(self, record: Record) -> None:
        """Take one in."""
        session = Session(
            key=content_id(record),
            platform=text_of(record["platform_source"]) or rows.PLATFORM,
            project=text_of(record["project"]),
            title=text_of(record["custom_title"]),
        )
        if (memory := memory_id(record)) is not None:
            self._by_memory[memory] = session
        if session.key is not None:
            self._by_key.setdefault(session.key, session)
        if (row := whole(record["id"])) is not None:
            self._by_row[row] = session

    def of_memory(self, record: Record) -> Session | None:
        """The session of an observation or a summary."""
        return self._by_memory.get(memory_id(record) or "")

    def of_prompt(self, record: Record) -> Session | None:
        """The session of a prompt; the same key may be there once for each platform."""
        found = self.of_row(record["session_db_id"])
        return found or self._by_key.get(content_id(record) or "")

    def of_row(self, number: object) -> Session | None:
        """The session of a row."""
        row = whole(number)
        return self._by_row.get(row) if row is not None else None


class ClaudeMem:
    """Reads it; see `DatabaseSystem`."""

    name = "claude-mem"

    def knows(self, database: TableReader) -> bool:
        """Whether it has the tables of one of both generations."""
        return _is_current(database) or _is_early(database)

    def differs(self, database: TableReader) -> str | None:
        """Whether a column is missing without which nothing can be told."""
        if not _is_current(database):
            return None
        sessions, observed = database.columns("sdk_sessions"), database.columns("observations")
        if not sessions & {"content_session_id", "claude_session_id"}:
            return "its table sdk_sessions does not say which sessions of the agent it is about"
        if not observed & {"text", "narrative", "title"}:
            return "its table observations holds no texts"
        if not observed & set(rows.TIMES):
            return "its table observations holds no times"
        prompts = database.columns("user_prompts")
        if prompts and "prompt_text" not in prompts:
            return "its table user_prompts holds no prompts"
        return None

    def items(self, database: TableReader, told: Told) -> Iterator[ForeignNote | ForeignMessage]:
        """Notes (of the early generation first), then what joins sessions."""
        sessions = _Sessions()
        # Damage of this table is told when it is read for its prompts.
        for record in records(database, Told(), "sdk_sessions", rows.SESSION_COLUMNS):
            sessions.add(record)
        yield from _notes(database, sessions, told)
        yield from _summaries(database, sessions, told)
        for table, words in _LEFT_OUT.items():
            tell_left_out(database, told, table, words)


def _is_current(database: TableReader) -> bool:
    return {"sdk_sessions", "observations"} <= database.tables() and {
        "project",
        "type",
    } <= database.columns("observations")


def _is_early(database: TableReader) -> bool:
    return {"sessions", "memories", "overviews"} <= database.tables() and {
        *("session_id", "text", "document_id", "keywords", "project", "archive_basename"),
    } <= database.columns("memories")


def _notes(database: TableReader, sessions: _Sessions, told: Told) -> Iterator[ForeignNote]:
    if _is_early(database):
        for record in records(database, told, "memories", rows.MEMORY_COLUMNS):
            yield from rows.memory(record, told)
    if _is_current(database):
        for record in records(database, told, "observations", rows.OBSERVATION_COLUMNS):
            if not _is_own(record["project"], told):
                yield from rows.observation(record, sessions.of_memory(record), told)
    yield from _prompts(database, sessions, told)
    for record in records(database, told, "directives", rows.DIRECTIVE_COLUMNS):
        yield from rows.directive(record, told)


def _prompts(database: TableReader, sessions: _Sessions, told: Told) -> Iterator[ForeignNote]:
    """What people asked; until step 10 the first prompt of a session stands with it alone."""
    asked: set[str] = set()
    for record in records(database, told, "user_prompts", rows.PROMPT_COLUMNS):
        session, key = sessions.of_prompt(record), content_id(record)
        asked.add(key or "")
        if session is None or not _is_own(session.project, told):
            yield from rows.prompt(record, session, told)
    for record in records(database, told, "sdk_sessions", rows.FIRST_COLUMNS):
        if (content_id(record) or "") in asked or text_of(record["user_prompt"]) is None:
            continue
        if not _is_own(record["project"], told):
            yield from rows.first_prompt(record, sessions.of_row(record["id"]))


def _summaries(
    database: TableReader, sessions: _Sessions, told: Told
) -> Iterator[ForeignNote | ForeignMessage]:
    if _is_early(database):
        for record in records(database, told, "overviews", rows.OVERVIEW_COLUMNS):
            yield from rows.overview(record, told)
    if _is_current(database):
        for record in records(database, told, "session_summaries", rows.SUMMARY_COLUMNS):
            if not _is_own(record["project"], told):
                yield from rows.summary(record, sessions.of_memory(record), told)


def _is_own(project: object, told: Told) -> bool:
    """Whether something is of claude-mem's own sessions, which it does not show itself."""
    if project != _OWN:
        return False
    told.homeless[_OWN_WORDS] += 1
    return True
