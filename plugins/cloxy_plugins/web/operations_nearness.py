"""Which passages are nearest to a claim: by meaning when there is a model, else by words."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol, TypeVar

from cloxy_hookspecs import CloxyError, Similarity
from cloxy_plugins.web.operations_passages import Span, passages, sentences
from cloxy_plugins.web.operations_words import overlaps

T = TypeVar("T")

MOST_COMPARED: Final = 256
"""Passages whose meaning is compared; of more, those with most words of the claim."""
MOST_SENTENCES: Final = 96
"""Sentences whose meaning is compared to find what to quote."""
NO_MODEL: Final = (
    "no model is loaded: passages are ordered by the words they share with the claim, and "
    "similarity is null"
)


class Blocking(Protocol):
    """Runs work on a thread."""

    def __call__(self, work: Callable[[], T]) -> Awaitable[T]:
        """Run it, and return its value."""
        ...


@dataclass(frozen=True, slots=True)
class Scored:
    """A passage and how near it is.

    Attributes:
        page: place of its text among all texts.
        index: its place in the text.
        span: where it stands.
        overlap: share of the claim's words that it has.
        similarity: cosine to the claim; None without a model.
    """

    page: int
    index: int
    span: Span
    overlap: float
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Passages of some texts.

    Attributes:
        scored: best first; those that were left out are not among them.
        counts: how many each text has.
        notes: what a reader should know.
    """

    scored: Sequence[Scored]
    counts: Sequence[int]
    notes: Sequence[str]

    def best_of(self, page: int) -> float | None:
        """The highest similarity of a text."""
        known = (one.similarity for one in self.scored if one.page == page)
        return max((value for value in known if value is not None), default=None)


async def ranked(
    claim: str, texts: Sequence[str], model: Similarity, blocking: Blocking
) -> Ranking:
    """Rank the passages of texts by how near they are to a claim."""
    found = await blocking(partial(_found, claim, texts))
    counts = [sum(1 for one in found if one.page == page) for page in range(len(texts))]
    if not found:
        return Ranking((), counts, ())
    by_words = sorted(found, key=lambda one: (-one.overlap, one.page, one.index))
    compared = by_words[:MOST_COMPARED]
    cosines = await _cosines(model, claim, [_text(texts, one) for one in compared])
    if cosines is None:
        return Ranking(by_words, counts, (NO_MODEL,))
    scored = [
        replace(one, similarity=cosine) for one, cosine in zip(compared, cosines, strict=True)
    ]
    scored.sort(key=lambda one: (-(one.similarity or 0.0), -one.overlap, one.page, one.index))
    notes = []
    if len(found) > len(compared):
        notes.append(
            f"of {len(found):,} passages the {len(compared)} that share most words with the claim "
            "were compared by meaning"
        )
    return Ranking(scored, counts, notes)


async def quotes(
    claim: str, texts: Sequence[str], best: Sequence[Scored], model: Similarity
) -> list[Span]:
    """For each passage, the sentence in it that is nearest to the claim."""
    choices = [sentences(_text(texts, one)) for one in best]
    told = [
        _text(texts, one)[span.start : span.end]
        for one, spans in zip(best, choices, strict=True)
        for span in spans
    ]
    nearness: Sequence[float] | None = None
    if len(told) <= MOST_SENTENCES and any(one.similarity is not None for one in best):
        nearness = await _cosines(model, claim, told)
    left = iter(nearness if nearness is not None else overlaps(claim, told))
    chosen: list[Span] = []
    for one, spans in zip(best, choices, strict=True):
        nearest = max(((next(left), -span.start, span) for span in spans), key=lambda c: c[:2])[2]
        start = one.span.start
        chosen.append(Span(start + nearest.start, start + nearest.end))
    return chosen


def _found(claim: str, texts: Sequence[str]) -> list[Scored]:
    places = [
        (page, index, span)
        for page, text in enumerate(texts)
        for index, span in enumerate(passages(text))
    ]
    shared = overlaps(claim, [texts[page][span.start : span.end] for page, _i, span in places])
    return [Scored(*place, overlap) for place, overlap in zip(places, shared, strict=True)]


async def _cosines(model: Similarity, claim: str, told: Sequence[str]) -> Sequence[float] | None:
    try:
        return await model.similarities(claim, told) if told else ()
    except CloxyError:
        # Words still tell something, and `status` tells what is wrong with the model.
        return None


def _text(texts: Sequence[str], one: Scored) -> str:
    return texts[one.page][one.span.start : one.span.end]
