"""Vectors in the store of a test, as an embedder would have put them there."""

from collections.abc import Mapping

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from cloxy_hookspecs import EmbeddingSpace
from cloxy_hookspecs.tables import embedding_spaces, embeddings, passages


def store_vectors(
    connection: Connection, space: EmbeddingSpace, vectors: Mapping[int, bytes]
) -> None:
    """Make a space the active one, and put vectors of passages into it.

    Args:
        connection: a write transaction.
        space: what the vectors were made with.
        vectors: by passage, `float32` little endian. Those of passages that are not in the store
            are left out.
    """
    number = _active(connection, space)
    rows = connection.execute(
        select(passages.c.id, passages.c.text_hash).where(passages.c.id.in_(list(vectors)))
    )
    values = [
        {"passage_id": id_, "space_id": number, "text_hash": hash_, "vector": vectors[id_]}
        for id_, hash_ in rows
    ]
    if values:
        statement = upsert(embeddings)
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["passage_id", "space_id"],
                set_={"vector": statement.excluded.vector},
            ),
            values,
        )


def _active(connection: Connection, space: EmbeddingSpace) -> int:
    """Number of a space, which is the only active one afterwards."""
    facts = {
        "model": space.model,
        "revision": space.revision,
        "dim": space.dim,
        "query_prefix": space.query_prefix,
        "passage_prefix": space.passage_prefix,
        "created_at": 0,
    }
    connection.execute(
        upsert(embedding_spaces)
        .values(fingerprint=space.fingerprint, active=True, **facts)
        .on_conflict_do_nothing()
    )
    is_it = embedding_spaces.c.fingerprint == space.fingerprint
    connection.execute(update(embedding_spaces).values(active=is_it))
    return int(connection.execute(select(embedding_spaces.c.id).where(is_it)).scalar_one())
