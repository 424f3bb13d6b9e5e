"""Filling the indexes of words with what was converted, before the server answers."""

from dataclasses import dataclass
from functools import partial
from logging import Logger

from sqlalchemy import Connection, delete, select, update

from cloxy_core.services.indexing import Indexing
from cloxy_core.services.passage_rows import index_rows
from cloxy_core.store.legacy.report import UNINDEXED
from cloxy_hookspecs import IndexChange, StorePort
from cloxy_hookspecs.tables import counters

BATCH = 500
_TELL_EVERY = 20


@dataclass(frozen=True, slots=True)
class WordFilling:
    """Goes on where a killed start stopped, and does nothing when all is done."""

    store: StorePort
    indexing: Indexing
    log: Logger

    async def finish(self) -> int:
        """Put all converted passages into the indexes; how many there were."""
        done = steps = 0
        while (after := await self.store.read(_indexed_to)) is not None:
            done += await self.store.write(partial(self._step, after=after))
            steps += 1
            if not steps % _TELL_EVERY:
                self.log.info("indexing the words of the upgraded memory: %d so far", done)
        return done

    def _step(self, connection: Connection, after: int) -> int:
        rows = index_rows(connection, after=after, limit=BATCH)
        mark = counters.c.key == UNINDEXED
        if not rows:
            connection.execute(delete(counters).where(mark))
            return 0
        self.indexing.change_words(connection, [IndexChange(row.passage_id, row) for row in rows])
        connection.execute(update(counters).where(mark).values(value=rows[-1].passage_id))
        return len(rows)


def _indexed_to(connection: Connection) -> int | None:
    """The last passage that is in; None when all are."""
    found = connection.execute(select(counters.c.value).where(counters.c.key == UNINDEXED)).scalar()
    return None if found is None else int(found)
