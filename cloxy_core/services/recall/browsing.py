"""What was said in a span of time, when a question asks for nothing else."""

from sqlalchemy import Connection, select

from cloxy_hookspecs import Filters, Scored, StorePort
from cloxy_hookspecs.tables import memories, passages

TIME = "time"


def newest_within(
    connection: Connection, store: StorePort, filters: Filters, limit: int
) -> list[Scored]:
    """The newest passages that the filters let through, newest first.

    Args:
        connection: a read transaction.
        store: gives the conditions of the filters.
        filters: hard conditions, the span of time among them.
        limit: most passages.
    """
    statement = (
        select(passages.c.id)
        .join(memories, memories.c.id == passages.c.memory_id)
        .where(passages.c.occurred_at.is_not(None), *store.filter_clause(connection, filters))
        .order_by(passages.c.occurred_at.desc(), passages.c.id.desc())
        .limit(limit)
    )
    found = connection.execute(statement).scalars().all()
    shares = [1 - place / len(found) for place in range(len(found))]
    return [
        Scored(passage_id, share, {TIME: share})
        for passage_id, share in zip(found, shares, strict=True)
    ]
