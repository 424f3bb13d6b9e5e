"""Changes that the indexes outside of SQL have still to apply, as numbered entries."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.sqlite import insert as upsert

from cloxy_core.services.passage_rows import index_rows
from cloxy_core.services.vector_rows import vector_changes
from cloxy_core.store.sequence import last_id
from cloxy_hookspecs import AfterIndex, IndexChange, IndexRow, VectorIndex
from cloxy_hookspecs.tables import index_checkpoints, index_outbox

DRAIN = 500
REBUILD = 200
PUT = "put"
DELETE = "delete"
VECTOR = "vector"
"""A passage whose vector changed, and nothing else: not the business of indexes of text."""

_MISSING_AHEAD = """
    SELECT DISTINCT o.passage_id FROM index_outbox o
    JOIN passages p ON p.id = o.passage_id
    JOIN memories m ON m.id = p.memory_id AND m.state = 'active'
    WHERE o.seq > ? AND NOT EXISTS (
        SELECT 1 FROM embeddings e
        WHERE e.passage_id = p.id AND e.text_hash = p.text_hash
            AND e.space_id = (SELECT id FROM embedding_spaces WHERE active))
"""


@dataclass(frozen=True, slots=True)
class Fed:
    """What a slice of the outbox did to an index.

    Attributes:
        sequence: number of its last entry.
        count: its entries.
        missing: passages that are there and have no vector.
    """

    sequence: int
    count: int
    missing: Sequence[int] = ()


def add_entries(connection: Connection, entries: Sequence[tuple[int, str]], at: int) -> None:
    """Note changes of passages: `(passage, kind)`, in order."""
    if not entries:
        return
    # Not through the expression language, which would double what an ingest pays for this.
    connection.exec_driver_sql(
        "INSERT INTO index_outbox (passage_id, op, at) VALUES (?, ?, ?)",
        [(passage, kind, at) for passage, kind in entries],
    )


def embedded(connection: Connection, ids: Sequence[int]) -> set[int]:
    """Those of some passages that have a vector, of whatever space and text."""
    found = connection.exec_driver_sql(
        "SELECT passage_id FROM embeddings WHERE passage_id IN (SELECT value FROM json_each(?))",
        (json.dumps(ids),),
    )
    return {row[0] for row in found}


def feed_text(connection: Connection, index: AfterIndex) -> Fed:
    """Apply a slice of the outbox to an index of text, on a reader thread."""
    position = index.checkpoint()
    entries = _entries(connection, position)
    if not entries:
        return Fed(position, 0)
    sequence = entries[-1][0]
    wanted = list(dict.fromkeys(passage for _seq, passage, op in entries if op != VECTOR))
    rows = {row.passage_id: row for row in index_rows(connection, ids=wanted)} if wanted else {}
    # What a passage is now stands for all that happened to it: applying twice equals once.
    index.apply([IndexChange(identifier, rows.get(identifier)) for identifier in wanted], sequence)
    return Fed(sequence, len(entries))


def feed_vectors(
    connection: Connection, index: VectorIndex, position: int, space_id: int | None = None
) -> Fed:
    """Apply a slice of the outbox to an index of vectors, on a reader thread.

    Args:
        connection: a read transaction.
        index: the index.
        position: number of the last entry that it has.
        space_id: the space of its vectors; the active one for None.
    """
    entries = _entries(connection, position)
    if not entries:
        return Fed(position, 0)
    sequence = entries[-1][0]
    found = vector_changes(connection, list(dict.fromkeys(entry[1] for entry in entries)), space_id)
    index.apply(found.changes, sequence)
    return Fed(sequence, len(entries), found.missing)


def missing_ahead(connection: Connection, position: int) -> Sequence[int]:
    """Passages without a vector, of those with entries behind a number."""
    return list(connection.exec_driver_sql(_MISSING_AHEAD, (position,)).scalars())


def all_rows(connection: Connection) -> Iterator[IndexRow]:
    """All passages as indexes of text see them."""
    last = 0
    while rows := index_rows(connection, after=last, limit=REBUILD):
        yield from rows
        last = rows[-1].passage_id


def is_lost(connection: Connection, name: str, position: int) -> bool:
    """Whether an index has missed changes that the outbox does not hold any more.

    Args:
        connection: a transaction.
        name: of the index's record.
        position: number of the last entry that the index has.
    """
    noted = connection.execute(
        select(index_checkpoints.c.seq).where(index_checkpoints.c.index == name)
    ).scalar()
    if not position or noted is None or position < noted:
        return True
    last = last_id(connection, index_outbox)
    first = connection.execute(select(func.min(index_outbox.c.seq))).scalar() or last + 1
    # Behind the last number there is nothing: such an index belongs to a database that is gone.
    return first > position + 1 or position > last


def note_checkpoint(connection: Connection, name: str, sequence: int) -> None:
    """Note how far an index has followed."""
    statement = upsert(index_checkpoints).values(index=name, seq=sequence)
    connection.execute(
        statement.on_conflict_do_update(index_elements=["index"], set_={"seq": sequence})
    )


def trim(connection: Connection, done: int | None) -> None:
    """Drop the entries up to a number; all of them for None."""
    statement = delete(index_outbox)
    connection.execute(statement if done is None else statement.where(index_outbox.c.seq <= done))


def _entries(connection: Connection, position: int) -> Sequence[tuple[int, int, str]]:
    return [
        (row[0], row[1], row[2])
        for row in connection.execute(
            select(index_outbox.c.seq, index_outbox.c.passage_id, index_outbox.c.op)
            .where(index_outbox.c.seq > position)
            .order_by(index_outbox.c.seq)
            .limit(DRAIN)
        )
    ]
