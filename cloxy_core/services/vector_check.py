"""Whether the indexes of vectors hold the passages whose vectors are stored, both ways."""

from collections.abc import Awaitable, Callable, Sequence

from sqlalchemy import Connection

from cloxy_core.services.vector_feed import VectorFeed
from cloxy_hookspecs import Finding, IntegrityError, StorePort

# As `vector_rows` reads them for a rebuild.
_STORED = """
    SELECT p.id FROM passages p JOIN memories m ON m.id = p.memory_id AND m.state = 'active'
    JOIN embeddings e ON e.passage_id = p.id AND e.text_hash = p.text_hash
    WHERE e.space_id = (SELECT id FROM embedding_spaces WHERE active)
"""


class VectorIdsCheck:
    """Compares ids, and has an index that differs built anew."""

    def __init__(
        self,
        store: StorePort,
        feeds: Sequence[VectorFeed],
        drain: Callable[[], Awaitable[object]],
    ) -> None:
        """Compare nothing yet.

        Args:
            store: the database.
            feeds: the indexes of vectors.
            drain: brings the indexes to where the store is.
        """
        self._store = store
        self._feeds = feeds
        self._drain = drain

    async def run(self) -> Sequence[Finding]:
        """One finding for each index."""
        return [await self._compare(feed) for feed in self._feeds] or [
            Finding("ok", "there is no index of vectors")
        ]

    async def _compare(self, feed: VectorFeed) -> Finding:
        name = feed.channel.record.name
        if not feed.takes:
            return Finding("ok", f"{name} is being built")
        missing, stray, count = await self._differences(feed)
        if missing or stray:
            # What came in between two looks is no difference: only what stays one is.
            again = await self._differences(feed)
            missing, stray = missing & again[0], stray & again[1]
        if not (missing or stray) or not feed.takes:
            return Finding("ok", f"{name}: {count:,} vectors, in step")
        words = f"{name} lacked {len(missing):,} vectors and had {len(stray):,} too many"
        feed.fail(IntegrityError(words))
        return Finding("warning", f"{words}; it is being built anew")

    async def _differences(self, feed: VectorFeed) -> tuple[set[int], set[int], int]:
        """Passages that the index lacks, those that it should not have, and how many it has."""
        await self._drain()

        def compare(connection: Connection) -> tuple[set[int], set[int], int]:
            stored = set(connection.exec_driver_sql(_STORED).scalars())
            held = set(feed.channel.index.ids())
            return stored - held, held - stored, len(held)

        return await self._store.read(compare)
