"""A title that came late, or a project: the session's passages are indexed again under it."""

from functools import partial

from sqlalchemy import Connection, select, update

from cloxy_core.services.indexing import Indexing
from cloxy_core.services.passage_rows import index_rows
from cloxy_hookspecs import IndexChange, StorePort
from cloxy_hookspecs.tables import sessions

SLICE = 200


async def retitle(store: StorePort, indexing: Indexing, session_id: int) -> int:
    """Index the passages of a session again, in short transactions.

    Returns:
        How many passages were indexed.
    """
    last = 0
    count = 0
    while True:
        last, done = await store.write(
            partial(_slice, indexing=indexing, session_id=session_id, after=last)
        )
        if not done:
            break
        count += done
    await store.write(lambda c: _note(c, session_id))
    return count


def stale_titles(connection: Connection) -> list[int]:
    """Sessions whose passages may carry an old title, because a crash came between."""
    statement = select(sessions.c.id).where(
        sessions.c.title.is_distinct_from(sessions.c.indexed_title)
    )
    return list(connection.execute(statement).scalars())


def _slice(
    connection: Connection, indexing: Indexing, session_id: int, after: int
) -> tuple[int, int]:
    rows = index_rows(connection, session=session_id, after=after, limit=SLICE)
    indexing.change(connection, [IndexChange(row.passage_id, row) for row in rows])
    return (rows[-1].passage_id if rows else after), len(rows)


def _note(connection: Connection, session_id: int) -> None:
    connection.execute(
        update(sessions).where(sessions.c.id == session_id).values(indexed_title=sessions.c.title)
    )
