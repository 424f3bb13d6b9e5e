"""The tables of OpenCode's database: what was said in a session.

Only the tables and columns that are named here and in `listing` are ever read; the same file
holds accounts, credentials and keys of shared sessions. Version 1 has a row for each message and
each of its parts, version 2 a row for each message; a database that was moved to version 2 has
both for old sessions, mostly under the same ids.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from cloxy_hookspecs import ForeignDatabase
from cloxy_plugins.opencode.copies import drop_copies, originals_of
from cloxy_plugins.opencode.listing import SESSIONS
from cloxy_plugins.opencode.records import Said, Talk, said_in, said_in_entry, take_part
from cloxy_plugins.opencode.titles import is_placeholder
from cloxy_plugins.opencode.values import LARGEST, decode, milliseconds, text_in, usable_id

_COLUMNS = ("id", "parent_id", "fork_session_id", "directory", "title", "project_id")
_NOISE = frozenset(
    {
        "agent-switched",
        "idle",
        "location-switched",
        "model-switched",
        "shell",
        "skill",
        "synthetic",
        "system",
    }
)
_MOST_COPIES = 20_000

_MESSAGES = (
    "SELECT id, time_created, CASE WHEN length(data) <= ? THEN data END"
    " FROM message WHERE session_id = ? ORDER BY time_created, id"
)
# What tools did is most of a database; it is not even fetched.
_PARTS = (
    "SELECT message_id, CASE WHEN length(data) <= ? THEN data END FROM part"
    " WHERE session_id = ? AND coalesce(substr(data, 1, 14), '') <> '{\"type\":\"tool\"'"
    " ORDER BY message_id, id"
)
_ENTRIES = (
    "SELECT id, type, time_created, CASE WHEN length(data) <= ? THEN data END"
    " FROM session_message WHERE session_id = ? ORDER BY {order}, id"
)


def talk_in(database: ForeignDatabase, key: str) -> Talk | None:
    """What was said in a session; None when there is none.

    Raises:
        ForeignDatabaseError: it cannot be read.
    """
    tables = database.tables()
    talk = _head(database, tables, key)
    if talk is None:
        return None
    first: list[Said] = []
    if {"message", "part"} <= tables:
        first = list(_messages(database, talk))
    later = list(_entries(database, talk)) if "session_message" in tables else []
    talk.said = _merged(first, later)
    if first:
        others = _of_same_time(database, key, "message")
        drop_copies(talk, originals_of(talk, others), partial(_read_messages, database))
    if later:
        others = _of_same_time(database, key, "session_message")
        drop_copies(talk, originals_of(talk, others), partial(_read_entries, database))
    return talk


def _of_same_time(
    database: ForeignDatabase, session: str, table: str
) -> list[tuple[int, str, str]]:
    """Time, id and session of messages of other sessions from the same milliseconds."""
    statement = (
        f"SELECT time_created, id, session_id FROM {table}"  # noqa: S608 - a name of ours
        f" WHERE time_created IN (SELECT time_created FROM {table} WHERE session_id = ?1)"
        f" AND session_id <> ?1 LIMIT {_MOST_COPIES}"
    )
    found: list[tuple[int, str, str]] = []
    for created, uid, other in database.rows(statement, (session,)):
        usable, owner = usable_id(uid), usable_id(other)
        if usable is not None and owner is not None:
            found.append((milliseconds(created), usable, owner))
    return found


def _head(database: ForeignDatabase, tables: frozenset[str], key: str) -> Talk | None:
    for table in SESSIONS:
        if table not in tables:
            continue
        columns = database.columns(table)
        wanted = ", ".join(name if name in columns else "NULL" for name in _COLUMNS)
        for row in database.rows(f"SELECT {wanted} FROM {table} WHERE id = ?", (key,)):  # noqa: S608
            values: dict[str, object] = dict(zip(_COLUMNS, row, strict=True))
            return _talk(database, tables, key, values)
    return None


def _talk(
    database: ForeignDatabase, tables: frozenset[str], key: str, values: Mapping[str, object]
) -> Talk:
    parent, fork = usable_id(values["parent_id"]), usable_id(values["fork_session_id"])
    title = text_in(values, "title")
    directory = text_in(values, "directory")
    if not directory and "project" in tables:
        rows = database.rows("SELECT worktree FROM project WHERE id = ?", (values["project_id"],))
        directory = next((row for (row,) in rows if isinstance(row, str) and row != "/"), "")
    return Talk(
        key,
        parent=parent or fork or "",
        relation="subagent" if parent else "fork" if fork else "",
        directory=directory,
        title="" if is_placeholder(title) else title,
    )


def _messages(database: ForeignDatabase, talk: Talk) -> Iterator[Said]:
    """Messages of version 1, in order, with their parts."""
    found: dict[str, Said] = {}
    lost: set[object] = set()
    for uid, created, data in database.rows(_MESSAGES, (LARGEST, talk.id)):
        message, usable = decode(data), usable_id(uid)
        if message is None or usable is None:
            talk.damaged.append("message")
            lost.add(uid)
        else:
            found[usable] = said_in(usable, message, created)
    for uid, data in database.rows(_PARTS, (LARGEST, talk.id)):
        said = found.get(uid) if isinstance(uid, str) else None
        if said is not None:
            take_part(said, decode(data))
        elif uid not in lost:
            talk.damaged.append("part without its message")
    yield from found.values()


def _entries(database: ForeignDatabase, talk: Talk) -> Iterator[Said]:
    """Messages of version 2, in order."""
    order = "seq" if "seq" in database.columns("session_message") else "time_created"
    statement = _ENTRIES.format(order=order)
    for uid, kind, created, data in database.rows(statement, (LARGEST, talk.id)):
        if kind in _NOISE:
            continue
        entry, usable = decode(data), usable_id(uid)
        if entry is None or usable is None or not isinstance(kind, str):
            talk.damaged.append("message")
        else:
            yield said_in_entry(usable, kind, entry, created)


def _merged(first: list[Said], later: list[Said]) -> list[Said]:
    """Messages of both versions, each once; those of the first keep their form."""
    if not first or not later:
        return first or later
    known = {said.id: said for said in first}
    summaries = {said.words for said in first if said.role == "summary"}
    heard = {(said.role, said.words, said.created) for said in first}
    new = []
    for said in later:
        old = known.get(said.id)
        if old is not None:
            if not old.parts and not old.damaged and said.parts and old.role == said.role:
                old.parts = said.parts
        elif (said.role, said.words, said.created) not in heard and not (
            said.role == "summary" and said.words in summaries
        ):
            new.append(said)
    return sorted([*first, *new], key=lambda said: said.created)


def _read_messages(database: ForeignDatabase, ids: Iterable[str]) -> Iterator[Said]:
    """Messages of version 1 by their ids."""
    for uid in ids:
        for created, data in database.rows(
            "SELECT time_created, data FROM message WHERE id = ? AND length(data) <= ?",
            (uid, LARGEST),
        ):
            message = decode(data)
            if message is not None:
                said = said_in(uid, message, created)
                for (part,) in database.rows(
                    "SELECT data FROM part WHERE message_id = ? AND length(data) <= ?"
                    ' AND substr(data, 1, 14) <> \'{"type":"tool"\' ORDER BY id',
                    (uid, LARGEST),
                ):
                    take_part(said, decode(part))
                yield said


def _read_entries(database: ForeignDatabase, ids: Iterable[str]) -> Iterator[Said]:
    """Messages of version 2 by their ids."""
    for uid in ids:
        for kind, created, data in database.rows(
            "SELECT type, time_created, data FROM session_message"
            " WHERE id = ? AND length(data) <= ?",
            (uid, LARGEST),
        ):
            entry = decode(data)
            if entry is not None and isinstance(kind, str):
                yield said_in_entry(uid, kind, entry, created)
