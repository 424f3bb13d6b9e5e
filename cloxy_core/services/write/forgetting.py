"""Forgetting for good.

What is forgotten leaves the rows, every index, session titles and the parsers' own notes, and a
keyed hash stays behind so that no copy of it is taken in again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, delete, func, or_, select, update

from cloxy_core.services.indexing import Indexing
from cloxy_core.services.passage_rows import PASSAGE_TEXT
from cloxy_core.services.write.removal import remove_passages
from cloxy_core.services.write.tombstones import TELLING, Tombstones
from cloxy_hookspecs import Clock, Forgotten, InputError, NotFoundError
from cloxy_hookspecs.tables import memories, passages, sessions, sources

ACTOR = "forget"
LOOKUP = 500


@dataclass(frozen=True, slots=True)
class _Victim:
    """A passage to be forgotten."""

    id: int
    uid: str | None
    text: str
    text_hash: str
    session_id: int | None
    source_id: int | None


@dataclass(frozen=True, slots=True)
class Forgetter:
    """Forgets; its methods are bodies of write transactions."""

    indexing: Indexing
    tombstones: Tombstones
    clock: Clock

    def memory(self, connection: Connection, memory_id: int) -> Forgotten:
        """Forget a memory and every copy of its messages, in whatever session."""
        victims = _victims(connection, passages.c.memory_id == memory_id)
        if not victims:
            raise NotFoundError(
                f"there is no memory {memory_id}", hint="ids are shown by `cloxy recall`"
            )
        return self._forget(connection, [*victims, *_copies(connection, victims)])

    def source(self, connection: Connection, prefix: str, *, dry_run: bool) -> Forgotten:
        """Forget the memories whose source label begins with whole segments."""
        condition = source_condition(prefix)
        if dry_run:
            found = connection.execute(
                select(func.count(func.distinct(passages.c.memory_id)), func.count(passages.c.id))
                .join(memories, memories.c.id == passages.c.memory_id)
                .where(condition)
            ).one()
            return Forgotten(*found)
        return self._forget(connection, _victims(connection, condition))

    def _forget(self, connection: Connection, victims: Sequence[_Victim]) -> Forgotten:
        by_id = {victim.id: victim for victim in victims}
        now = self.clock.now_ms()
        buried = self.tombstones.bury(
            connection, ((victim.uid, victim.text) for victim in by_id.values()), now
        )
        deleted = remove_passages(connection, self.indexing, by_id, actor=ACTOR, now=now)
        _clear_traces(connection, by_id.values())
        return Forgotten(deleted, buried)


def source_condition(prefix: str) -> ColumnElement[bool]:
    """Memories of a source label or below it, in whole `:` segments, case-sensitive."""
    stem = prefix.strip().rstrip(":")
    if not stem:
        raise InputError(
            "the source prefix is empty", hint="name a source, for example `convo:<session>`"
        )
    below = stem + ":"
    column = memories.c.source
    # substr compares exactly; LIKE would ignore case and take `_` and `%` for wildcards.
    return or_(column == stem, func.substr(column, 1, len(below)) == below)


def _victims(connection: Connection, condition: ColumnElement[bool]) -> Sequence[_Victim]:
    rows = connection.execute(
        select(
            passages.c.id,
            passages.c.message_uid,
            PASSAGE_TEXT.label("text"),
            passages.c.text_hash,
            passages.c.session_id,
            memories.c.source_id,
        )
        .join(memories, memories.c.id == passages.c.memory_id)
        .where(condition)
    )
    return [_Victim(*row) for row in rows]


def _copies(connection: Connection, victims: Sequence[_Victim]) -> Sequence[_Victim]:
    """Further passages with the same message ids, or the same telling text."""
    uids = list({victim.uid for victim in victims if victim.uid})
    hashes = list({victim.text_hash for victim in victims if len(victim.text) >= TELLING})
    found: list[_Victim] = []
    for column, values in ((passages.c.message_uid, uids), (passages.c.text_hash, hashes)):
        for start in range(0, len(values), LOOKUP):
            found.extend(_victims(connection, column.in_(values[start : start + LOOKUP])))
    return found


def _clear_traces(connection: Connection, victims: Iterable[_Victim]) -> None:
    """Remove titles that quote what was forgotten, empty sessions, and parsers' notes."""
    seen = list(victims)
    session_ids = {victim.session_id for victim in seen if victim.session_id is not None}
    source_ids = {victim.source_id for victim in seen if victim.source_id is not None}
    texts = [" ".join(victim.text.split()) for victim in seen]
    for identifier in session_ids:
        left = connection.execute(
            select(passages.c.id).where(passages.c.session_id == identifier).limit(1)
        ).first()
        if left is None:
            connection.execute(delete(sessions).where(sessions.c.id == identifier))
            continue
        title = connection.execute(
            select(sessions.c.title).where(sessions.c.id == identifier)
        ).scalar()
        stem = " ".join((title or "").rstrip("…").split())
        if stem and any(stem in text for text in texts):
            connection.execute(
                update(sessions)
                .where(sessions.c.id == identifier)
                .values(title=None, title_rank=0, indexed_title=None)
            )
    for identifier in source_ids:
        connection.execute(
            update(sources).where(sources.c.id == identifier).values(parser_state={})
        )
