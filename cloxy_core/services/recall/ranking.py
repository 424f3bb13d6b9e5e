"""From fused scores to final ones: signals, the window, the wish for the newest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cloxy_core.services.recall.candidates import Candidate, batch_of
from cloxy_hookspecs import Fuser, Query, Scored, Signal, SignalProvider

LITERAL = "literal"
RECENCY = "recency"
WINDOW = "window"
NEWEST = "newest"
FINAL = "final"

AHEAD = 2.0
"""More than signals can give: what has this bonus stands before everything without it."""

WINDOW_BONUS = 0.3
"""For lying in a window that is not firm, when the question names no literal. A date beside the
name of a thing says when the thing was spoken of; in prose it may be the date of what happened,
told later."""

WEAK = 0.05
"""Share of the best fused score under which a candidate answers nothing."""

NEWEST_BONUS = 4.0
NEWEST_TILT = 0.1
STRONG = 0.6
"""Share of the best fused score from which a candidate without literals is a strong match."""


@dataclass(frozen=True, slots=True)
class ActiveSignal:
    """A signal and its record."""

    record: SignalProvider
    signal: Signal


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its final score.

    Attributes:
        candidate: the passage.
        score: final score.
        recency: recency factor, 0..1.
        parts: what the score is made of, by name.
    """

    candidate: Candidate
    score: float
    recency: float
    parts: Mapping[str, float] = field(default_factory=dict)


def rank(
    scored: Sequence[Scored],
    candidates: Mapping[int, Candidate],
    inside: frozenset[int],
    query: Query,
    fuser: Fuser,
    signals: Sequence[ActiveSignal],
) -> list[Ranked]:
    """Candidates by final score, best first; what is weak beside the best is left out.

    Args:
        scored: fused scores.
        candidates: by passage id.
        inside: passages found within the soft window.
        query: the question.
        fuser: says which adjustments its scores take.
        signals: in order.
    """
    best = max((item.score for item in scored), default=0.0)
    known = [
        item
        for item in scored
        if item.passage_id in candidates
        and (item.score >= WEAK * best or item.passage_id in inside)
    ]
    ranked = _signalled(known, candidates, query, fuser, signals)
    if inside and _takes(fuser, WINDOW):
        bonus = AHEAD if query.literals or query.window_firm else WINDOW_BONUS
        ranked = [
            _lifted(item, WINDOW, bonus) if item.candidate.id in inside else item for item in ranked
        ]
    if query.order == "newest" and _takes(fuser, NEWEST):
        ranked = _newest_first(ranked, known)
    return sorted(ranked, key=lambda item: (-item.score, item.candidate.id))


def _takes(fuser: Fuser, adjustment: str) -> bool:
    return fuser.adjustments is None or adjustment in fuser.adjustments


def _signalled(
    scored: Sequence[Scored],
    candidates: Mapping[int, Candidate],
    query: Query,
    fuser: Fuser,
    signals: Sequence[ActiveSignal],
) -> list[Ranked]:
    """Scores after all signals, in the order of the fused list."""
    kept = [candidates[item.passage_id] for item in scored]
    batch = batch_of(kept, [item.score for item in scored], query.now)
    scores = [item.score for item in scored]
    parts = [dict(item.parts) for item in scored]
    recency = [1.0] * len(scored)
    for active in signals:
        name = active.record.name
        if not _takes(fuser, name):
            continue
        weight = _weight(active, query, fuser)
        values = active.signal.values(batch, query)
        scores = [
            _moved(score, value, weight, active.record.mode)
            for score, value in zip(scores, values, strict=True)
        ]
        for part, value in zip(parts, values, strict=True):
            if active.record.mode != "add" or value:
                part[name] = value
        if name == RECENCY:
            recency = list(values)
    return [
        Ranked(candidate, score, age, {**part, FINAL: score})
        for candidate, score, age, part in zip(kept, scores, recency, parts, strict=True)
    ]


def _weight(active: ActiveSignal, query: Query, fuser: Fuser) -> float:
    if active.record.name != RECENCY:
        return active.record.weight
    if query.recency_weight is not None:
        return query.recency_weight
    return fuser.default_recency_weight


def _moved(score: float, value: float, weight: float, mode: str) -> float:
    """A score as one signal leaves it."""
    if mode == "add":
        return score + weight * value
    if mode == "multiply":
        return score * (1 + weight * value)
    return score * (1 - weight + weight * value)


def _lifted(item: Ranked, name: str, bonus: float) -> Ranked:
    score = item.score + bonus
    return replace(item, score=score, parts={**item.parts, name: bonus, FINAL: score})


def _newest_first(ranked: Sequence[Ranked], scored: Sequence[Scored]) -> list[Ranked]:
    """Lift what surely speaks of the thing, the newest of it highest.

    Sure is a passage that holds the literals of the question, as many as any does: these are
    put in order of time. Without literals, it is one whose fused score is near the best, and
    being newer only helps.
    """
    base = {item.passage_id: item.score for item in scored}
    held = {item.candidate.id: item.parts.get(LITERAL, 0.0) for item in ranked}
    most = max(held.values(), default=0)
    best = max(base.values(), default=0.0)
    sure = [
        item
        for item in ranked
        if item.candidate.at is not None
        and (held[item.candidate.id] == most if most else base[item.candidate.id] >= STRONG * best)
    ]
    sure.sort(key=lambda item: (WINDOW in item.parts, item.candidate.at or 0), reverse=True)
    bonus = {
        item.candidate.id: _newness(item, 1 - place / len(sure), certain=most > 0)
        for place, item in enumerate(sure)
    }
    return [
        _lifted(item, NEWEST, bonus[item.candidate.id]) if item.candidate.id in bonus else item
        for item in ranked
    ]


def _newness(item: Ranked, share: float, *, certain: bool) -> float:
    """What a sure candidate gains; order of time alone counts only among certain ones."""
    return NEWEST_BONUS + share - item.score if certain else NEWEST_TILT * share
