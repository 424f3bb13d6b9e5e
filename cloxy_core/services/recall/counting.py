"""How much a question was asked of."""

from sqlalchemy import Connection, func, select

from cloxy_hookspecs import Filters, StorePort
from cloxy_hookspecs.tables import memories, passages

_KEPT = 64
_INFO = "cloxy_memories_within"


def memories_within(connection: Connection, store: StorePort, filters: Filters) -> int:
    """Memories with at least one passage that the filters let through.

    Counting walks over all passages, so a count is kept with the connection until somebody
    else has committed.
    """
    version = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
    known_version, counts = connection.info.get(_INFO, (None, {}))
    if known_version != version or len(counts) >= _KEPT:
        counts = {}
        connection.info[_INFO] = (version, counts)
    if filters not in counts:
        counts[filters] = _count(connection, store, filters)
    return int(counts[filters])


def _count(connection: Connection, store: StorePort, filters: Filters) -> int:
    inside = select(passages.c.id).where(
        passages.c.memory_id == memories.c.id, *store.filter_clause(connection, filters)
    )
    statement = (
        select(func.count())
        .select_from(memories)
        .where(memories.c.state == "active", inside.correlate(memories).exists())
    )
    return connection.execute(statement).scalar_one()
