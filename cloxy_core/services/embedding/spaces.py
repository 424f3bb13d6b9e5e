"""Spaces of vectors in the store; the functions are bodies of transactions.

One space is active: questions are asked there. Of the others one may be filling, to be the active
one when it is full; those that are leaving lose their vectors in small steps, and dormant ones keep
them.
"""

from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import Connection, delete, exists, func, insert, select, update

from cloxy_hookspecs import EmbeddingSpace
from cloxy_hookspecs.tables import embedding_spaces, embeddings

REMOVED_AT_ONCE = 2_000

SpaceState = Literal["active", "filling", "dormant", "leaving"]
ACTIVE: Final = "active"
FILLING: Final = "filling"
DORMANT: Final = "dormant"
LEAVING: Final = "leaving"

_SPACES = """
    SELECT id, model, revision, dim, query_prefix, passage_prefix, active, state
    FROM embedding_spaces ORDER BY id
"""
_SOME_LEAVING = """
    DELETE FROM embeddings WHERE id IN (
        SELECT id FROM embeddings WHERE passage_id >= ? AND space_id IN (
            SELECT id FROM embedding_spaces WHERE state = 'leaving' AND NOT active)
        ORDER BY passage_id LIMIT ?)
    RETURNING passage_id
"""


class SpaceMovedError(Exception):
    """What was embedded for one space was to be looked up in another."""


@dataclass(frozen=True, slots=True)
class StoredSpace:
    """A space and its id in this database."""

    id: int
    space: EmbeddingSpace
    state: SpaceState = ACTIVE


def all_spaces(connection: Connection) -> tuple[StoredSpace, ...]:
    """Every space, the oldest first."""
    return tuple(
        StoredSpace(row[0], EmbeddingSpace(*row[1:6]), ACTIVE if row[6] else _state(row[7]))
        for row in connection.exec_driver_sql(_SPACES)
    )


def active_space(connection: Connection) -> StoredSpace | None:
    """The space in which questions are asked; None in a database that never had vectors."""
    return next((each for each in all_spaces(connection) if each.state == ACTIVE), None)


def active_id(connection: Connection) -> int | None:
    """Id of the active space."""
    found = connection.exec_driver_sql("SELECT id FROM embedding_spaces WHERE active").scalar()
    return None if found is None else int(found)


def require_space(connection: Connection, space_id: int | None) -> None:
    """Refuse to look up a vector of another space than the active one.

    Args:
        connection: the transaction in which it would be looked up.
        space_id: the space of the vector; None where there is none.

    Raises:
        SpaceMovedError: another space is the active one here.
    """
    if space_id is not None and active_id(connection) != space_id:
        raise SpaceMovedError


def vector_counts(connection: Connection) -> dict[int, int]:
    """How many vectors each space holds, by id."""
    ids = [each.id for each in all_spaces(connection)]
    if not ids:
        return {}
    # One look at every row, without sorting them by space.
    columns = [func.count().filter(embeddings.c.space_id == space_id) for space_id in ids]
    row = connection.execute(select(*columns).select_from(embeddings)).one()
    return {space_id: int(count) for space_id, count in zip(ids, row, strict=True)}


def activate(connection: Connection, space: EmbeddingSpace, now: int) -> int:
    """Make a space the active one, and the only one that is; its id.

    The one that was leaves if it is of the same model; vectors of another model stay.
    """
    former = active_space(connection)
    space_id = _known(connection, space, now)
    make_active(connection, space_id)
    if former is not None and former.id != space_id and former.space.model == space.model:
        set_state(connection, former.id, LEAVING)
    return space_id


def begin(connection: Connection, space: EmbeddingSpace, now: int) -> int:
    """Let a space fill beside the active one; its id. Another that was filling leaves."""
    space_id = _known(connection, space, now)
    columns = embedding_spaces.c
    connection.execute(
        update(embedding_spaces)
        .where(columns.state == FILLING, columns.id != space_id)
        .values(state=LEAVING)
    )
    set_state(connection, space_id, FILLING)
    return space_id


