"""Conversations that are there twice: as the original stored them, and read anew from their log.

The pieces of the original are passed over by recall once all that they say has been stored from
the log. They are not removed: forgetting finds them, and a piece of which one word is not in the
log stays where it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from sqlalchemy import Connection, String, func, insert, select, type_coerce, update

from cloxy_core.services.indexing import Indexing
from cloxy_core.services.passage_rows import PASSAGE_TEXT
from cloxy_core.services.upgrade.turns import squashed, turns
from cloxy_core.store.legacy.report import read_report
from cloxy_core.store.legacy.rows import UPGRADED_FROM
from cloxy_core.store.sequence import last_id
from cloxy_hookspecs import Clock, IndexChange, StorePort
from cloxy_hookspecs.tables import memories, memory_events, passages

ACTOR = "upgrade"
COVERED = "superseded"
REASON = "its session's log was read in"
LONG_ENOUGH = 40
"""Characters from which a text that is found somewhere in a session was not found by chance."""

# Only what a parser read in comes from a source.
is_upgraded: Final = (
    memories.c.source_id.is_(None)
    & (memories.c.origin == "transcript")
    & func.json_extract(type_coerce(memories.c.extra, String), f"$.{UPGRADED_FROM}").is_not(None)
)


@dataclass(slots=True)
class Covering:
    """Looks, after session logs were read, which old pieces are told by them."""

    store: StorePort
    indexing: Indexing
    clock: Clock
    _waiting: set[int] | None = field(default=None, init=False)
    _seen: int = field(default=0, init=False)

    async def settle(self) -> int:
        """Pass over the old pieces of sessions that were read since the last time; how many.

        Nearly free where nothing was upgraded, and where no session is new.

        Raises:
            StoreError: the store cannot be written now; the next time goes on from here.
        """
        if self._waiting is None:
            self._waiting = await self.store.read(_sessions_with_old_pieces)
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
        return len(covered), len(covered) < len(pieces)

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


@dataclass(frozen=True, slots=True)
class Said:
    """All that was said in a session, as it was read from its log.

    Attributes:
        whole: every message, one after another.
        messages: each message by itself.
    """

    whole: str
    messages: frozenset[str]

    @classmethod
    def of(cls, connection: Connection, session: int) -> "Said":
        """Read the messages of a session."""
        messages = [squashed(text) for text in _messages(connection, session)]
        return cls(" ".join(messages), frozenset(messages))

    def covers(self, piece: str) -> bool:
        """Whether every turn of an old piece is among what was said."""
        found = turns(piece)
        if not found or any(turn not in self.whole for turn in found):
            return False
        # A few letters are in any conversation: they count beside a turn that is certain.
        return any(len(turn) >= LONG_ENOUGH or turn in self.messages for turn in found)


def _messages(connection: Connection, session: int) -> Iterator[str]:
    """Texts of messages in the order in which they were stored, the parts of long ones joined."""
    rows = connection.execute(
        select(passages.c.message_uid, PASSAGE_TEXT.label("text"))
        .join(memories, memories.c.id == passages.c.memory_id)
        .where(
            passages.c.session_id == session,
            memories.c.state == "active",
            memories.c.source_id.is_not(None),
        )
        .order_by(passages.c.id)
    )
    uid: str | None = None
    parts: list[str] = []
    for row in rows:
        if parts and row.message_uid != uid:
            yield "".join(parts)
            parts = []
        uid = row.message_uid
        parts.append(row.text)
    if parts:
        yield "".join(parts)


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
    return newest, {int(each) for each in connection.execute(statement).scalars() if each}


def _passages_of(connection: Connection, ids: Sequence[int]) -> Sequence[int]:
    found: list[int] = []
    for identifier in ids:
        found += connection.execute(
            select(passages.c.id).where(passages.c.memory_id == identifier)
        ).scalars()
    return found
