"""What keeps one index of vectors in step: built behind the start, fed from the outbox after.

The index is a plugin's, and may fail: then it is built anew a while later, and neither ingest nor
a note that is remembered fails with it.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from cloxy_core.runtime.memory import give_back_memory
from cloxy_core.services.outbox import feed_vectors, is_lost, missing_ahead
from cloxy_core.services.vector_rows import all_vector_rows
from cloxy_core.store.sequence import last_id
from cloxy_hookspecs import (
    PluginError,
    StoreError,
    StorePort,
    VectorIndex,
    VectorIndexProvider,
)
from cloxy_hookspecs.tables import index_outbox

BUILDING = "the index of meaning is still being built"

log = logging.getLogger("cloxy.core")


@dataclass(slots=True)
class VectorChannel:
    """An index of vectors, and its record.

    Attributes:
        record: the record.
        index: the index of the active space; another one when another space becomes that.
        again: makes an empty index beside it, for another space.
    """

    record: VectorIndexProvider
    index: VectorIndex
    again: Callable[[], VectorIndex] | None = None

    def beside(self) -> "VectorChannel":
        """An empty index of the same record.

        Raises:
            Exception: whatever its making raised.
        """
        if self.again is None:
            raise PluginError(f"the index {self.record.name!r} cannot be made a second time")
        return VectorChannel(self.record, self.again(), self.again)


class VectorFeed:
    """One index of vectors, and how far it has come.

    Attributes:
        channel: the index and its record.
        ready: whether it holds what the store holds, but for what the outbox still has.
        building: whether it is being built at this moment, and must not be fed.
        trouble: why it is not ready, in words; None when it is.
        failed: set while it waits to be built anew because it failed.
        turn: held while it is built.
    """

    def __init__(
        self, channel: VectorChannel, store: StorePort, space_id: int | None = None
    ) -> None:
        """Feed nothing yet.

        Args:
            channel: the index and its record.
            store: the database.
            space_id: the space of its vectors; the active one for None.
        """
        self.channel = channel
        self.ready = False
        self.building = False
        self.trouble: str | None = BUILDING
        self.failed = asyncio.Event()
        self.turn = asyncio.Lock()
        self._store = store
        self._space = space_id
        self._applied = 0

    @property
    def takes(self) -> bool:
        """Whether it can be fed now."""
        return self.ready and not self.building

    @property
    def holds(self) -> bool:
        """Whether the outbox must keep everything for it."""
        return self.building or not (self.ready or self.failed.is_set())

    @property
    def position(self) -> int:
        """Number of the last entry that need not come again, were the server started anew.

        An index that keeps nothing has no such number and is built anew at every start: what it
        has applied need not come again.
        """
        return self.channel.index.checkpoint() or self._applied

    async def feed(self) -> tuple[int, Sequence[int]]:
        """Apply what the outbox holds; how many entries, and passages without a vector."""
        applied, missing = 0, list[int]()
        try:
            while True:
                work = partial(
                    feed_vectors,
                    index=self.channel.index,
                    position=self._applied,
                    space_id=self._space,
                )
                fed = await self._store.read(work)
                if not fed.count:
                    return applied, missing
                self._applied = fed.sequence
                applied += fed.count
                missing += fed.missing
        except StoreError:
            # The store is busy or away; the entries stay, and come with the next ones.
            return applied, missing
        except Exception as error:
            self.fail(error)
            return applied, missing

    async def build(self) -> Sequence[int]:
        """Make it hold what the store holds; `building` is set, and nothing else feeds it.

        Returns:
            Passages without a vector, of those that the outbox would have brought.

        Raises:
            Exception: whatever the index or the store raised; `trouble` says so, too.
        """
        try:
            self._applied, missing = await self._store.read(self._build)
        except Exception as error:
            self.fail(error)
            raise
        finally:
            self.building = False
        self.adopt()
        return missing

    def adopt(self) -> None:
        """Take it as it is: it misses nothing but what the outbox holds."""
        self.ready, self.trouble = True, None
        self.failed.clear()

    def take_over(self, other: "VectorFeed") -> None:
        """Go on with the index of another feed, whose space has become the active one."""
        self.channel.index = other.channel.index
        self._applied = other._applied
        self.adopt()

    def fail(self, error: BaseException) -> None:
        """Note that it cannot answer until it has been built anew."""
        if self.failed.is_set():
            return
        name = self.channel.record.name
        log.error("the index %s failed and is built anew", name, exc_info=error)
        self.ready = False
        self.trouble = f"the index {name} failed ({type(error).__name__}); see the log"
        self.failed.set()

    async def lost(self) -> bool:
        """Whether it has missed more than the outbox holds, as at most starts."""
        index, name = self.channel.index, self.channel.record.name
        position = index.checkpoint()
        lost = await self._store.read(partial(is_lost, name=name, position=position))
        self._applied = 0 if lost else position
        return lost

    def _build(self, connection: Connection) -> tuple[int, Sequence[int]]:
        sequence = last_id(connection, index_outbox)
        missing = missing_ahead(connection, self._applied)
        self.channel.index.rebuild(all_vector_rows(connection, self._space), sequence)
        give_back_memory()
        return sequence, missing
