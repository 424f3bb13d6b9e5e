"""Forgetting for good.

What is forgotten leaves the rows, every index, session titles and the parsers' own notes, and a
keyed hash stays behind so that no copy of it is taken in again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, exists, func, select, update

from cloxy_core.services.indexing import Indexing
from cloxy_core.services.upgrade.shadows import shadows
from cloxy_core.services.upgrade.turns import turns
from cloxy_core.services.write.removal import remove_passages
from cloxy_core.services.write.sessions import UNTOLD, quotes
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_core.services.write.victims import Victim, copies, find_victims
from cloxy_core.services.write.wanted import Wanted, meant
from cloxy_core.store.lookups import lookups
from cloxy_hookspecs import Clock, Forgotten
from cloxy_hookspecs.tables import memories, passages, projects, sessions, sources

ACTOR = "forget"
RETENTION = "retention"


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
class Traces:
    """What is to be forgotten, as other files may hold it.

    Attributes:
        uids: ids of messages.
        notes: ids of memories whose text no agent gave an id.
        texts: the texts, whole.
        files: logs that the messages were read from, as they are addressed.
        sessions: other sessions that say the same and stay, by the agent's own id.
        memories: notes that say the same and stay, by id.
        since: when the first of them was stored, milliseconds.
    """

    uids: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    texts: Sequence[str] = ()
    files: Sequence[str] = ()
    sessions: Sequence[str] = ()
    memories: Sequence[int] = ()
    since: int = 0

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.texts)


@dataclass(frozen=True, slots=True)
class Forgetter:
    """Forgets; its methods are bodies of transactions."""

    indexing: Indexing
    tombstones: Tombstones
    clock: Clock

    def forget(self, connection: Connection, wanted: Wanted) -> Forgetting:
        """Forget what is wanted and every copy of its messages, in whatever session.

        A message that goes on in other memories is forgotten as a whole.

        Raises:
            NotFoundError: there is no such memory, session or project.
            InputError: the name is empty or means several.
        """
        whole = meant(connection, wanted).projects
        victims = _find(connection, wanted)
        named = _named_sessions(connection, wanted, victims)
        done = self.forget_victims(connection, victims)
        gone = [key for identifier, key in named.items() if _is_gone(connection, identifier)]
        self.tombstones.bury_whole(connection, gone, self.clock.now_ms())
        _drop_projects(connection, whole)
        return done

    def preview(self, connection: Connection, wanted: Wanted) -> Forgotten:
        """What `forget` would do."""
        victims = _find(connection, wanted)
        by_memory: dict[int, set[int]] = {}
        for victim in victims:
            for place in victim.places:
                by_memory.setdefault(place.memory_id, set()).add(place.id)
        emptied = sum(
            _passage_count(connection, memory) == len(ids) for memory, ids in by_memory.items()
        )
        return Forgotten(emptied, len(victims))

    def traces(self, connection: Connection, wanted: Wanted) -> Traces:
        """What `forget` would take away, to be looked for in other files."""
        victims = _find(connection, wanted)
        if not victims:
            return Traces()
        ids = list({place.memory_id for victim in victims for place in victim.places})
        files = {victim.source_id for victim in victims if victim.source_id is not None}
        left = _left(connection, victims) if wanted.kind != "memory" else ()
        return Traces(
            uids=frozenset(victim.uid for victim in victims if victim.uid),
            notes=frozenset(_note_uids(connection, victims).values()),
            texts=list(dict.fromkeys(victim.text for victim in victims)),
            files=_addresses(connection, sorted(files)),
            sessions=_left_sessions(connection, left),
            memories=sorted({v.places[0].memory_id for v in left if v.session_id is None}),
            since=_stored_since(connection, ids),
        )

    def forget_victims(self, connection: Connection, victims: Sequence[Victim]) -> Forgetting:
        """Forget these messages; for what was found otherwise."""
        now = self.clock.now_ms()
        uids = _note_uids(connection, victims)
        said = ((v.uid or uids.get(v.places[0].memory_id), v.text) for v in victims)
        self.tombstones.bury(connection, said, now)
        # An old piece has no ids, and its log, which may still be read in, holds single messages.
        pieces = [v.text for v in victims if v.uid is None and v.session_id is not None]
        self.tombstones.bury(connection, ((None, t) for p in pieces for t in turns(p)), now)
        return self._remove(connection, victims, now, buried=True)

    def expire(self, connection: Connection, victims: Sequence[Victim]) -> Forgetting:
        """Remove these messages without a hash: a rule keeps them out for as long as it holds."""
        return self._remove(connection, victims, self.clock.now_ms(), buried=False)

    def _remove(
        self, connection: Connection, victims: Sequence[Victim], now: int, *, buried: bool
    ) -> Forgetting:
        ids = [place.id for victim in victims for place in victim.places]
        actor = ACTOR if buried else RETENTION
        deleted = remove_passages(connection, self.indexing, ids, actor=actor, now=now)
        retitled = self._clear_titles(connection, victims, now, buried=buried)
        noted = {v.source_id for v in victims if v.source_id is not None}
        self.tombstones.silence(connection, noted)
        return Forgetting(Forgotten(deleted, len(victims)), retitled)

    def _clear_titles(
        self, connection: Connection, victims: Iterable[Victim], now: int, *, buried: bool
    ) -> Sequence[int]:
        """Remove sessions that are empty now, and titles that quote what is gone."""
        texts: dict[int, list[str]] = {}
        for victim in victims:
            if victim.session_id is not None:
                texts.setdefault(victim.session_id, []).append(victim.text)
        retitled: list[int] = []
        for identifier, forgotten in texts.items():
            session = connection.execute(
                select(sessions.c.agent, sessions.c.key, sessions.c.title).where(
                    sessions.c.id == identifier
                )
            ).one()
            empty = _is_empty(connection, identifier)
            if session.title and (empty or quotes(session.title, forgotten)):
                if buried:
                    self.tombstones.bury_title(connection, session.key, session.title, now)
                connection.execute(
                    update(sessions)
                    .where(sessions.c.id == identifier)
                    .values(title=None, title_rank=0, indexed_title=UNTOLD)
                )
                retitled.append(identifier)
            if empty:
                if buried:
                    self.tombstones.bury_session(connection, session.agent, session.key, now)
                connection.execute(delete(sessions).where(sessions.c.id == identifier))
        return retitled


def _find(connection: Connection, wanted: Wanted) -> Sequence[Victim]:
    """Messages that are meant; each once.

    A memory goes with every copy of its messages. Who forgets a session leaves its forks whole.
    """
    victims = find_victims(connection, meant(connection, wanted).condition)
    if victims and wanted.kind == "memory":
        victims = [*victims, *copies(connection, victims)]
    victims = [*victims, *_hidden(connection, victims)]
    return list({victim.key: victim for victim in victims}.values())


def _hidden(connection: Connection, victims: Sequence[Victim]) -> Sequence[Victim]:
    """Old pieces that nobody sees any more because these messages took their place."""
    said: dict[int, set[str]] = {}
    for victim in victims:
        if victim.session_id is not None and victim.uid is not None:
            said.setdefault(victim.session_id, set()).add(victim.text)
    found = sorted(shadows(connection, said))
    return [
        victim
        for part in lookups(found)
        for victim in find_victims(connection, passages.c.memory_id.in_(part))
    ]


def _drop_projects(connection: Connection, ids: Sequence[int]) -> None:
    """Forget the paths of projects of which nothing is left."""
    for part in lookups(ids):
        connection.execute(
            delete(projects).where(
                projects.c.id.in_(part),
                ~exists().where(memories.c.project_id == projects.c.id),
                ~exists().where(sessions.c.project_id == projects.c.id),
            )
        )


def _note_uids(connection: Connection, victims: Iterable[Victim]) -> Mapping[int, str]:
    """Ids of memories by row, for texts that no agent gave an id: a file may bring them again."""
    wanted = [victim.places[0].memory_id for victim in victims if victim.uid is None]
    found: dict[int, str] = {}
    for part in lookups(wanted):
        rows = connection.execute(
            select(memories.c.id, memories.c.uid).where(memories.c.id.in_(part))
        )
        found |= {row.id: row.uid for row in rows}
    return found


def _addresses(connection: Connection, ids: Sequence[int]) -> Sequence[str]:
    found: list[str] = []
    for part in lookups(ids):
        found += connection.execute(select(sources.c.uri).where(sources.c.id.in_(part))).scalars()
    return found


def _left(connection: Connection, victims: Sequence[Victim]) -> Sequence[Victim]:
    """What says the same and stays."""
    going = {victim.key for victim in victims}
    return [v for v in copies(connection, victims) if v.key not in going]


def _left_sessions(connection: Connection, left: Sequence[Victim]) -> Sequence[str]:
    ids = sorted({v.session_id for v in left if v.session_id is not None})
    found: list[str] = []
    for part in lookups(ids):
        found += connection.execute(select(sessions.c.key).where(sessions.c.id.in_(part))).scalars()
    return found


def _stored_since(connection: Connection, ids: Sequence[int]) -> int:
    earliest = select(func.min(memories.c.created_at))
    times: list[int] = [
        connection.execute(earliest.where(memories.c.id.in_(part))).scalar_one()
        for part in lookups(ids)
    ]
    return min(times)


def _named_sessions(
    connection: Connection, wanted: Wanted, victims: Sequence[Victim]
) -> Mapping[int, str]:
    """Sessions that are meant as a whole, by row; one memory of a session is not."""
    if wanted.kind == "memory":
        return {}
    ids = sorted({v.session_id for v in victims if v.session_id is not None})
    found: dict[int, str] = {}
    for part in lookups(ids):
        rows = connection.execute(
            select(sessions.c.id, sessions.c.key).where(sessions.c.id.in_(part))
        )
        found |= {row.id: row.key for row in rows}
    if wanted.kind != "source":
        return found
    stem = wanted.name.strip().rstrip(":") + ":"
    return {row: key for row, key in found.items() if f"convo:{key}:".startswith(stem)}


def _is_gone(connection: Connection, session_id: int) -> bool:
    return (
        connection.execute(select(sessions.c.id).where(sessions.c.id == session_id)).first() is None
    )


def _passage_count(connection: Connection, memory_id: int) -> int:
    return connection.execute(
        select(func.count()).select_from(passages).where(passages.c.memory_id == memory_id)
    ).scalar_one()


def _is_empty(connection: Connection, session_id: int) -> bool:
    left = select(passages.c.id).where(passages.c.session_id == session_id).limit(1)
    return connection.execute(left).first() is None
