"""Keeping every index in step with the rows.

Indexes that live in SQL change inside the transaction of the rows. All others are fed from the
outbox after commit, in order, and may be lost and rebuilt at any time.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from sqlalchemy import Connection, delete, func, select

from cloxy_core.services.outbox import (
    DELETE,
    PUT,
    REBUILD,
    VECTOR,
    add_entries,
    all_rows,
    embedded,
    feed_text,
    is_lost,
    trim,
)
from cloxy_core.services.outbox import note_checkpoint as _note_checkpoint
from cloxy_core.services.passage_rows import index_rows
from cloxy_core.services.vector_feed import VectorChannel, VectorFeed
from cloxy_core.store.sequence import last_id
from cloxy_hookspecs import (
    AfterIndex,
    AfterIndexProvider,
    Clock,
    CommitIndex,
    CommitIndexProvider,
    Index,
    IndexChange,
    PluginError,
    StoreError,
    StorePort,
)
from cloxy_hookspecs.tables import index_checkpoints, index_outbox, passages

AGAIN_SECONDS = 60.0
"""After which an index that failed is built anew."""


@dataclass(frozen=True, slots=True)
class CommitChannel:
    """An index written in the transaction of the rows, and its record."""

    record: CommitIndexProvider
    index: CommitIndex


@dataclass(frozen=True, slots=True)
class AfterChannel:
    """An index fed from the outbox, and its record."""

    record: AfterIndexProvider
    index: AfterIndex


Channel = CommitChannel | AfterChannel | VectorChannel


class VectorNeeds(Protocol):
    """Who makes vectors, and wants to know when some are missing. Called on the loop."""

    def wake(self) -> None:
        """There may be new passages."""
        ...

    def missing(self, passage_ids: Sequence[int]) -> None:
        """These passages are there and have no vector."""
        ...

    def look_again(self) -> None:
        """Any passage may be without a vector."""
        ...


@dataclass(frozen=True, slots=True)
class Beside:
    """Indexes of a space that is to become the active one, in step with the store."""

    feeds: Sequence[VectorFeed]
    others: Sequence[VectorFeed]
    feeding: asyncio.Lock

    async def take_over(self, commit: Callable[[], Awaitable[None]]) -> None:
        """Let them answer in the place of the former ones, at the moment of a commit.

        Args:
            commit: makes their space the active one; when it raises, all stays as it was.

        Raises:
            Exception: one of them has failed meanwhile, or whatever `commit` raised.
        """
        async with AsyncExitStack() as held:
            for feed in self.feeds:
                await held.enter_async_context(feed.turn)
            await held.enter_async_context(self.feeding)
            if failed := [feed.trouble for feed in self.others if not feed.takes]:
                raise PluginError(failed[0] or "the index failed")
            await commit()
            # Without a pause from here on: no question sees one index beside the other's space.
            for feed, other in zip(self.feeds, self.others, strict=True):
                feed.take_over(other)


class Indexing:
    """All indexes of the running server.

    Attributes:
        channels: all of them.
        needs: is told what has no vector; None for nobody.
    """

    def __init__(self, channels: Sequence[Channel], store: StorePort, clock: Clock) -> None:
        self.channels = tuple(channels)
        self.needs: VectorNeeds | None = None
        self._commit = tuple(c for c in channels if isinstance(c, CommitChannel))
        self._after = tuple(c for c in channels if isinstance(c, AfterChannel))
        self._vectors = tuple(
            VectorFeed(c, store) for c in channels if isinstance(c, VectorChannel)
        )
        self._beside: tuple[VectorFeed, ...] = ()
        self._store = store
        self._clock = clock
        # Two feeds at once could bring an older state of a passage behind a newer one.
        self._feeding = asyncio.Lock()
        self._trimmed = False

    @property
    def feeds(self) -> Sequence[VectorFeed]:
        """What keeps the indexes of vectors in step."""
        return self._vectors

    def index(self, channel: str) -> Index | None:
        """The index of a channel, or None."""
        return next((c.index for c in self.channels if c.record.channel == channel), None)

    async def vectors(self) -> int:
        """Passages in the index of vectors; 0 while it is not built, or not there."""
        indexes = [feed.channel.index for feed in self._vectors]
        return await self._store.read(lambda c: sum(index.count(c) for index in indexes))

    def failed(self, channel: str, error: BaseException) -> None:
        """Have the index of vectors of a channel built anew: it failed while it searched."""
        for feed in self._vectors:
            if feed.channel.record.channel == channel:
                feed.fail(error)

    def failures(self) -> Sequence[str]:
        """Why indexes of vectors cannot answer, in words, but for being built."""
        return [feed.trouble for feed in self._vectors if feed.trouble and feed.failed.is_set()]

    def ready(self, channel: str) -> bool:
        """Whether a channel can answer: an index of vectors is built behind the start."""
        return self.index(channel) is not None and self.trouble(channel) is None

    def trouble(self, channel: str) -> str | None:
        """Why a channel cannot answer now, in words; None when it can, or is not there."""
        feeds = (feed for feed in self._vectors if feed.channel.record.channel == channel)
        return next((feed.trouble for feed in feeds), None)

    def change(self, connection: Connection, changes: Sequence[IndexChange]) -> None:
        """Apply changes to the rows' transaction: SQL indexes now, the others by outbox."""
        if not changes:
            return
        for channel in self._commit:
            channel.index.apply_in(connection, changes)
        if self._after or self._vectors:
            entries = [(c.passage_id, DELETE if c.row is None else PUT) for c in changes]
            if not self._after:
                # An index of vectors knows nothing of a passage that has none, as all new ones.
                known = embedded(connection, [i for i, kind in entries if kind == PUT])
                entries = [(i, kind) for i, kind in entries if kind == DELETE or i in known]
            add_entries(connection, entries, self._clock.now_ms())

    def change_words(self, connection: Connection, changes: Sequence[IndexChange]) -> None:
        """Apply changes to the SQL indexes alone, in the rows' transaction."""
        for channel in self._commit:
            channel.index.apply_in(connection, changes)

    def vectors_changed(self, connection: Connection, passage_ids: Sequence[int]) -> None:
        """Note in the vectors' transaction which passages have another vector than before."""
        if passage_ids and self._vectors:
            entries = [(identifier, VECTOR) for identifier in passage_ids]
            add_entries(connection, entries, self._clock.now_ms())

    def scrub(self, connection: Connection) -> None:
        """Make removed text unreadable in the bytes of every SQL index."""
        for channel in self._commit:
            channel.index.scrub_in(connection)

    async def counts(self) -> Mapping[str, int]:
        """Passages by channel."""
        return await self._store.read(
            lambda connection: {c.record.channel: c.index.count(connection) for c in self.channels}
        )

    async def drain(self) -> int:
        """Feed the outbox to the indexes outside of SQL; how many entries were applied."""
        applied, missing = 0, list[int]()
        if self._after or self._vectors:
            async with self._feeding:
                for channel in self._after:
                    applied += await self._drain(channel)
                for feed in (*self._vectors, *self._beside):
                    if feed.takes:
                        count, without = await feed.feed()
                        applied += count
                        missing += without
                await self._trim(applied)
        if self.needs is not None:
            self.needs.missing(missing)
            self.needs.wake()
        return applied

    async def _drain(self, channel: AfterChannel) -> int:
        applied = 0
        while True:
            fed = await self._store.read(partial(feed_text, index=channel.index))
            if not fed.count:
                return applied
            note = partial(_note_checkpoint, name=channel.record.name, sequence=fed.sequence)
            await self._store.write(note)
            applied += fed.count

    async def catch_up(self) -> None:
        """Rebuild the text indexes that lost more than the outbox still holds, then drain.

        Indexes of vectors follow in `run`.
        """
        await self._store.write(self._forget_absent)
        for channel in self._after:
            position = channel.index.checkpoint()
            lost = partial(is_lost, name=channel.record.name, position=position)
            if await self._store.read(lost):
                async with self._feeding:
                    await self._rebuild_after(channel)
        await self.drain()

    async def run(self) -> None:
        """Build the indexes of vectors, and again those that fail later; cancel to stop."""
        await asyncio.gather(*(self._keep(feed) for feed in self._vectors))

    async def _keep(self, feed: VectorFeed) -> None:
        known = False
        while True:
            try:
                if known or await feed.lost():
                    await self._build(feed)
                else:
                    feed.adopt()
                    await self.drain()
                await feed.failed.wait()
            except Exception as error:
                feed.fail(error)
            known = True
            await asyncio.sleep(AGAIN_SECONDS)

    async def _build(self, feed: VectorFeed) -> None:
        async with feed.turn:
            async with self._feeding:
                # From now on nothing feeds it, and the outbox keeps what comes.
                feed.building = True
            # While it was failing, the outbox was emptied without anybody looking at it.
            lost_track = feed.failed.is_set()
            missing = await feed.build()
        self._trimmed = False
        if self.needs is not None:
            if lost_track:
                self.needs.look_again()
            self.needs.missing(missing)
        await self.drain()

    def _forget_absent(self, connection: Connection) -> None:
        """Drop the checkpoints of indexes that are switched off; nobody keeps changes for them."""
        names = [channel.record.name for channel in self._after]
        names += [feed.channel.record.name for feed in self._vectors]
        connection.execute(delete(index_checkpoints).where(index_checkpoints.c.index.not_in(names)))

    async def rebuild(self) -> Mapping[str, int]:
        """Rebuild every index from the rows, in short transactions; passages by channel."""
        await self._store.write(self._clear)
        last = 0
        while True:
            last, changes = await self._store.write(partial(self._refill, after=last))
            if not changes:
                break
        for channel in self._after:
            async with self._feeding:
                await self._rebuild_after(channel)
        await self.renew()
        return await self.counts()

    async def renew(self) -> None:
        """Build the indexes of vectors anew, since another space counts."""
        for feed in self._vectors:
            await self._build(feed)

    @asynccontextmanager
    async def beside(self, space_id: int) -> AsyncIterator["Beside"]:
        """Indexes of a space that is to become the active one, made beside those that answer.

        They are built, and fed like the others, until the block ends.

        Raises:
            Exception: whatever the indexes or the store raised; nothing changed for questions.
        """
        feeds = [VectorFeed(feed.channel.beside(), self._store, space_id) for feed in self._vectors]
        try:
            async with self._feeding:
                # From now on the outbox keeps what comes.
                for feed in feeds:
                    feed.building = True
                self._beside = tuple(feeds)
            for feed in feeds:
                await feed.build()
            await self.drain()
            yield Beside(self._vectors, self._beside, self._feeding)
        finally:
            self._beside = ()
            # Their entries are needed no more.
            self._trimmed = False

    def forget_vectors(self, connection: Connection) -> None:
        """Have the indexes of vectors built anew at the next start, since another space counts."""
        names = [feed.channel.record.name for feed in self._vectors]
        connection.execute(delete(index_checkpoints).where(index_checkpoints.c.index.in_(names)))

    def renew_words(self, connection: Connection) -> None:
        """Build every SQL index anew within a transaction, reading nothing of the old ones."""
        self._clear(connection)
        last, changes = self._refill(connection, after=0)
        while changes:
            last, changes = self._refill(connection, after=last)

    def _clear(self, connection: Connection) -> None:
        for channel in self._commit:
            channel.index.clear_in(connection)

    def _refill(self, connection: Connection, after: int) -> tuple[int, int]:
        rows = index_rows(connection, after=after, limit=REBUILD)
        if not rows:
            return after, 0
        self.change_words(connection, [IndexChange(row.passage_id, row) for row in rows])
        return rows[-1].passage_id, len(rows)

    async def _rebuild_after(self, channel: AfterChannel) -> None:
        def rebuild(connection: Connection) -> int:
            sequence = last_id(connection, index_outbox)
            channel.index.rebuild(all_rows(connection), sequence)
            return sequence

        sequence = await self._store.read(rebuild)
        name = channel.record.name
        await self._store.write(lambda c: _note_checkpoint(c, name, sequence))

    async def _trim(self, applied: int) -> None:
        """Drop the entries that every index outside of SQL has applied.

        One that failed is built from the rows later on and needs none.
        """
        takes = [feed for feed in self._vectors if feed.takes]
        needless = bool(self._vectors) and not takes
        wanted = applied or needless or not self._trimmed
        if not wanted or any(feed.holds for feed in (*self._vectors, *self._beside)):
            return

        def write(connection: Connection) -> None:
            done = [channel.index.checkpoint() for channel in self._after]
            for feed in takes:
                done.append(feed.position)
                _note_checkpoint(connection, feed.channel.record.name, feed.position)
            done += [feed.position for feed in self._beside if feed.takes]
            trim(connection, min(done) if done else None)

        # They can wait for a disk that is full or busy: what they stand for has been done.
        with suppress(StoreError):
            await self._store.write(write)
            self._trimmed = True


def passage_total(connection: Connection) -> int:
    """Passages in the store."""
    return connection.execute(select(func.count()).select_from(passages)).scalar_one()
