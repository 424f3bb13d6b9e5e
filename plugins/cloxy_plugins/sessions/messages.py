"""The messages of a session, put together from what is stored of them."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection, String, select, type_coerce

from cloxy_hookspecs import NotFoundError
from cloxy_hookspecs.tables import memories, passages
from cloxy_plugins.sessions.instants import iso
from cloxy_plugins.sessions.models import MessageOutput

LEAD: Final = 3
"""Messages that are shown before the one that was asked for."""

OWN: Final = "own"
"""Author of what our own model answered, which is never told to a model again."""

_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class _Piece:
    """Where a part of a message stands: a span of characters of a memory."""

    memory: int
    start: int
    end: int


@dataclass(slots=True)
class Placed:
    """A message, and where its text stands."""

    number: int
    uid: str | None
    role: str
    author: str
    at: int | None
    pieces: list[_Piece] = field(default_factory=list[_Piece])

    @property
    def size(self) -> int:
        """Characters of its text."""
        return sum(piece.end - piece.start for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class _Stored:
    """The text of a memory, None when it is damaged, and further facts."""

    content: str | None
    facts: Mapping[str, object]


def placed_messages(connection: Connection, session: int) -> Sequence[Placed]:
    """All messages of a session in order, without their texts."""
    statement = (
        select(
            passages.c.memory_id,
            passages.c.part,
            passages.c.role,
            passages.c.author,
            passages.c.char_start,
            passages.c.char_end,
            passages.c.message_uid,
            passages.c.occurred_at,
        )
        .select_from(passages.join(memories, memories.c.id == passages.c.memory_id))
        .where(memories.c.session_id == session, memories.c.state == "active")
        .order_by(memories.c.ordinal, memories.c.id, passages.c.ordinal)
    )
    found: list[Placed] = []
    for row in connection.execute(statement):
        if not row.part or not found or found[-1].uid != row.message_uid:
            number = len(found) + 1
            found.append(Placed(number, row.message_uid, row.role, row.author, row.occurred_at))
        found[-1].pieces.append(_Piece(row.memory_id, row.char_start, row.char_end))
    return found


def number_of(placed: Sequence[Placed], memory: int) -> int:
    """Number of the first message that a memory has something of.

    Raises:
        NotFoundError: it has nothing of this session.
    """
    for message in placed:
        if any(piece.memory == memory for piece in message.pieces):
            return message.number
    raise NotFoundError(
        f"the memory {memory} is not of this session", hint="`recall` shows the session of a memory"
    )


def stretch(
    placed: Sequence[Placed], start: int, limit: int, characters: int
) -> tuple[Sequence[Placed], int | None]:
    """Messages from a number on, one at least, and the number of the one after them.

    Args:
        placed: all messages.
        start: number of the first one.
        limit: most messages.
        characters: most characters of text, unless the first message alone has more.
    """
    end, size = start - 1, 0
    while end < len(placed):
        size += placed[end].size
        if end >= start and (size > characters or end - start + 1 >= limit):
            return placed[start - 1 : end], end + 1
        end += 1
    return placed[start - 1 : end], None


def with_texts(
    connection: Connection, placed: Sequence[Placed], *, own: bool
) -> list[MessageOutput]:
    """Messages with their texts, verbatim.

    Args:
        connection: a read transaction.
        placed: the messages.
        own: whether what our own model answered is told too.
    """
    ids = list(dict.fromkeys(piece.memory for message in placed for piece in message.pieces))
    stored = dict(_stored(connection, ids))
    return [_message(message, stored, own=own) for message in placed]


def _stored(connection: Connection, ids: Sequence[int]) -> Iterator[tuple[int, _Stored]]:
    for first in range(0, len(ids), _AT_ONCE):
        statement = select(
            memories.c.id,
            memories.c.content,
            memories.c.content_hash,
            # Decoded here, since damage must not fail the whole answer.
            type_coerce(memories.c.extra, String).label("extra"),
        ).where(memories.c.id.in_(ids[first : first + _AT_ONCE]))
        for row in connection.execute(statement):
            content: str = row.content
            found = hashlib.sha256(content.encode(errors="replace")).hexdigest()
            sound = found == row.content_hash
            yield row.id, _Stored(content if sound else None, _facts(row.extra))


def _facts(extra: str) -> Mapping[str, object]:
    try:
        facts = json.loads(extra)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _message(placed: Placed, stored: Mapping[int, _Stored], *, own: bool) -> MessageOutput:
    texts = [_text_of(piece, stored) for piece in placed.pieces]
    facts = stored[placed.pieces[0].memory].facts
    model = facts.get("model") if placed.role == "assistant" else None
    whole = "".join(text for text in texts if text is not None)
    damaged = None in texts
    withheld = placed.author == OWN and not own
    return MessageOutput(
        number=placed.number,
        role=placed.role,
        author=placed.author,
        at=iso(placed.at),
        approximate=placed.at is not None and facts.get("time") == "approximate",
        model=model if isinstance(model, str) else None,
        text="" if damaged or withheld else whole,
        damaged=damaged,
        withheld=withheld,
        memories=list(dict.fromkeys(piece.memory for piece in placed.pieces)),
    )


def _text_of(piece: _Piece, stored: Mapping[int, _Stored]) -> str | None:
    content = stored[piece.memory].content
    return None if content is None else content[piece.start : piece.end]
