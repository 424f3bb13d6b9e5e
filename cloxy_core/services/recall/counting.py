"""How much a question was asked of."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from cloxy_hookspecs import Filters, StorePort
from cloxy_hookspecs.tables import memories, passages

DEAR = 0.02
"""Seconds from which a count is dear: it is then good for a while, whatever is written."""

KEPT_FOR = 50
"""How many times as long as it took a dear count is good, which bounds what counting costs."""

_KEPT = 64
_INFO = "cloxy_memories_within"


@dataclass(frozen=True, slots=True)
class _Dear:
    """A dear count and the monotonic time until which it is good."""

    count: int
    until: float


class Counts:
    """Memories that questions were asked of, remembered.

    Counting walks over all memories. A count is exact while it is cheap: it is kept with the
    connection until somebody else has committed. In a large store, where messages may arrive
    all the time, it may be some seconds old.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Make an empty memory.

        Args:
            monotonic: seconds that only grow.
        """
        self._monotonic = monotonic
        self._dear: dict[Filters, _Dear] = {}

    def within(self, connection: Connection, store: StorePort, filters: Filters) -> int:
        """Memories with at least one passage that the filters let through."""
        began = self._monotonic()
        if (dear := self._dear.get(filters)) and began < dear.until:
            return dear.count
        counts = _of_this_state(connection)
        if filters not in counts:
            counts[filters] = _count(connection, store, filters)
            self._keep_dear(filters, counts[filters], self._monotonic() - began)
        return counts[filters]

    def _keep_dear(self, filters: Filters, count: int, seconds: float) -> None:
        if seconds < DEAR:
            return
        if len(self._dear) >= _KEPT:
            # Replaced, since other threads may be looking into the old one.
            self._dear = {}
        self._dear[filters] = _Dear(count, self._monotonic() + KEPT_FOR * seconds)


def _of_this_state(connection: Connection) -> dict[Filters, int]:
    """Counts that this connection has made since somebody else last committed."""
    version = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
    known_version: int | None
    counts: dict[Filters, int]
    known_version, counts = connection.info.get(_INFO, (None, {}))
    if known_version != version or len(counts) >= _KEPT:
        counts = {}
        connection.info[_INFO] = (version, counts)
    return counts


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
