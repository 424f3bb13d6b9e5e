"""Reading memories and conversations as they stand."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, String, select, type_coerce

from cloxy_core.store.engine import Store
from cloxy_hookspecs import IntegrityError, NotFoundError, StoredMemory, StoredSession
from cloxy_hookspecs.tables import memories, passages, projects, sessions

STRETCH = 200
"""Most memories of one stretch."""


class Archive:
    """Implements `ArchiveReader`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def memory(self, memory_id: int) -> StoredMemory:
        """One memory.

        Raises:
            NotFoundError: no such memory.
            IntegrityError: its text is not what was stored.
        """
        return await self._store.read(lambda c: _one_memory(c, memory_id))

    async def session(self, key: str, *, start: int, characters: int) -> StoredSession:
        """A stretch of a conversation; memories whose text is damaged are left out.

        Raises:
            NotFoundError: no such session.
        """
        return await self._store.read(lambda c: _stretch(c, key, start, characters))


def _one_memory(connection: Connection, memory_id: int) -> StoredMemory:
    row = connection.execute(_rows().where(memories.c.id == memory_id)).mappings().first()
    if row is None:
        raise NotFoundError(
            f"there is no memory {memory_id}", hint="`recall` shows the ids of memories"
        )
    if not _is_sound(row):
        raise IntegrityError(
            f"the text of memory {memory_id} is damaged", hint="run `cloxy doctor`"
        )
    spoke = _who_spoke(connection, [memory_id])
    return _memory(row, spoke.get(memory_id, ()))


def _stretch(connection: Connection, key: str, start: int, characters: int) -> StoredSession:
    session = (
        connection.execute(
            select(sessions, projects.c.path)
            .outerjoin(projects, projects.c.id == sessions.c.project_id)
            .where(sessions.c.key == key)
            .order_by(sessions.c.started_at.desc(), sessions.c.id.desc())
        )
        .mappings()
        .first()
    )
    if session is None:
        raise NotFoundError("there is no such session", hint="`recall` shows the ids of sessions")
    statement = (
        _rows()
        .where(memories.c.session_id == session["id"], memories.c.ordinal >= start)
        .order_by(memories.c.ordinal)
        .limit(STRETCH + 1)
    )
    rows = connection.execute(statement).mappings().all()
    shown, following = _that_fit(rows, characters)
    spoke = _who_spoke(connection, [row["id"] for row in shown])
    return StoredSession(
        key=session["key"],
        agent=session["agent"],
        title=session["title"],
        project=session["path"],
        parent=session["parent_key"],
        started_at=session["started_at"],
        ended_at=session["ended_at"],
        memories=tuple(_memory(row, spoke.get(row["id"], ())) for row in shown if _is_sound(row)),
        next=following,
    )


def _that_fit(rows: Iterable[RowMapping], characters: int) -> tuple[list[RowMapping], int | None]:
    """Rows up to a number of characters, one at least, and the ordinal of the next."""
    shown: list[RowMapping] = []
    size = 0
    for row in rows:
        size += len(row["content"])
        if shown and (size > characters or len(shown) >= STRETCH):
            return shown, row["ordinal"]
        shown.append(row)
    return shown, None


def _rows() -> Select[*tuple[Any, ...]]:
    columns = memories.c
    return (
        select(
            columns.id,
            columns.uid,
            columns.content,
            columns.content_hash,
            columns.source,
            columns.ordinal,
            columns.occurred_from,
            columns.occurred_to,
            # Decoded here, since damage must not fail the whole answer.
            type_coerce(columns.extra, String).label("extra"),
            projects.c.path,
            sessions.c.key,
            sessions.c.title,
        )
        .outerjoin(projects, projects.c.id == columns.project_id)
        .outerjoin(sessions, sessions.c.id == columns.session_id)
        .where(columns.state == "active")
    )


def _is_sound(row: RowMapping) -> bool:
    content = hashlib.sha256(row["content"].encode(errors="replace")).hexdigest()
    return bool(content == row["content_hash"])


def _who_spoke(
    connection: Connection, ids: Iterable[int]
) -> Mapping[int, tuple[tuple[str, str], ...]]:
    """Role and author of the passages of memories, by memory, in order."""
    statement = (
        select(passages.c.memory_id, passages.c.role, passages.c.author)
        .where(passages.c.memory_id.in_(list(ids)))
        .order_by(passages.c.memory_id, passages.c.char_start)
    )
    spoke: dict[int, tuple[tuple[str, str], ...]] = {}
    for memory_id, role, author in connection.execute(statement):
        spoke[memory_id] = (*spoke.get(memory_id, ()), (role, author))
    return spoke


def _memory(row: RowMapping, spoke: tuple[tuple[str, str], ...]) -> StoredMemory:
    return StoredMemory(
        id=row["id"],
        uid=row["uid"],
        content=row["content"],
        source=row["source"],
        project=row["path"],
        session=row["key"],
        title=row["title"],
        roles=tuple(dict.fromkeys(role for role, _author in spoke)),
        authors=tuple(dict.fromkeys(author for _role, author in spoke)),
        at_from=row["occurred_from"],
        at_to=row["occurred_to"],
        metadata=_metadata(row["extra"]),
    )


def _metadata(extra: str) -> Mapping[str, object]:
    try:
        facts = json.loads(extra)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}
