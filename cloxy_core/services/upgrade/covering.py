"""Conversations that are there twice: as the original stored them, and read anew from their log.

The pieces of the original are passed over by recall once all that they say has been stored from
the log. They are not removed: forgetting finds them, and a piece of which one word is not in the
log stays where it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from sqlalchemy import Connection, and_, insert, select, update

from cloxy_core.services.indexing import Indexing
from cloxy_core.services.upgrade.said import COVERED, Said, is_upgraded
from cloxy_core.store.legacy.report import read_report
from cloxy_core.store.sequence import last_id
from cloxy_hookspecs import Clock, IndexChange, StorePort
from cloxy_hookspecs.tables import memories, memory_events, passages, sessions

ACTOR = "upgrade"
REASON = "its session's log was read in"


class Imported(Protocol):
    """Messages that were imported from an old database; its methods are parts of transactions."""

    def sessions(self, connection: Connection) -> set[int]:
        """Sessions that hold such messages."""
        ...

    def cover(self, connection: Connection, session: int, said: Said, now: int) -> tuple[int, int]:
        """Take out what is told of a session; how many messages went, and how many are left."""
        ...


@dataclass(slots=True)
class Covering:
    """Looks, after session logs were read, which old pieces are told by them."""

    store: StorePort
    indexing: Indexing
    clock: Clock
    imported: Imported
    _waiting: set[int] | None = field(default=None, init=False)
    _seen: int = field(default=0, init=False)

    async def settle(self) -> int:
        """Pass over the old pieces of sessions that were read since the last time; how many.

        Likewise take out messages that were imported from an old database. Nearly free where
        nothing was upgraded or imported, and where no session is new.

        Raises:
            StoreError: the store cannot be written now; the next time goes on from here.
        """
        if self._waiting is None:
            self._waiting = await self.store.read(self._sessions)
        if not self._waiting:
            return 0
        newest, grown = await self.store.read(partial(_grown, after=self._seen))
        covered = 0
        for session in sorted(self._waiting & grown):
            count, left = await self.store.write(partial(self._cover, session=session))
            covered += count
            if not left:
                self._waiting.discard(session)
        self._seen = newest
        if covered:
            await self.indexing.drain()
        return covered

    def _sessions(self, connection: Connection) -> set[int]:
        """Sessions of which something is there that a log may tell as well."""
        return _sessions_with_old_pieces(connection) | self.imported.sessions(connection)

    def _cover(self, connection: Connection, session: int) -> tuple[int, bool]:
        """Pieces of one session that are covered now, and whether others are left."""
        pieces = connection.execute(
            select(memories.c.id, memories.c.content).where(
                memories.c.session_id == session, memories.c.state == "active", is_upgraded
            )
        ).all()
        said = Said.of(connection, session)
        covered = [piece.id for piece in pieces if said.covers(piece.content)]
        if covered:
            self._pass_over(connection, covered)
        gone, left = self.imported.cover(connection, session, said, self.clock.now_ms())
        return len(covered) + gone, bool(left) or len(covered) < len(pieces)

    def _pass_over(self, connection: Connection, ids: Sequence[int]) -> None:
        now = self.clock.now_ms()
        for identifier in ids:
            connection.execute(
                update(memories)
                .where(memories.c.id == identifier)
                .values(state=COVERED, updated_at=now, version=memories.c.version + 1)
            )
        connection.execute(
            insert(memory_events),
            [
                {"memory_id": each, "op": "supersede", "actor": ACTOR, "reason": REASON, "at": now}
                for each in ids
            ],
        )
        gone = _passages_of(connection, ids)
        self.indexing.change(connection, [IndexChange(each, None) for each in gone])


def _sessions_with_old_pieces(connection: Connection) -> set[int]:
    if read_report(connection) is None:
        return set()
    found = connection.execute(
        select(memories.c.session_id)
        .where(memories.c.state == "active", memories.c.session_id.is_not(None), is_upgraded)
        .distinct()
    )
    return {int(identifier) for identifier in found.scalars() if identifier is not None}


def _grown(connection: Connection, after: int) -> tuple[int, set[int]]:
    """The newest event, and the sessions that got text from logs after an earlier one.

    A session counts, too, when a sub-agent's did that works for it.

    Args:
        connection: a transaction.
        after: an event; 0 asks for all sessions that have text from logs.
    """
    newest = last_id(connection, memory_events)
    from_log = memories.c.source_id.is_not(None) & memories.c.session_id.is_not(None)
    statement = select(memories.c.session_id).where(from_log).distinct()
    if after:
        statement = statement.join(memory_events, memory_events.c.memory_id == memories.c.id)
        statement = statement.where(memory_events.c.id > after)
    grown = statement.subquery()
    above, below = sessions.alias("above"), sessions.alias("below")
    parents = (
        select(above.c.id)
        .join(below, and_(below.c.agent == above.c.agent, below.c.parent_key == above.c.key))
        .join(grown, grown.c.session_id == below.c.id)
    )
    return newest, {
        int(each)
        for found in (statement, parents)
        for each in connection.execute(found).scalars()
        if each
    }


def _passages_of(connection: Connection, ids: Sequence[int]) -> Sequence[int]:
    found: list[int] = []
    for identifier in ids:
        found += connection.execute(
            select(passages.c.id).where(passages.c.memory_id == identifier)
        ).scalars()
    return found
