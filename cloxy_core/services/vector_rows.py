"""Passages as an index of vectors sees them, read back from the store.

Only vectors of one space count, the active one unless another is named, and only while they are
those of the passage's own text.
The statements go to the driver itself: through the expression language a row costs twice as much,
and a rebuild reads all of them.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

from sqlalchemy import Connection

from cloxy_core.store.connections import driver_connection
from cloxy_hookspecs import VectorChange, VectorRow

_SOME = """
    SELECT p.id, e.vector,
        CASE WHEN e.id THEN (SELECT max(beside.id) FROM passages beside
            WHERE beside.session_id = p.session_id AND beside.id < p.id) END,
        CASE WHEN e.id THEN (SELECT min(beside.id) FROM passages beside
            WHERE beside.session_id = p.session_id AND beside.id > p.id) END
    FROM json_each(?) wanted
    CROSS JOIN passages p ON p.id = wanted.value
    JOIN memories m ON m.id = p.memory_id AND m.state = 'active'
    LEFT JOIN embeddings e ON e.passage_id = p.id AND e.text_hash = p.text_hash
        AND e.space_id = ifnull(?, (SELECT id FROM embedding_spaces WHERE active))
"""
# Every passage, since one without a vector can be a neighbour, too.
_ALL = """
    SELECT p.session_id, p.id, e.vector
    FROM passages p INDEXED BY ix_passages_session
    LEFT JOIN memories m ON m.id = p.memory_id AND m.state = 'active'
    LEFT JOIN embeddings e ON e.passage_id = p.id AND e.text_hash = p.text_hash
        AND e.space_id = ifnull(?, (SELECT id FROM embedding_spaces WHERE active)) AND m.id
    ORDER BY p.session_id, p.id
"""
_END: tuple[Any, Any, Any] = (None, None, None)


@dataclass(frozen=True, slots=True)
class VectorChanges:
    """What passages are now.

    Attributes:
        changes: a change for each that was asked for.
        missing: those that are there and have no vector.
    """

    changes: Sequence[VectorChange]
    missing: Sequence[int]


def vector_changes(
    connection: Connection, ids: Sequence[int], space_id: int | None = None
) -> VectorChanges:
    """Changes that bring an index of vectors in step with some passages.

    Args:
        connection: a read transaction.
        ids: the passages.
        space_id: the space of the index; the active one for None.
    """
    rows: dict[int, VectorRow] = {}
    missing: list[int] = []
    for identifier, vector, previous, following in driver_connection(connection).execute(
        _SOME, (json.dumps(list(ids)), space_id)
    ):
        if vector is None:
            missing.append(identifier)
        else:
            rows[identifier] = VectorRow(identifier, vector, previous, following)
    return VectorChanges([VectorChange(each, rows.get(each)) for each in ids], missing)


def all_vector_rows(connection: Connection, space_id: int | None = None) -> Iterator[VectorRow]:
    """The rows of all passages that have a vector, session by session, in one scan.

    Args:
        connection: a read transaction.
        space_id: the space of the vectors; the active one for None.
    """
    with closing(driver_connection(connection).execute(_ALL, (space_id,))) as cursor:
        before: int | None = None
        for here, there in pairwise(chain(cursor, (_END,))):
            session, identifier, vector = here
            is_inside = session is not None and there[0] == session
            following = there[1] if is_inside else None
            if vector is not None:
                yield VectorRow(identifier, vector, before, following)
            before = identifier if is_inside else None
