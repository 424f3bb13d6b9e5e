"""Passages as the indexes see them, read back from the store."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, func, select

from cloxy_core.services.headers import index_header
from cloxy_hookspecs import IndexRow
from cloxy_hookspecs.tables import memories, passages, projects, sessions

NEIGHBOUR = 150

PASSAGE_TEXT = func.substr(
    memories.c.content,
    passages.c.char_start + 1,
    passages.c.char_end - passages.c.char_start,
)


def index_rows(
    connection: Connection,
    *,
    after: int = 0,
    limit: int | None = None,
    ids: Sequence[int] | None = None,
    session: int | None = None,
) -> Sequence[IndexRow]:
    """Rows of active passages, by id.

    Args:
        connection: a transaction.
        after: only ids above this.
        limit: at most so many.
        ids: only these (at most 500).
        session: only passages of this session.
    """
    rows = connection.execute(_select_passages(after, limit, ids, session)).mappings().all()
    neighbours = _texts(connection, _neighbour_ids(rows))
    return [
        IndexRow(
            row["id"],
            index_header(row["occurred_at"], row["path"], row["title"], row["key"], row["role"]),
            row["text"],
            neighbours.get(row["previous"], "")[-NEIGHBOUR:],
            neighbours.get(row["following"], "")[:NEIGHBOUR],
        )
        for row in rows
    ]


def _select_passages(
    after: int, limit: int | None, ids: Sequence[int] | None, session: int | None
) -> Select[*tuple[Any, ...]]:
    beside = passages.alias("beside")
    same = beside.c.session_id == passages.c.session_id
    previous = select(func.max(beside.c.id)).where(same, beside.c.id < passages.c.id)
    following = select(func.min(beside.c.id)).where(same, beside.c.id > passages.c.id)
    statement = (
        select(
            passages.c.id,
            passages.c.occurred_at,
            passages.c.role,
            projects.c.path,
            sessions.c.title,
            sessions.c.key,
            PASSAGE_TEXT.label("text"),
            previous.scalar_subquery().label("previous"),
            following.scalar_subquery().label("following"),
        )
        .join(memories, memories.c.id == passages.c.memory_id)
        .outerjoin(sessions, sessions.c.id == passages.c.session_id)
        .outerjoin(projects, projects.c.id == memories.c.project_id)
        .where(passages.c.id > after, memories.c.state == "active")
        .order_by(passages.c.id)
    )
    if ids is not None:
        statement = statement.where(passages.c.id.in_(ids))
    if session is not None:
        statement = statement.where(passages.c.session_id == session)
    return statement if limit is None else statement.limit(limit)


def _neighbour_ids(rows: Sequence[RowMapping]) -> Sequence[int]:
    found = {row[name] for row in rows for name in ("previous", "following")}
    return sorted(found - {None})


def _texts(connection: Connection, ids: Sequence[int]) -> dict[int | None, str]:
    if not ids:
        return {}
    statement = (
        select(passages.c.id, PASSAGE_TEXT)
        .join(memories, memories.c.id == passages.c.memory_id)
        .where(passages.c.id.in_(ids))
    )
    return {row[0]: row[1] for row in connection.execute(statement)}
