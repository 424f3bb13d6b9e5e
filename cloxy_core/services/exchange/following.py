"""Notes that an import brought before, and whose text is another one now."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, cast

from sqlalchemy import Connection, Row, and_, or_, select

from cloxy_core.services.exchange.entries import NoteEntry
from cloxy_core.services.write.rows import text_hash
from cloxy_hookspecs.tables import memories, passages

KEY: Final = "imported"
"""In the metadata of such a note: the hash of its text, and in how many parts it was stored."""


def marked(note: NoteEntry, parts: int) -> NoteEntry:
    """A note that can be followed later."""
    mark = {"sha256": text_hash(note.text), "parts": parts}
    return replace(note, metadata={**note.metadata, KEY: mark})


def standing(connection: Connection, note: NoteEntry) -> Literal["new", "same", "changed", "cut"]:
    """How a note stands to what is stored under its id.

    It is cut when a part of it was forgotten: then it is left as it is, since nobody can say
    whether what was forgotten is in the new text.
    """
    stored = _stored(connection, note)
    if stored is None:
        return "new"
    mark = _mark(stored.extra)
    parts, digest = mark.get("parts"), mark.get("sha256")
    if not isinstance(parts, int) or digest == text_hash(note.text):
        return "same"
    return "changed" if len(_parts(connection, stored.source, digest)) >= parts else "cut"


def stored_passages(connection: Connection, note: NoteEntry) -> Sequence[int]:
    """Ids of all passages of a note that is stored."""
    stored = _stored(connection, note)
    if stored is None:
        return ()
    found: list[int] = []
    for memory in _parts(connection, stored.source, _mark(stored.extra).get("sha256")):
        rows = connection.execute(select(passages.c.id).where(passages.c.memory_id == memory))
        found += rows.scalars()
    return found


def _stored(connection: Connection, note: NoteEntry) -> Row[*tuple[object, ...]] | None:
    statement = select(memories.c.source, memories.c.extra).where(memories.c.uid == note.uid)
    return connection.execute(statement).first()


def _mark(extra: object) -> Mapping[str, object]:
    found = cast("Mapping[str, object]", extra).get(KEY) if isinstance(extra, dict) else None
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def _parts(connection: Connection, source: str, digest: object) -> Sequence[int]:
    """Memories of a note: by its label, which another one may continue, and by its mark."""
    first, behind = f"{source}:chunk", f"{source}:chunl"
    rows = connection.execute(
        select(memories.c.id, memories.c.extra).where(
            memories.c.session_id.is_(None),
            or_(
                memories.c.source == source,
                and_(memories.c.source >= first, memories.c.source < behind),
            ),
        )
    )
    return [row.id for row in rows if _mark(row.extra).get("sha256") == digest]