def make_active(connection: Connection, space_id: int, former: SpaceState = DORMANT) -> None:
    """Make a space that is there the active one.

    Args:
        connection: a write transaction.
        space_id: the space.
        former: what becomes of the one that was active.
    """
    columns = embedding_spaces.c
    connection.execute(
        update(embedding_spaces)
        .where(columns.active, columns.id != space_id)
        .values(active=False, state=former)
    )
    connection.execute(
        update(embedding_spaces).where(columns.id == space_id).values(active=True, state=DORMANT)
    )


def take_filling(connection: Connection, space_id: int) -> None:
    """Make the space that was filled the active one; the former one leaves.

    Raises:
        SpaceMovedError: it is not to be filled any more.
    """
    columns = embedding_spaces.c
    filling = select(columns.id).where(columns.state == FILLING, ~columns.active)
    if connection.execute(filling).scalar() != space_id:
        raise SpaceMovedError
    make_active(connection, space_id, LEAVING)


def set_state(connection: Connection, space_id: int, state: SpaceState) -> None:
    """Say what becomes of a space that is not active."""
    columns = embedding_spaces.c
    connection.execute(
        update(embedding_spaces).where(columns.id == space_id, ~columns.active).values(state=state)
    )


def drop_dormant(connection: Connection) -> int:
    """Let every dormant space leave; how many."""
    columns = embedding_spaces.c
    return connection.execute(
        update(embedding_spaces)
        .where(columns.state == DORMANT, ~columns.active)
        .values(state=LEAVING)
    ).rowcount


def drop_filling(connection: Connection) -> int:
    """Let the space that is being filled leave; how many there were."""
    columns = embedding_spaces.c
    return connection.execute(
        update(embedding_spaces)
        .where(columns.state == FILLING, ~columns.active)
        .values(state=LEAVING)
    ).rowcount


def has_vectors(connection: Connection, space_id: int) -> bool:
    """Whether a space holds any vector."""
    return bool(
        connection.execute(select(exists().where(embeddings.c.space_id == space_id))).scalar()
    )


def has_leaving(connection: Connection) -> bool:
    """Whether any space is on its way out."""
    columns = embedding_spaces.c
    return bool(
        connection.execute(
            select(exists().where(columns.state == LEAVING, ~columns.active))
        ).scalar()
    )


def remove_leaving(connection: Connection, after: int = 0) -> int | None:
    """Remove some vectors of spaces that leave, and the spaces when none is left.

    Args:
        connection: a write transaction.
        after: no passage below this id has such a vector.

    Returns:
        Where to go on; None when everything has been removed.
    """
    rows = connection.exec_driver_sql(_SOME_LEAVING, (after, REMOVED_AT_ONCE)).all()
    removed = [int(row[0]) for row in rows]
    if len(removed) == REMOVED_AT_ONCE:
        return max(removed)
    if after:
        # From the start once more: a passage may have got an older vector back meanwhile.
        return 0
    columns = embedding_spaces.c
    connection.execute(delete(embedding_spaces).where(columns.state == LEAVING, ~columns.active))
    return None


def _known(connection: Connection, space: EmbeddingSpace, now: int) -> int:
    """The id of a space, which is added when it is not there."""
    known = connection.execute(
        select(embedding_spaces.c.id).where(embedding_spaces.c.fingerprint == space.fingerprint)
    ).scalar()
    if known is not None:
        return int(known)
    added = connection.execute(
        insert(embedding_spaces).values(
            fingerprint=space.fingerprint,
            model=space.model,
            revision=space.revision,
            dim=space.dim,
            query_prefix=space.query_prefix,
            passage_prefix=space.passage_prefix,
            active=False,
            state=DORMANT,
            created_at=now,
        )
    ).inserted_primary_key
    assert added is not None
    return int(added[0])


def _state(text: str) -> SpaceState:
    """What the column says; a word that this version does not know keeps the vectors."""
    return FILLING if text == FILLING else LEAVING if text == LEAVING else DORMANT
