"""Keeping forgotten what was forgotten, after rows came back from a backup."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Connection, select

from cloxy_core.services.indexing import Indexing
from cloxy_core.services.passage_rows import PASSAGE_TEXT
from cloxy_core.services.write.removal import remove_passages
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_hookspecs import Message
from cloxy_hookspecs.tables import memories, passages

ACTOR: Final = "doctor"
LOOKUP: Final = 500


def forget_again(
    connection: Connection, indexing: Indexing, tombstones: Tombstones, now: int
) -> int:
    """Remove passages of messages that were forgotten; a write transaction. How many."""
    dead: list[int] = []
    batch: list[tuple[Message, list[int]]] = []
    for pair in _messages(connection):
        batch.append(pair)
        if len(batch) >= LOOKUP:
            dead += _dead(connection, tombstones, batch)
            batch = []
    dead += _dead(connection, tombstones, batch)
    if dead:
        remove_passages(connection, indexing, dead, actor=ACTOR, now=now)
    return len(dead)


def _dead(
    connection: Connection, tombstones: Tombstones, batch: Sequence[tuple[Message, list[int]]]
) -> list[int]:
    alive = tombstones.alive(connection, [message for message, _ in batch])
    kept = set(map(id, alive))
    return [passage for message, ids in batch if id(message) not in kept for passage in ids]


def _messages(connection: Connection) -> Iterable[tuple[Message, list[int]]]:
    """Every stored message, put together from its passages, with their ids."""
    rows = connection.execute(
        select(
            passages.c.id,
            passages.c.session_id,
            passages.c.message_uid,
            passages.c.role,
            passages.c.author,
            passages.c.occurred_at,
            PASSAGE_TEXT.label("text"),
        )
        .join(memories, memories.c.id == passages.c.memory_id)
        .order_by(passages.c.session_id, passages.c.message_uid, passages.c.part, passages.c.id)
    ).all()
    for _key, group in groupby(rows, _key_of):
        parts = list(group)
        first = parts[0]
        message = Message(
            uid=first.message_uid or "",
            session="",
            role=first.role,
            author=first.author,
            text="".join(part.text for part in parts),
            at=first.occurred_at,
            start=0,
            end=0,
        )
        yield message, [part.id for part in parts]


def _key_of(row: Any) -> tuple[object, ...]:  # noqa: ANN401 - a row
    alone = row.message_uid is None
    return (row.session_id, row.id if alone else row.message_uid)
