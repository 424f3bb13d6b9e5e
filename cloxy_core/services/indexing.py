"""Keeping every index in step with the rows.

Indexes that live in SQL change inside the transaction of the rows. All others are fed from the
outbox after commit, in order, and may be lost and rebuilt at any time.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, delete, func, insert, select
from sqlalchemy.dialects.sqlite import insert as upsert

from cloxy_core.services.passage_rows import index_rows
from cloxy_core.store.sequence import last_id
from cloxy_hookspecs import (
    AfterIndex,
    AfterIndexProvider,
    Clock,
    CommitIndex,
    CommitIndexProvider,
    Index,
    IndexChange,
    IndexRow,
    StorePort,
)
from cloxy_hookspecs.tables import index_checkpoints, index_outbox, passages

DRAIN = 500
REBUILD = 200


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


Channel = CommitChannel | AfterChannel


class Indexing:
    """All indexes of the running server."""

    def __init__(self, channels: Sequence[Channel], store: StorePort, clock: Clock) -> None:
        self.channels = tuple(channels)
        self._commit = tuple(c for c in channels if isinstance(c, CommitChannel))
        self._after = tuple(c for c in channels if isinstance(c, AfterChannel))
        self._store = store
        self._clock = clock
        # Two feeds at once could bring an older state of a passage behind a newer one.
        self._feeding = asyncio.Lock()

    def index(self, channel: str) -> Index | None:
        """The index of a channel, or None."""
        return next((c.index for c in self.channels if c.record.channel == channel), None)

    def change(self, connection: Connection, changes: Sequence[IndexChange]) -> None:
        """Apply changes to the rows' transaction: SQL indexes now, the others by outbox."""
        if not changes:
            return
        for channel in self._commit:
            channel.index.apply_in(connection, changes)
        if self._after:
            at = self._clock.now_ms()
            connection.execute(
                insert(index_outbox),
                [
                    {
                        "passage_id": change.passage_id,
                        "op": "delete" if change.row is None else "put",
                        "at": at,
                    }
                    for change in changes
                ],
            )

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
        if not self._after:
            return 0
        async with self._feeding:
            applied = 0
            for channel in self._after:
                applied += await self._drain(channel)
            if applied:
                await self._store.write(self._trim)
        return applied

    async def _drain(self, channel: AfterChannel) -> int:
        applied = 0
        while True:
            sequence, count = await self._store.read(partial(_feed, index=channel.index))
            if not count:
                return applied
            note = partial(_note_checkpoint, name=channel.record.name, sequence=sequence)
            await self._store.write(note)
            applied += count

    async def catch_up(self) -> None:
        """Rebuild the indexes that lost more than the outbox still holds, then drain."""
        await self._store.write(self._forget_absent)
        for channel in self._after:
            is_lost = partial(_is_lost, name=channel.record.name, index=channel.index)
            if await self._store.read(is_lost):
                async with self._feeding:
                    await self._rebuild_after(channel)
        await self.drain()

    def _forget_absent(self, connection: Connection) -> None:
        """Drop the checkpoints of indexes that are switched off; nobody keeps changes for them."""
        names = [channel.record.name for channel in self._after]
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
        return await self.counts()

    def _clear(self, connection: Connection) -> None:
        for channel in self._commit:
            channel.index.clear_in(connection)

    def _refill(self, connection: Connection, after: int) -> tuple[int, int]:
        rows = index_rows(connection, after=after, limit=REBUILD)
        if not rows:
            return after, 0
        changes = [IndexChange(row.passage_id, row) for row in rows]
        for channel in self._commit:
            channel.index.apply_in(connection, changes)
        return rows[-1].passage_id, len(rows)

    async def _rebuild_after(self, channel: AfterChannel) -> None:
        def rebuild(connection: Connection) -> int:
            sequence = last_id(connection, index_outbox)
            channel.index.rebuild(_all_rows(connection), sequence)
            return sequence

        sequence = await self._store.read(rebuild)
        name = channel.record.name
        await self._store.write(lambda c: _note_checkpoint(c, name, sequence))

    def _trim(self, connection: Connection) -> None:
        """Drop the entries that every index outside of SQL has applied."""
        done = min(channel.index.checkpoint() for channel in self._after)
        connection.execute(delete(index_outbox).where(index_outbox.c.seq <= done))


def _feed(connection: Connection, index: AfterIndex) -> tuple[int, int]:
    """Apply a slice of the outbox, on a reader thread; its last number and its size."""
    sequence, changes = _pending(connection, index.checkpoint())
    if changes:
        index.apply(changes, sequence)
    return sequence, len(changes)


def _pending(connection: Connection, position: int) -> tuple[int, Sequence[IndexChange]]:
    entries = connection.execute(
        select(index_outbox.c.seq, index_outbox.c.passage_id)
        .where(index_outbox.c.seq > position)
        .order_by(index_outbox.c.seq)
        .limit(DRAIN)
    ).all()
    if not entries:
        return position, ()
    wanted = list(dict.fromkeys(entry.passage_id for entry in entries))
    rows = {row.passage_id: row for row in index_rows(connection, ids=wanted)}
    # What a passage is now stands for all that happened to it: applying twice equals once.
    return entries[-1].seq, [IndexChange(identifier, rows.get(identifier)) for identifier in wanted]


def _all_rows(connection: Connection) -> Iterator[IndexRow]:
    last = 0
    while rows := index_rows(connection, after=last, limit=REBUILD):
        yield from rows
        last = rows[-1].passage_id


def _is_lost(connection: Connection, name: str, index: AfterIndex) -> bool:
    """Whether an index has missed changes that the outbox does not hold any more."""
    position = index.checkpoint()
    first = connection.execute(select(func.min(index_outbox.c.seq))).scalar()
    noted = connection.execute(
        select(index_checkpoints.c.seq).where(index_checkpoints.c.index == name)
    ).scalar()
    if not position or noted is None or position < noted:
        return True
    # Behind the last number there is nothing: such an index belongs to a database that is gone.
    trimmed = first is not None and first > position + 1
    return trimmed or position > last_id(connection, index_outbox)


def _note_checkpoint(connection: Connection, name: str, sequence: int) -> None:
    statement = upsert(index_checkpoints).values(index=name, seq=sequence)
    connection.execute(
        statement.on_conflict_do_update(index_elements=["index"], set_={"seq": sequence})
    )


def passage_total(connection: Connection) -> int:
    """Passages in the store."""
    return connection.execute(select(func.count()).select_from(passages)).scalar_one()
