"""Messages whose text in the log is not what was stored.

A log is append-only by habit, not by law: a line may be edited, or have been taken before it was
finished. The stored copy follows, in its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from cloxy_core.services.indexing import Indexing
from cloxy_core.services.passage_rows import PASSAGE_TEXT
from cloxy_core.services.write.removal import (
    Place,
    neighbours,
    refresh,
    remove_passages,
    replace_text,
)
from cloxy_core.store.lookups import lookups
from cloxy_hookspecs import Chunker, Message
from cloxy_hookspecs.tables import memories, memory_events, passages

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
    chunker: Chunker,
    session_id: int,
    messages: Sequence[Message],
    now: int,
) -> Sequence[str]:
    """Make the stored copies of known messages equal to these.

    A changed message at the end of its session is taken out, to be packed anew as an unknown
    one; any other is replaced where it stands.

    Args:
        connection: a write transaction.
        indexing: what keeps the indexes in step.
        chunker: splits what is long.
        session_id: the session in which they stand.
        messages: messages, known or not.
        now: milliseconds.

    Returns:
        The texts that are stored no more.
    """
    wanted = {message.uid: message for message in reversed(messages)}
    stored = _stored(connection, session_id, list(wanted))
    changed = {
        uid: text
        for uid, parts in stored.items()
        if (text := "".join(part.text for part in parts)) != wanted[uid].text
    }
    # The last first: when it is taken out, the one before it is at the end.
    for uid in sorted(changed, key=lambda uid: stored[uid][0].place.id, reverse=True):
        # What was done before may have moved places in the same memory.
        parts = _stored(connection, session_id, [uid])[uid]
        _revise_one(connection, indexing, chunker, session_id, wanted[uid], parts, now)
    return list(changed.values())


def _revise_one(
    connection: Connection,
    indexing: Indexing,
    chunker: Chunker,
    session_id: int,
    message: Message,
    parts: Sequence[_Part],
    now: int,
) -> None:
    ids = [part.place.id for part in parts]
    if _is_last(connection, session_id, ids[-1]):
        remove_passages(connection, indexing, ids, actor=ACTOR, now=now)
        return
    texts = _split(chunker, message, len(parts))
    for part, text in zip(parts, texts, strict=False):
        replace_text(connection, part.memory_id, part.place, text, now)
        connection.execute(
            insert(memory_events),
            {"memory_id": part.memory_id, "op": "update", "actor": ACTOR, "at": now},
        )
    if spare := ids[len(texts) :]:
        remove_passages(connection, indexing, spare, actor=ACTOR, now=now)
    touched = set(ids[: len(texts)])
    refresh(connection, indexing, touched | neighbours(connection, touched))


def _split(chunker: Chunker, message: Message, most: int) -> Sequence[str]:
    """A text in the parts that a chunker makes of it, but not more than there is place for."""
    texts = [
        chunk.content[piece.start : piece.end]
        for chunk in chunker.pack([message], None)
        for piece in chunk.pieces
    ]
    if len(texts) <= most:
        return texts
    return [*texts[: most - 1], "".join(texts[most - 1 :])]


def _is_last(connection: Connection, session_id: int, passage_id: int) -> bool:
    behind = select(passages.c.id).where(
        passages.c.session_id == session_id, passages.c.id > passage_id
    )
    return connection.execute(behind.limit(1)).first() is None


def _stored(connection: Connection, session_id: int, uids: Sequence[str]) -> dict[str, list[_Part]]:
    found: dict[str, list[_Part]] = {}
    for part in lookups(uids):
        _add_stored(connection, session_id, part, found)
    return found


def _add_stored(
    connection: Connection, session_id: int, uids: Sequence[str], found: dict[str, list[_Part]]
) -> None:
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
    for row in rows:
        place = Place(row.id, row.char_start, row.char_end)
        found.setdefault(row.message_uid, []).append(_Part(row.memory_id, place, row.text))
