"""Sessions and projects during one transaction.

A session's row is read once, changed in memory as runs of messages arrive, and written once.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import Connection, bindparam, insert, select, update

from cloxy_core.services.passage_rows import PASSAGE_TEXT
from cloxy_core.store.project_keys import project_key
from cloxy_core.store.sequence import next_ids
from cloxy_hookspecs import SessionFacts
from cloxy_hookspecs.tables import memories, passages, projects, sessions

FIRST_WORDS = 1
"""Highest rank of a title that is only the first words of the conversation."""

UNTOLD = ""
"""Stands for the indexed title of a session that the indexes do not know as it is now."""

FIELDS = (
    "parent_key",
    "project_id",
    "cwd",
    "branch",
    "title",
    "title_rank",
    "indexed_title",
    "program",
    "started_at",
    "ended_at",
    "relation",
)


@dataclass(slots=True)
class OpenMemory:
    """The memory that the next message may still join."""

    id: int
    content: str
    version: int
    passages: int
    occurred_to: int | None
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class LastPassage:
    """One of the last passages of a session, needed for its neighbours."""

    id: int
    text: str
    role: str
    at: int | None


@dataclass(slots=True)
class SessionState:
    """A session while messages are written to it."""

    id: int
    agent: str
    key: str
    was_stored: bool
    project: str | None = None
    values: dict[str, object] = field(default_factory=dict)
    next_ordinal: int = 0
    open_memory: OpenMemory | None = None
    last: list[LastPassage] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    changed: bool = False

    @property
    def title(self) -> str | None:
        """Best title so far."""
        title = self.values["title"]
        return title if isinstance(title, str) else None

    def learn(self, facts: SessionFacts) -> bool:
        """Take in what a run says; whether the title changed."""
        before = dict(self.values)
        if self.values["parent_key"] is None:
            self.values["parent_key"] = facts.parent
        if self.values["relation"] is None:
            self.values["relation"] = facts.relation
        if self.values["cwd"] is None:
            self.values["cwd"] = facts.cwd
        if facts.branch:
            self.values["branch"] = facts.branch
        self.values["program"] = bool(self.values["program"]) or facts.program
        rank = self.values["title_rank"]
        if facts.title and isinstance(rank, int) and facts.title_rank >= rank:
            # The first words of a conversation are its title until there is a better one.
            lowest = rank == facts.title_rank <= FIRST_WORDS and self.title is not None
            if not lowest:
                self.values["title"] = facts.title
                self.values["title_rank"] = facts.title_rank
        self.changed |= before != self.values
        return before["title"] != self.values["title"]

    def drop_title(self, *texts: str) -> bool:
        """Give up a title that quotes one of these texts; whether it did."""
        if not quotes(self.title, texts):
            return False
        self.values["title"], self.values["title_rank"], self.changed = None, 0, True
        return True

    def note_header(self, *, changed: bool) -> bool:
        """Keep track of what the indexes know; whether stored passages carry an old header.

        Until they are indexed anew the session says so, should a crash come between.
        """
        stale = changed and bool(self.last)
        known = UNTOLD if stale else self.title
        if (stale or not self.last) and self.values["indexed_title"] != known:
            self.values["indexed_title"], self.changed = known, True
        return stale

    def saw(self, at: int | None) -> None:
        """Widen the session's span of time."""
        if at is None:
            return
        started, ended = self.values["started_at"], self.values["ended_at"]
        if not isinstance(started, int) or at < started:
            self.values["started_at"], self.changed = at, True
        if not isinstance(ended, int) or at > ended:
            self.values["ended_at"], self.changed = at, True


