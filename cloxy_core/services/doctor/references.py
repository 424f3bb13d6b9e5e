"""Rows that refer to rows that are not there."""

import json
import re
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from cloxy_core.services.doctor.buried import buried_by_index, bury_again
from cloxy_core.services.doctor.copying import quoted
from cloxy_core.store.connections import connect
from cloxy_core.store.library import driver

# The label of a memory from a session log: `convo:<session>:<ordinal>`.
_LABEL = re.compile(r"convo:(.+):\d+")
_HOMELESS = """
    SELECT DISTINCT session_id, source, extra, occurred_from FROM memories
    WHERE session_id IS NOT NULL AND session_id NOT IN (SELECT id FROM sessions) ORDER BY id
"""
_MAKE = """
    INSERT OR IGNORE INTO sessions (id, agent, "key", title_rank, program, started_at)
    VALUES (?, ?, ?, 0, 0, ?)
"""
_EMPTY = (
    ("memories", "session_id", "sessions"),
    ("memories", "project_id", "projects"),
    ("memories", "source_id", "sources"),
    ("sessions", "project_id", "projects"),
    ("passages", "session_id", "sessions"),
)
_REMOVE = (
    ("passages", "memory_id", "memories"),
    ("embeddings", "passage_id", "passages"),
    ("embeddings", "space_id", "embedding_spaces"),
    ("dead_letters", "source_id", "sources"),
)

# The list of what was forgotten is left out: its index holds it all, and gives it back.
_INDEXES = """
    SELECT m.name, i.name FROM sqlite_schema m, pragma_index_list(m.name) i
    WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND NOT i.partial
    AND m.name <> 'tombstones'
"""


def mend_references(connection: Connection) -> int:
    """Make missing sessions anew, empty other references, remove rows that are parts of nothing.

    Args:
        connection: a write transaction.

    Returns:
        How many rows were changed.
    """
    changed = _make_sessions(connection)
    for table, column, parent in _EMPTY:
        changed += connection.exec_driver_sql(
            f"UPDATE {table} SET {column} = NULL WHERE {column} IS NOT NULL"  # noqa: S608 - our names
            f" AND {column} NOT IN (SELECT id FROM {parent})"
        ).rowcount
    for table, column, parent in _REMOVE:
        changed += connection.exec_driver_sql(
            f"DELETE FROM {table} WHERE {column} NOT IN (SELECT id FROM {parent})"  # noqa: S608 - our names
        ).rowcount
    return changed


def _make_sessions(connection: Connection) -> int:
    """Sessions that only their memories tell of; the logs give them their titles again."""
    made = 0
    for session, source, extra, began in connection.exec_driver_sql(_HOMELESS).all():
        label = _LABEL.fullmatch(source)
        agent = _agent(extra)
        if label is None or agent is None:
            continue
        made += connection.exec_driver_sql(_MAKE, (session, agent, label[1], began)).rowcount
    return made


def _agent(extra: str) -> str | None:
    try:
        found = json.loads(extra)
    except ValueError:
        return None
    agent = found.get("agent") if isinstance(found, dict) else None
    return agent if isinstance(agent, str) else None


def make_indexes_anew(database: Path, now: int) -> bool:
    """Make all ordinary indexes anew from their tables; whether that was enough.

    It is not where a table has fewer rows than an index of it: rows went unnoticed, for example
    with a page that the disk never wrote, and an index made anew would hide that.

    Args:
        database: a file that nobody has open.
        now: milliseconds.
    """
    connection = connect(database, "mode=rw")
    try:
        if _lost_rows(connection):
            return False
        buried = buried_by_index(connection, "main")
        connection.execute("REINDEX")
        bury_again(connection, buried, now)
        return bool(connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
    except driver.Error:
        return False
    finally:
        connection.close()


def _lost_rows(connection: Any) -> bool:  # noqa: ANN401 - the driver's
    """Whether an index names more rows than its table has."""
    for table, index in connection.execute(_INDEXES).fetchall():
        rows, entries = (
            int(connection.execute(f"SELECT count(*) FROM {quoted(table)} {how}").fetchone()[0])  # noqa: S608 - quoted
            for how in ("NOT INDEXED", f"INDEXED BY {quoted(index)}")
        )
        if entries > rows:
            return True
    return False
