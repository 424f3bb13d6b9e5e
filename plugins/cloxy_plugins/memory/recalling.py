"""`recall`: from the door's fields to a query, and from hits to JSON."""

from collections.abc import Awaitable, Callable
from typing import get_args

from cloxy_hookspecs import (
    DateReader,
    FilterError,
    Filters,
    HostContext,
    InputError,
    Mode,
    PassageHit,
    Query,
    Recaller,
    RecallHit,
    Role,
)
from cloxy_plugins.memory.instants import iso
from cloxy_plugins.memory.models import HitOutput, PassageOutput, RecallInput, RecallOutput

MODES: tuple[Mode, ...] = get_args(Mode)
ROLES: tuple[Role, ...] = get_args(Role)
RERANK = "rerank"
"""Part of a score that a reranker gives."""


def create_recall(context: HostContext) -> Callable[[RecallInput], Awaitable[RecallOutput]]:
    """Make the operation."""
    recaller = context.service(Recaller)
    dates = context.service(DateReader)
    clock = context.clock

    async def recall(given: RecallInput) -> RecallOutput:
        query = _query(given, dates, clock.now_ms())
        answer = await recaller.recall(query)
        return RecallOutput(
            results=[_hit(hit, rank) for rank, hit in enumerate(answer.hits, 1)],
            query=given.query,
            mode=given.mode,
            searched=answer.searched,
            channels=list(answer.channels),
            notes=list(answer.notes),
        )

    return recall


def _query(given: RecallInput, dates: DateReader, now: int) -> Query:
    mode = next((mode for mode in MODES if mode == given.mode), None)
    if mode is None:
        raise InputError(f"Unknown mode: {given.mode}", hint="use hybrid, dense or keyword")
    roles: tuple[Role, ...] = ()
    if given.role:
        roles = tuple(role for role in ROLES if role == given.role.strip().lower())
        if not roles:
            raise FilterError(f"unknown role {given.role!r}", hint=f"use {', '.join(ROLES)}")
    zone = dates.zone(given.tz)
    return Query(
        text=given.query,
        top_k=given.top_k,
        now=now,
        mode=mode,
        filters=Filters(
            project=given.project or None,
            window=dates.window(given.since, given.until, now=now, zone=zone),
            source=given.source or None,
            roles=roles,
            subagents=given.subagents,
        ),
        zone=zone,
        group=given.group,
        recency_weight=given.recency_weight,
        rerank=given.rerank,
    )


def _hit(hit: RecallHit, rank: int) -> HitOutput:
    return HitOutput(
        rank=rank,
        id=hit.id,
        uid=hit.uid,
        content=_under_header(hit),
        header=hit.header,
        source=hit.source,
        project=hit.project,
        session_id=hit.session,
        sessions=list(hit.sessions),
        ts_start=iso(hit.at_from),
        ts_end=iso(hit.at_to),
        metadata=dict(hit.metadata),
        score=round(hit.score, 6),
        similarity=_rounded(hit.similarity, 4),
        keyword_rank=hit.keyword_rank,
        recency=round(hit.recency, 3),
        rerank_score=_rounded(hit.passages[0].parts.get(RERANK), 6),
        passages=[_passage(passage) for passage in hit.passages],
    )


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def _passage(passage: PassageHit) -> PassageOutput:
    return PassageOutput(
        id=passage.id,
        text=passage.text,
        role=passage.role,
        author=passage.author,
        ts=iso(passage.at),
        char_start=passage.char_start,
        char_end=passage.char_end,
        score=round(passage.score, 6),
        parts={name: round(value, 4) for name, value in passage.parts.items()},
    )


def _under_header(hit: RecallHit) -> str:
    """The text below its header, with which a text from an old database begins already."""
    # An empty one begins every text.
    return hit.content if hit.content.startswith(hit.header) else f"{hit.header}\n{hit.content}"
