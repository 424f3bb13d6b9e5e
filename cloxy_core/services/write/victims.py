"""Finding what is to be forgotten: whole messages, and their copies."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, func, select

from cloxy_core.services.passage_rows import PASSAGE_TEXT
from cloxy_core.services.write.rows import text_hash
from cloxy_core.services.write.tombstones import TELLING
from cloxy_core.store.lookups import lookups
from cloxy_hookspecs.tables import memories, passages

_WHOLE = 900
"""Characters up to which a text is surely one passage."""


@dataclass(frozen=True, slots=True)
class VictimPlace:
    """A passage of a message to be forgotten."""

    id: int
    memory_id: int
    text: str
    text_hash: str


@dataclass(frozen=True, slots=True)
class Victim:
    """A message, or a part of a note, with every passage that holds a part of it."""

    uid: str | None
    session_id: int | None
    source_id: int | None
    places: tuple[VictimPlace, ...]

    @property
    def key(self) -> int:
        """What tells it from others."""
        return self.places[0].id

    @property
    def text(self) -> str:
        """All of its text."""
        return "".join(place.text for place in self.places)


def find_victims(connection: Connection, condition: ColumnElement[bool]) -> Sequence[Victim]:
    """Messages of which a passage meets a condition, whole, in order."""
    rows = connection.execute(
        select(passages.c.id, passages.c.session_id, passages.c.message_uid)
        .join(memories, memories.c.id == passages.c.memory_id)
        .where(condition)
    ).all()
    alone = [row.id for row in rows if row.message_uid is None]
    found = {victim.key: victim for victim in _load(connection, passages.c.id, alone)}
    by_session: dict[int | None, dict[str, None]] = {}
    for row in rows:
        if row.message_uid is not None:
            by_session.setdefault(row.session_id, {})[row.message_uid] = None
    for session_id, uids in by_session.items():
        same = passages.c.session_id == session_id
        for victim in _load(connection, passages.c.message_uid, list(uids), same):
            found[victim.key] = victim
    return [found[key] for key in sorted(found)]


def copies(connection: Connection, victims: Sequence[Victim]) -> Sequence[Victim]:
    """Further messages with the same ids, or with the same text if that is telling."""
    uids = list({victim.uid for victim in victims if victim.uid})
    texts = [victim.text for victim in victims]
    first_parts = [victim.places[0].text_hash for victim in victims]
    return [
        *_load(connection, passages.c.message_uid, uids),
        *_alike(connection, texts, first_parts),
    ]


def copies_of_texts(connection: Connection, texts: Sequence[str]) -> Sequence[Victim]:
    """Messages that say one of some texts, where that is telling.

    Those of a long text are found by its beginning, as the database in hand has cut it.
    """
    telling = {text for text in texts if len(text) >= TELLING}
    found: list[Victim] = []
    shorter = [text for text in telling if len(text) <= _WHOLE]
    found += _alike(connection, shorter, [text_hash(text) for text in shorter])
    for text in telling.difference(shorter):
        begins = func.substr(PASSAGE_TEXT, 1, _WHOLE) == text[:_WHOLE]
        alike = find_victims(connection, and_(passages.c.part == 0, begins))
        found += [victim for victim in alike if victim.text == text]
    return found


def _alike(
    connection: Connection, all_texts: Sequence[str], first_parts: Sequence[str]
) -> Sequence[Victim]:
    texts = {text for text in all_texts if len(text) >= TELLING}
    pairs = zip(all_texts, first_parts, strict=True)
    hashes = {first for text, first in pairs if text in texts}
    found: list[Victim] = []
    for part in lookups(sorted(hashes)):
        alike = find_victims(connection, passages.c.text_hash.in_(part))
        found.extend(victim for victim in alike if victim.text in texts)
    return found


def _load(
    connection: Connection,
    column: ColumnElement[object],
    values: Sequence[object],
    *conditions: ColumnElement[bool],
) -> Iterable[Victim]:
    """Whole messages by the values of a column."""
    groups: dict[tuple[object, ...], list[VictimPlace]] = {}
    sources: dict[tuple[object, ...], tuple[str | None, int | None, int | None]] = {}
    for part in lookups(values):
        rows = connection.execute(
            select(
                passages.c.id,
                passages.c.memory_id,
                passages.c.session_id,
                passages.c.message_uid,
                PASSAGE_TEXT.label("text"),
                passages.c.text_hash,
                memories.c.source_id,
            )
            .join(memories, memories.c.id == passages.c.memory_id)
            .where(column.in_(part), *conditions)
            .order_by(passages.c.id)
        )
        for row in rows:
            group = (row.session_id, row.message_uid or row.id)
            place = VictimPlace(row.id, row.memory_id, row.text, row.text_hash)
            groups.setdefault(group, []).append(place)
            sources.setdefault(group, (row.message_uid, row.session_id, row.source_id))
    return [Victim(*sources[group], tuple(places)) for group, places in groups.items()]
