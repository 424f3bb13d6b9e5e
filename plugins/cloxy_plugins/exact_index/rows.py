"""What the store says of passages: whether they may be found, and their vectors."""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import and_, func, select, true

from cloxy_hookspecs.tables import embedding_spaces, embeddings, memories, passages

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

_VECTORS = """
    SELECT passage_id, vector FROM embeddings
    WHERE passage_id IN (SELECT value FROM json_each(?))
        AND space_id = (SELECT id FROM embedding_spaces WHERE active)
    ORDER BY passage_id
"""


def vectors(connection: "Connection", ids: Iterable[int]) -> Sequence[tuple[int, bytes]]:
    """Passages of some, by id, that have a vector in the active space, and that vector."""
    rows = connection.exec_driver_sql(_VECTORS, (json.dumps(list(ids)),))
    return [(row[0], row[1]) for row in rows]


def passing(
    connection: "Connection", ids: NDArray[np.int64], conditions: "Sequence[ColumnElement[bool]]"
) -> NDArray[np.int64]:
    """Those of some passages that meet the conditions.

    Most meet them, so each is looked up by its id: a condition that is compared with `true`
    cannot tempt the database to begin with an index of its own.
    """
    each = func.json_each(json.dumps(ids.tolist())).table_valued("value")
    statement = (
        select(passages.c.id)
        .join(memories, memories.c.id == passages.c.memory_id)
        .where(passages.c.id.in_(select(each.c.value)), and_(*conditions).is_(true()))
    )
    return _numbers(connection.execute(statement).scalars())


def allowed(
    connection: "Connection", conditions: "Sequence[ColumnElement[bool]]"
) -> NDArray[np.int64]:
    """All passages that have a vector in the active space and meet the conditions."""
    active = select(embedding_spaces.c.id).where(embedding_spaces.c.active).scalar_subquery()
    statement = (
        select(passages.c.id)
        .join(memories, memories.c.id == passages.c.memory_id)
        .join(embeddings, embeddings.c.passage_id == passages.c.id)
        .where(embeddings.c.space_id == active, *conditions)
    )
    return _numbers(connection.execute(statement).scalars())


def _numbers(ids: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter(ids, dtype=np.int64)
