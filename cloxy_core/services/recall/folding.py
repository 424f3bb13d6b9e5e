"""From ranked passages to results: one a memory or one a passage, and each text once."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, RowMapping, select

from cloxy_core.services.headers import header
from cloxy_core.services.recall.candidates import among
from cloxy_core.services.recall.ranking import Ranked
from cloxy_core.services.recall.sharing import identity, sessions_of, without_copies
from cloxy_hookspecs import Filters, PassageHit, Query, RecallHit, StorePort
from cloxy_hookspecs.tables import memories, sources

MAX_PASSAGES = 5
"""Passages that a result of the group `memory` shows."""

Fold = Sequence[Ranked]
"""Passages of one result, all of one memory, best first."""


def fold(
    connection: Connection,
    store: StorePort,
    ranked: Sequence[Ranked],
    ranks: Mapping[int, int],
    query: Query,
    filters: Filters,
) -> list[RecallHit]:
    """The best `top_k` results of the query's group.

    Args:
        connection: a read transaction.
        store: gives the conditions of the filters.
        ranked: best first.
        ranks: 1-based place in the keyword channel, by passage id.
        query: the question.
        filters: hard conditions, which also bound the sessions that a hit lists.
    """
    once = without_copies(ranked)
    folds = [[item] for item in once] if query.group == "passage" else _by_memory(once)
    folds = folds[: query.top_k]
    best = [passages[0].candidate for passages in folds]
    holders = sessions_of(connection, store, best, filters)
    rows = _memory_rows(connection, [item.memory_id for item in best])
    return [
        _hit(passages, rows[item.memory_id], ranks.get(item.id), holders.get(identity(item), ()))
        for passages, item in zip(folds, best, strict=True)
    ]


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
            columns.source,
            columns.occurred_from,
            columns.occurred_to,
            columns.extra,
            sources.c.uri,
        )
        .outerjoin(sources, sources.c.id == columns.source_id)
        .where(among(columns.id, ids))
    )
    return {row["id"]: row for row in connection.execute(statement).mappings()}


def _hit(passages: Fold, row: RowMapping, rank: int | None, sessions: tuple[str, ...]) -> RecallHit:
    best = passages[0]
    place = best.candidate
    own = () if place.session is None else (place.session,)
    return RecallHit(
        id=row["id"],
        uid=row["uid"],
        content=row["content"],
        header=header(row["occurred_from"], place.project, place.title, place.session),
        source=row["source"],
        project=place.project,
        session=place.session,
        sessions=sessions or own,
        at_from=row["occurred_from"],
        at_to=row["occurred_to"],
        metadata=_metadata(row, place.title),
        score=best.score,
        keyword_rank=rank,
        recency=best.recency,
        passages=tuple(_passage(item) for item in passages),
    )


def _metadata(row: RowMapping, title: str | None) -> Mapping[str, object]:
    """What the memory says of itself, with the title of today and the file it was read from."""
    facts: dict[str, object] = dict(row["extra"])
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
