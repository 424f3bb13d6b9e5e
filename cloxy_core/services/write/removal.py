"""Taking passages out of memories, text and all.

A memory whose last passage goes is deleted; else its content is closed up around the gap, label
and separator included, and the places of the passages behind are moved.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlalchemy import Connection, delete, insert, select, update

from cloxy_core.services.indexing import Indexing
from cloxy_core.services.passage_rows import index_rows
from cloxy_core.services.write.rows import text_hash
from cloxy_core.store.lookups import lookups
from cloxy_hookspecs import IndexChange
from cloxy_hookspecs.tables import memories, memory_events, passages

FEW = 50


@dataclass(frozen=True, slots=True)
class Place:
    """Where a passage lies in its memory's content."""

    id: int
    start: int
    end: int


def memory_passages(connection: Connection, memory_id: int) -> Sequence[Place]:
    """Places of a memory's passages, in order."""
    rows = connection.execute(
        select(passages.c.id, passages.c.char_start, passages.c.char_end)
        .where(passages.c.memory_id == memory_id)
        .order_by(passages.c.char_start)
    )
    return [Place(row.id, row.char_start, row.char_end) for row in rows]


def remove_passages(
    connection: Connection,
    indexing: Indexing,
    ids: Iterable[int],
    *,
    actor: str,
    now: int,
) -> int:
    """Remove passages from the store and from every index.

    Returns:
        How many memories were deleted because nothing was left of them.
    """
    wanted = set(ids)
    beside = neighbours(connection, wanted)
    by_memory = _by_memory(connection, wanted)
    deleted = 0
    for memory_id, gone in by_memory.items():
        deleted += _remove_from(connection, memory_id, gone, actor=actor, now=now)
    indexing.change(connection, [IndexChange(identifier, None) for identifier in sorted(wanted)])
    refresh(connection, indexing, beside - wanted)
    return deleted


def refresh(connection: Connection, indexing: Indexing, ids: Iterable[int]) -> None:
    """Index passages again as they are now."""
    wanted = sorted(ids)
    for part in lookups(wanted):
        rows = index_rows(connection, ids=part)
        indexing.change(connection, [IndexChange(row.passage_id, row) for row in rows])


def neighbours(connection: Connection, ids: Iterable[int]) -> set[int]:
    """Passages that stand beside these in their sessions."""
    by_session: dict[int, list[int]] = {}
    ordered = sorted(set(ids))
    for part in lookups(ordered):
        rows = connection.execute(
            select(passages.c.id, passages.c.session_id).where(
                passages.c.id.in_(part),
                passages.c.session_id.is_not(None),
            )
        )
        for row in rows:
            by_session.setdefault(row.session_id, []).append(row.id)
    found: set[int] = set()
    for session, members in by_session.items():
        look = _beside_many if len(members) > FEW else _beside_few
        found |= look(connection, session, members)
    return found


def _beside_few(connection: Connection, session: int, ids: Sequence[int]) -> set[int]:
    same = select(passages.c.id).where(passages.c.session_id == session)
    found: set[int] = set()
    for identifier in ids:
        before = same.where(passages.c.id < identifier).order_by(passages.c.id.desc()).limit(1)
        after = same.where(passages.c.id > identifier).order_by(passages.c.id).limit(1)
        for statement in (before, after):
            found.update(connection.execute(statement).scalars())
    return found


def _beside_many(connection: Connection, session: int, ids: Sequence[int]) -> set[int]:
    """The same with one look at the whole session."""
    same = select(passages.c.id).where(passages.c.session_id == session)
    line = list(connection.execute(same.order_by(passages.c.id)).scalars())
    wanted = set(ids)
    pairs = list(pairwise(line))
    return {after for before, after in pairs if before in wanted} | {
        before for before, after in pairs if after in wanted
    }


def replace_text(connection: Connection, memory_id: int, place: Place, text: str, now: int) -> None:
    """Put another text where a passage lies, and move what stands behind it."""
    content = _content(connection, memory_id)
    shift = len(text) - (place.end - place.start)
    _set_content(connection, memory_id, content[: place.start] + text + content[place.end :], now)
    if shift:
        connection.execute(
            update(passages)
            .where(passages.c.memory_id == memory_id, passages.c.char_start >= place.end)
            .values(char_start=passages.c.char_start + shift, char_end=passages.c.char_end + shift)
        )
    connection.execute(
        update(passages)
        .where(passages.c.id == place.id)
        .values(char_start=place.start, char_end=place.start + len(text), text_hash=text_hash(text))
    )


def _by_memory(connection: Connection, ids: set[int]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    ordered = sorted(ids)
    for part in lookups(ordered):
        rows = connection.execute(
            select(passages.c.id, passages.c.memory_id).where(passages.c.id.in_(part))
        )
        for row in rows:
            found.setdefault(row.memory_id, set()).add(row.id)
    return found


def _remove_from(
    connection: Connection, memory_id: int, gone: set[int], *, actor: str, now: int
) -> int:
    places = memory_passages(connection, memory_id)
    connection.execute(delete(passages).where(passages.c.id.in_(gone)))
    kept = [place for place in places if place.id not in gone]
    op = "update" if kept else "delete"
    connection.execute(
        insert(memory_events), {"memory_id": memory_id, "op": op, "actor": actor, "at": now}
    )
    if not kept:
        connection.execute(delete(memories).where(memories.c.id == memory_id))
        return 1
    content = _content(connection, memory_id)
    pieces: list[str] = []
    length = 0
    for place in places:
        # The label and separator before a passage belong to it.
        lead_start = max((p.end for p in places if p.end <= place.start), default=0)
        if place.id in gone:
            continue
        lead = content[lead_start : place.start]
        lead = lead if pieces else lead.lstrip("\n")
        pieces.append(lead + content[place.start : place.end])
        start = length + len(lead)
        length = start + place.end - place.start
        connection.execute(
            update(passages)
            .where(passages.c.id == place.id)
            .values(char_start=start, char_end=length)
        )
    _set_content(connection, memory_id, "".join(pieces), now)
    return 0


def _content(connection: Connection, memory_id: int) -> str:
    content: str = connection.execute(
        select(memories.c.content).where(memories.c.id == memory_id)
    ).scalar_one()
    return content


def _set_content(connection: Connection, memory_id: int, content: str, now: int) -> None:
    connection.execute(
        update(memories)
        .where(memories.c.id == memory_id)
        .values(
            content=content,
            content_hash=text_hash(content),
            updated_at=now,
            version=memories.c.version + 1,
        )
    )
