"""Messages whose text in the log is not what was stored.

A log is append-only by habit, not by law: a line may be edited, or have been taken before it was
finished. The stored copy follows, in its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from cloxy_core.services.indexing import Indexing
from cloxy_core.services.passage_rows import PASSAGE_TEXT
from cloxy_core.services.write.removal import (
    Place,
    neighbours,
    refresh,
    remove_passages,
    replace_text,
)
from cloxy_hookspecs import Message
from cloxy_hookspecs.tables import memories, passages

ACTOR = "ingest"


@dataclass(frozen=True, slots=True)
class _Part:
    """A stored part of a message."""

    memory_id: int
    place: Place
    text: str


def revise(
    connection: Connection,
    indexing: Indexing,
    session_id: int,
    messages: Sequence[Message],
    now: int,
) -> int:
    """Make the stored copies of known messages equal to these.

    Args:
        connection: a write transaction.
        indexing: what keeps the indexes in step.
        session_id: the session in which they stand.
        messages: messages, known or not (at most a few hundred).
        now: milliseconds.

    Returns:
        How many stored messages were changed.
    """
    stored = _stored(connection, session_id, [message.uid for message in messages])
    changed = 0
    for message in messages:
        parts = stored.get(message.uid, [])
        if not parts or "".join(part.text for part in parts) == message.text:
            continue
        first = parts[0]
        replace_text(connection, first.memory_id, first.place, message.text, now)
        remove_passages(
            connection, indexing, [part.place.id for part in parts[1:]], actor=ACTOR, now=now
        )
        touched = {first.place.id}
        refresh(connection, indexing, touched | neighbours(connection, touched))
        # Places in the same memory have moved: read them again for the next message.
        stored = _stored(connection, session_id, [m.uid for m in messages])
        changed += 1
    return changed


def _stored(connection: Connection, session_id: int, uids: Sequence[str]) -> dict[str, list[_Part]]:
    rows = connection.execute(
        select(
            passages.c.id,
            passages.c.memory_id,
            passages.c.message_uid,
            passages.c.char_start,
            passages.c.char_end,
            PASSAGE_TEXT.label("text"),
        )
        .join(memories, memories.c.id == passages.c.memory_id)
        .where(passages.c.session_id == session_id, passages.c.message_uid.in_(uids))
        .order_by(passages.c.message_uid, passages.c.part)
    )
    found: dict[str, list[_Part]] = {}
    for row in rows:
        place = Place(row.id, row.char_start, row.char_end)
        found.setdefault(row.message_uid, []).append(_Part(row.memory_id, place, row.text))
    return found
