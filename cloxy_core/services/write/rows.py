"""Rows that one transaction will insert or change, gathered and written in bulk."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, Table, bindparam, update

from cloxy_core.services.headers import index_header
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.passage_rows import NEIGHBOUR
from cloxy_core.services.write.sessions import LastPassage, SessionState
from cloxy_core.store.sequence import next_ids
from cloxy_hookspecs import IndexChange, IndexRow
from cloxy_hookspecs.tables import memories, memory_events, passages


def text_hash(text: str) -> str:
    """SHA-256 of a text, hexadecimal; how equal texts are recognised."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Ids:
    """Ids of one table for one transaction."""

    def __init__(self, connection: Connection, table: Table) -> None:
        self._next = next_ids(connection, table, 1)[0]

    def take(self) -> int:
        """The next id."""
        identifier = self._next
        self._next += 1
        return identifier


@dataclass(slots=True)
class Rows:
    """What will be written at the end of the transaction, in this order.

    New rows hold values as the driver takes them: JSON as text.
    """

    memories: dict[int, dict[str, object]] = field(default_factory=dict)
    memory_updates: list[dict[str, object]] = field(default_factory=list)
    passages: list[dict[str, object]] = field(default_factory=list)
    events: list[dict[str, object]] = field(default_factory=list)
    changes: dict[int, IndexChange] = field(default_factory=dict)

    def event(
        self, memory_id: int, op: str, actor: str, at: int, reason: str | None = None
    ) -> None:
        """Note a change for the audit."""
        self.events.append(
            {"memory_id": memory_id, "op": op, "actor": actor, "reason": reason, "at": at}
        )

    def index(self, state: SessionState, fresh: list[LastPassage]) -> None:
        """Put new passages of a session into the indexes, and their predecessor again.

        A passage is indexed with the end of the one before and the start of the one after, so
        the last one that was stored has just got a neighbour.
        """
        if not fresh:
            return
        line = [*state.last, *fresh]
        first = max(len(state.last) - 1, 0)
        for place in range(first, len(line)):
            passage = line[place]
            before = line[place - 1].text[-NEIGHBOUR:] if place else ""
            after = line[place + 1].text[:NEIGHBOUR] if place + 1 < len(line) else ""
            header = index_header(passage.at, state.project, state.title, state.key, passage.role)
            row = IndexRow(passage.id, header, passage.text, before, after)
            self.changes[passage.id] = IndexChange(passage.id, row)
        state.last = line[-2:]

    def write(self, connection: Connection, indexing: Indexing) -> None:
        """Write everything, in bulk."""
        _insert(connection, memories, list(self.memories.values()))
        if self.memory_updates:
            connection.execute(_UPDATE_MEMORY, self.memory_updates)
        _insert(connection, passages, self.passages)
        _insert(connection, memory_events, self.events)
        indexing.change(connection, list(self.changes.values()))


def _insert(connection: Connection, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
    """Insert rows that all have the same columns in the same order, as the driver takes them.

    These are by far the most rows of an ingest; through the expression language each would cost
    twice as much.
    """
    if rows:
        columns = ", ".join(f'"{name}"' for name in rows[0])
        places = ", ".join("?" * len(rows[0]))
        connection.exec_driver_sql(
            f'INSERT INTO "{table.name}" ({columns}) VALUES ({places})',  # noqa: S608 - names of our own columns, no values
            [tuple(row.values()) for row in rows],
        )


_UPDATE_MEMORY = (
    update(memories)
    .where(memories.c.id == bindparam("memory"), memories.c.version == bindparam("read_version"))
    .values(
        content=bindparam("content"),
        content_hash=bindparam("content_hash"),
        open=bindparam("open"),
        occurred_to=bindparam("occurred_to"),
        extra=bindparam("extra"),
        updated_at=bindparam("updated_at"),
        version=bindparam("version"),
    )
)


def latest(one: int | None, other: int | None) -> int | None:
    """The later of two moments, either of which may be unknown."""
    if one is None or other is None:
        return one if other is None else other
    return max(one, other)


def earliest(one: int | None, other: int | None) -> int | None:
    """The earlier of two moments, either of which may be unknown."""
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)