class SessionBook:
    """All sessions that one transaction touches."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._states: dict[tuple[str, str], SessionState] = {}
        self._projects: dict[str, tuple[int, str]] = {}

    def load(self, agent: str, keys: Iterable[str]) -> None:
        """Read or make the sessions of these keys."""
        wanted = [key for key in dict.fromkeys(keys) if (agent, key) not in self._states]
        if not wanted:
            return
        rows = self._connection.execute(
            select(sessions, projects.c.path)
            .outerjoin(projects, projects.c.id == sessions.c.project_id)
            .where(sessions.c.agent == agent, sessions.c.key.in_(wanted))
        ).mappings()
        for row in rows:
            state = SessionState(row["id"], agent, row["key"], was_stored=True, project=row["path"])
            state.values = {name: row[name] for name in FIELDS}
            self.load_end(state)
            self._states[agent, row["key"]] = state
        missing = [key for key in wanted if (agent, key) not in self._states]
        for identifier, key in zip(
            next_ids(self._connection, sessions, len(missing)), missing, strict=True
        ):
            state = SessionState(identifier, agent, key, was_stored=False, changed=True)
            state.values = dict.fromkeys(FIELDS) | {"title_rank": 0, "program": False}
            self._states[agent, key] = state

    def get(self, agent: str, key: str) -> SessionState:
        """A session that was loaded."""
        return self._states[agent, key]

    def leave_out(self, agent: str, key: str) -> bool:
        """Do without a session that is not stored yet; whether it is so."""
        state = self._states.get((agent, key))
        if state is None or state.was_stored:
            return False
        del self._states[agent, key]
        return True

    def settle(self, state: SessionState, project: str | None) -> bool:
        """Give a session its project if it has none yet; whether it got one now."""
        if project is None or state.values["project_id"] is not None:
            return False
        state.values["project_id"], state.project = self.project(project)
        state.changed = True
        return True

    def project(self, path: str) -> tuple[int, str]:
        """Id and shown path of a project, made on first use; spellings of one path are one."""
        key = project_key(path)
        known = self._projects.get(key)
        if known is None:
            known = self._projects[key] = self._find_project(key) or self._add_project(key, path)
        return known

    def _find_project(self, key: str) -> tuple[int, str] | None:
        found = self._connection.execute(
            select(projects.c.id, projects.c.path).where(projects.c.key == key)
        ).first()
        return (found.id, found.path) if found else None

    def _add_project(self, key: str, path: str) -> tuple[int, str]:
        (identifier,) = next_ids(self._connection, projects, 1)
        self._connection.execute(insert(projects), {"id": identifier, "key": key, "path": path})
        return identifier, path

    def write_new(self) -> None:
        """Insert the new sessions, before anything refers to them."""
        fresh = [state for state in self._states.values() if not state.was_stored]
        if fresh:
            self._connection.execute(insert(sessions), [_row(state) for state in fresh])
        for state in fresh:
            state.changed = False

    def write_changed(self) -> None:
        """Update the sessions that changed since they were read."""
        changed = [state for state in self._states.values() if state.changed]
        if not changed:
            return
        self._connection.execute(
            _UPDATE, [{"session": state.id, **state.values} for state in changed]
        )

    def load_end(self, state: SessionState) -> None:
        """Where the session's text ends: its last memory and its last two passages."""
        state.open_memory, state.last = None, []
        memory = self._connection.execute(_LAST_MEMORY, {"session": state.id}).first()
        if memory is None:
            return
        state.next_ordinal = memory.ordinal + 1
        rows = self._connection.execute(_LAST_PASSAGES, {"session": state.id}).all()
        state.last = [LastPassage(r.id, r.text, r.role, r.occurred_at) for r in reversed(rows)]
        if memory.open:
            count = max((r.ordinal + 1 for r in rows if r.memory_id == memory.id), default=0)
            state.open_memory = OpenMemory(
                memory.id,
                memory.content,
                memory.version,
                count,
                memory.occurred_to,
                dict(memory.extra),
            )


# Made once: every session of a transaction asks, and making a statement costs more than its answer.
_LAST_MEMORY = (
    select(
        memories.c.id,
        memories.c.ordinal,
        memories.c.open,
        memories.c.content,
        memories.c.version,
        memories.c.occurred_to,
        memories.c.extra,
    )
    .where(memories.c.session_id == bindparam("session"))
    .order_by(memories.c.ordinal.desc())
    .limit(1)
)
_LAST_PASSAGES = (
    select(
        passages.c.id,
        passages.c.ordinal,
        passages.c.memory_id,
        passages.c.role,
        passages.c.occurred_at,
        PASSAGE_TEXT.label("text"),
    )
    .join(memories, memories.c.id == passages.c.memory_id)
    .where(passages.c.session_id == bindparam("session"))
    .order_by(passages.c.id.desc())
    .limit(2)
)
_UPDATE = (
    update(sessions)
    .where(sessions.c.id == bindparam("session"))
    .values({name: bindparam(name) for name in FIELDS})
)


def quotes(title: str | None, texts: Iterable[str]) -> bool:
    """Whether a title stands in one of some texts, but for white space and a cut end."""
    stem = " ".join((title or "").rstrip("…").split())
    return bool(stem) and any(stem in " ".join(text.split()) for text in texts)


def _row(state: SessionState) -> dict[str, object]:
    return {"id": state.id, "agent": state.agent, "key": state.key, **state.values}
