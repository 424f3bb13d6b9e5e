"""Spaces of vectors in the store; the functions are bodies of transactions."""

from dataclasses import dataclass

from sqlalchemy import Connection, delete, exists, insert, select, update

from cloxy_hookspecs import EmbeddingSpace
from cloxy_hookspecs.tables import embedding_spaces, embeddings

REMOVED_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class StoredSpace:
    """A space and its id in this database."""

    id: int
    space: EmbeddingSpace


def active_space(connection: Connection) -> StoredSpace | None:
    """The space in which questions are asked; None in a database that never had vectors."""
    table = embedding_spaces.c
    row = connection.execute(
        select(
            table.id,
            table.model,
            table.revision,
            table.dim,
            table.query_prefix,
            table.passage_prefix,
        ).where(table.active)
    ).first()
    return None if row is None else StoredSpace(row[0], EmbeddingSpace(*row[1:]))


def activate(connection: Connection, space: EmbeddingSpace, now: int) -> int:
    """Make a space the active one, and the only one that is; its id."""
    connection.execute(update(embedding_spaces).values(active=False))
    fingerprint = space.fingerprint
    known = connection.execute(
        update(embedding_spaces)
        .where(embedding_spaces.c.fingerprint == fingerprint)
        .values(active=True)
        .returning(embedding_spaces.c.id)
    ).scalar()
    if known is not None:
        return int(known)
    added = connection.execute(
        insert(embedding_spaces).values(
            fingerprint=fingerprint,
            model=space.model,
            revision=space.revision,
            dim=space.dim,
            query_prefix=space.query_prefix,
            passage_prefix=space.passage_prefix,
            active=True,
            created_at=now,
        )
    ).inserted_primary_key
    assert added is not None
    return int(added[0])


def has_vectors(connection: Connection, space_id: int) -> bool:
    """Whether a space holds any vector."""
    return bool(
        connection.execute(select(exists().where(embeddings.c.space_id == space_id))).scalar()
    )


def has_others(connection: Connection, space_id: int) -> bool:
    """Whether any other space holds vectors."""
    several = select(embedding_spaces.c.id).where(embedding_spaces.c.id != space_id).limit(1)
    if connection.execute(several).first() is None:
        return False
    return bool(
        connection.execute(select(exists().where(embeddings.c.space_id != space_id))).scalar()
    )


def remove_others(connection: Connection, space_id: int) -> int:
    """Remove some vectors of other spaces; how many."""
    some = select(embeddings.c.id).where(embeddings.c.space_id != space_id).limit(REMOVED_AT_ONCE)
    return connection.execute(delete(embeddings).where(embeddings.c.id.in_(some))).rowcount
