"""From ranked passages to results: one a memory or one a passage, and each text once."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy import Connection, RowMapping, String, select, type_coerce

from cloxy_core.services.headers import header
from cloxy_core.services.recall.candidates import among
from cloxy_core.services.recall.ranking import Ranked
from cloxy_core.services.recall.sharing import copies_of, identity, owned, sessions_of
from cloxy_core.services.upgrade.turns import HEADER
from cloxy_core.store.legacy.rows import UPGRADED_FROM
from cloxy_hookspecs import Filters, PassageHit, Query, RecallHit, StorePort
from cloxy_hookspecs.tables import memories, sources

N = TypeVar("N", int, float)

MAX_PASSAGES = 5
"""Passages that a result of the group `memory` shows."""

Fold = Sequence[Ranked]
"""Passages of one result, all of one memory, best first."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where channels found passages.

    Attributes:
        keyword: 1-based place in the keyword channel, by passage id.
        similarity: cosine with the question, by passage id.
    """

    keyword: Mapping[int, int] = field(default_factory=dict)
    similarity: Mapping[int, float] = field(default_factory=dict)

    def shared(self, copies: Iterable[Sequence[Ranked]]) -> "Places":
        """The same where every copy of a text has the best that any of them has."""
        return Places(_best(copies, self.keyword, min), _best(copies, self.similarity, max))


@dataclass(frozen=True, slots=True)
class Folded:
    """The results, and ids of memories left out because they are not what was stored."""

    hits: tuple[RecallHit, ...]
    damaged: frozenset[int]


def fold(
    connection: Connection,
    store: StorePort,
    ranked: Sequence[Ranked],
    places: Places,
    query: Query,
    filters: Filters,
) -> Folded:
    """The best `top_k` results of the query's group; the text of each agrees with its hash.

    Args:
        connection: a read transaction.
        store: gives the conditions of the filters.
        ranked: best first.
        places: where the channels found them.
        query: the question.
        filters: hard conditions, which also bound the sessions that a hit lists.
    """
    copies = copies_of(ranked)
    places = places.shared(copies)
    once = [owned(group) for group in copies]
    folds = [[item] for item in once] if query.group == "passage" else _by_memory(once)
    folds, rows, damaged = _sound_folds(connection, folds, query.top_k)
    best = [passages[0].candidate for passages in folds]
    holders = sessions_of(connection, store, best, filters)
    hits = tuple(
        _hit(passages, rows[item.memory_id], places, holders.get(identity(item), ()))
        for passages, item in zip(folds, best, strict=True)
    )
    return Folded(hits, damaged)


def _best(
    copies: Iterable[Sequence[Ranked]], values: Mapping[int, N], better: Callable[[list[N]], N]
) -> Mapping[int, N]:
    """Of the values of copies the best, by passage id."""
    shared = dict(values)
    for group in copies:
        ids = [item.candidate.id for item in group]
        if len(ids) > 1 and (found := [values[each] for each in ids if each in values]):
            shared |= dict.fromkeys(ids, better(found))
    return shared


def _sound_folds(
    connection: Connection, folds: Sequence[Fold], top_k: int
) -> tuple[list[Fold], Mapping[int, RowMapping], frozenset[int]]:
    """The first folds of memories that are what was stored, their rows, and damaged memories."""
    sound: list[Fold] = []
    rows: dict[int, RowMapping] = {}
    damaged: set[int] = set()
    place = 0
    while len(sound) < top_k and place < len(folds):
        some = folds[place : place + top_k - len(sound)]
        place += len(some)
        rows |= _memory_rows(connection, [fold[0].candidate.memory_id for fold in some])
        for fold in some:
            memory = fold[0].candidate.memory_id
            if _is_sound(rows[memory]):
                sound.append(fold)
            else:
                damaged.add(memory)
    return sound, rows, frozenset(damaged)


def _is_sound(row: RowMapping) -> bool:
    """Tell whether a memory's text is the one that was stored, and the rest can be read."""
    content = hashlib.sha256(row["content"].encode(errors="replace")).hexdigest()
    try:
        return content == row["content_hash"] and isinstance(json.loads(row["extra"]), dict)
    except ValueError:
        return False


def _by_memory(ranked: Sequence[Ranked]) -> list[Fold]:
    """Passages of the same memory together, in the order of their best."""
    folds: dict[int, list[Ranked]] = {}
    for item in ranked:
        folds.setdefault(item.candidate.memory_id, []).append(item)
    return [passages[:MAX_PASSAGES] for passages in folds.values()]


def _memory_rows(connection: Connection, ids: Sequence[int]) -> Mapping[int, RowMapping]:
    columns = memories.c
    statement = (
        select(
            columns.id,
            columns.uid,
            columns.content,
            columns.content_hash,
            columns.source,
            columns.occurred_from,
            columns.occurred_to,
            # Decoded here, since damage must not fail the whole answer.
            type_coerce(columns.extra, String).label("extra"),
            sources.c.uri,
        )
        .outerjoin(sources, sources.c.id == columns.source_id)
        .where(among(columns.id, ids))
    )
    return {row["id"]: row for row in connection.execute(statement).mappings()}


def _hit(passages: Fold, row: RowMapping, places: Places, sessions: tuple[str, ...]) -> RecallHit:
    best = passages[0]
    place = best.candidate
    own = () if place.session is None else (place.session,)
    metadata = _metadata(row, place.title)
    return RecallHit(
        id=row["id"],
        uid=row["uid"],
        content=row["content"],
        header=_own_header(row["content"], metadata)
        or header(row["occurred_from"], place.project, place.title, place.session),
        source=row["source"],
        project=place.project,
        session=place.session,
        sessions=sessions or own,
        at_from=row["occurred_from"],
        at_to=row["occurred_to"],
        metadata=metadata,
        score=best.score,
        similarity=places.similarity.get(place.id),
        keyword_rank=places.keyword.get(place.id),
        recency=best.recency,
        passages=tuple(_passage(item) for item in passages),
    )


def _own_header(content: str, metadata: Mapping[str, object]) -> str:
    """The first line of a memory that came from an old database, where that is its header."""
    found = HEADER.match(content) if UPGRADED_FROM in metadata else None
    return found[0].rstrip("\n") if found else ""


def _metadata(row: RowMapping, title: str | None) -> Mapping[str, object]:
    """What the memory says of itself, with the title of today and the file it was read from."""
    facts: dict[str, object] = json.loads(row["extra"])
    if title:
        facts["title"] = title
    if row["uri"]:
        facts["path"] = row["uri"]
    return facts


def _passage(item: Ranked) -> PassageHit:
    candidate = item.candidate
    return PassageHit(
        id=candidate.id,
        text=candidate.text,
        role=candidate.role,
        author=candidate.author,
        at=candidate.at,
        char_start=candidate.char_start,
        char_end=candidate.char_end,
        score=item.score,
        parts=item.parts,
    )
