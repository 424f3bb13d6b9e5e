"""Forgetting for good.

What is forgotten leaves the rows, every index, session titles and the parsers' own notes, and a
keyed hash stays behind so that no copy of it is taken in again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, delete, func, or_, select, update

from cloxy_core.services.indexing import Indexing
from cloxy_core.services.write.removal import remove_passages
from cloxy_core.services.write.sessions import UNTOLD, quotes
from cloxy_core.services.write.tombstones import LOOKUP, Tombstones
from cloxy_core.services.write.victims import Victim, copies, find_victims
from cloxy_hookspecs import Clock, Forgotten, InputError, NotFoundError
from cloxy_hookspecs.tables import memories, passages, sessions

ACTOR = "forget"


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What a transaction of forgetting did.

    Attributes:
        forgotten: what is told.
        retitled: sessions whose passages are still indexed under a title that is gone.
    """

    forgotten: Forgotten
    retitled: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Forgetter:
    """Forgets; its methods are bodies of write transactions."""

    indexing: Indexing
    tombstones: Tombstones
    clock: Clock

    def memory(self, connection: Connection, memory_id: int) -> Forgetting:
        """Forget a memory and every copy of its messages, in whatever session.

        A message that goes on in other memories is forgotten as a whole.
        """
        victims = find_victims(connection, passages.c.memory_id == memory_id)
        if not victims:
            raise NotFoundError(
                f"there is no memory {memory_id}", hint="ids are shown by `cloxy recall`"
            )
        return self._forget(connection, [*victims, *copies(connection, victims)])

    def source(self, connection: Connection, prefix: str) -> Forgetting:
        """Forget the memories whose source label begins with whole segments."""
        return self._forget(connection, find_victims(connection, source_condition(prefix)))

    def preview(self, connection: Connection, prefix: str) -> Forgotten:
        """What `source` would forget."""
        victims = find_victims(connection, source_condition(prefix))
        by_memory: dict[int, set[int]] = {}
        for victim in victims:
            for place in victim.places:
                by_memory.setdefault(place.memory_id, set()).add(place.id)
        emptied = sum(
            _passage_count(connection, memory) == len(ids) for memory, ids in by_memory.items()
        )
        return Forgotten(emptied, len(victims))

    def _forget(self, connection: Connection, victims: Sequence[Victim]) -> Forgetting:
        now = self.clock.now_ms()
        distinct = {victim.key: victim for victim in victims}.values()
        uids = _note_uids(connection, distinct)
        said = ((v.uid or uids.get(v.places[0].memory_id), v.text) for v in distinct)
        buried = self.tombstones.bury(connection, said, now)
        ids = [place.id for victim in distinct for place in victim.places]
        deleted = remove_passages(connection, self.indexing, ids, actor=ACTOR, now=now)
        retitled = self._clear_titles(connection, distinct, now)
        noted = {v.source_id for v in distinct if v.source_id is not None}
        self.tombstones.silence(connection, noted)
        return Forgetting(Forgotten(deleted, buried), retitled)

    def _clear_titles(
        self, connection: Connection, victims: Iterable[Victim], now: int
    ) -> Sequence[int]:
        """Remove sessions that are empty now, and titles that quote what was forgotten."""
        texts: dict[int, list[str]] = {}
        for victim in victims:
            if victim.session_id is not None:
                texts.setdefault(victim.session_id, []).append(victim.text)
        retitled: list[int] = []
        for identifier, forgotten in texts.items():
            session = connection.execute(
                select(sessions.c.key, sessions.c.title).where(sessions.c.id == identifier)
            ).one()
            if session.title and quotes(session.title, forgotten):
                self.tombstones.bury_title(connection, session.key, session.title, now)
                connection.execute(
                    update(sessions)
                    .where(sessions.c.id == identifier)
                    .values(title=None, title_rank=0, indexed_title=UNTOLD)
                )
                retitled.append(identifier)
            if _is_empty(connection, identifier):
                connection.execute(delete(sessions).where(sessions.c.id == identifier))
        return retitled


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


def _note_uids(connection: Connection, victims: Iterable[Victim]) -> Mapping[int, str]:
    """Ids of memories by row, for texts that no agent gave an id: a file may bring them again."""
    wanted = [victim.places[0].memory_id for victim in victims if victim.uid is None]
    found: dict[int, str] = {}
    for start in range(0, len(wanted), LOOKUP):
        part = wanted[start : start + LOOKUP]
        rows = connection.execute(
            select(memories.c.id, memories.c.uid).where(memories.c.id.in_(part))
        )
        found |= {row.id: row.uid for row in rows}
    return found


def _passage_count(connection: Connection, memory_id: int) -> int:
    return connection.execute(
        select(func.count()).select_from(passages).where(passages.c.memory_id == memory_id)
    ).scalar_one()


def _is_empty(connection: Connection, session_id: int) -> bool:
    left = select(passages.c.id).where(passages.c.session_id == session_id).limit(1)
    return connection.execute(left).first() is None
