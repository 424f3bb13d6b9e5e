"""Properties of candidates that move their score."""

import re
from collections.abc import Callable, Sequence

from cloxy_hookspecs import CandidateBatch, Query

HALF_LIFE_DAYS = 30.0
UNKNOWN_AGE = 0.5


class LiteralSignal:
    """How many of the question's literals stand in the text, letter for letter."""

    def values(self, batch: CandidateBatch, query: Query) -> Sequence[float]:
        """The share of the literals that each text holds; 0 when the question has none."""
        if not query.literals:
            return [0.0] * len(batch.ids)
        share = 1 / len(query.literals)
        patterns = [_whole(literal) for literal in query.literals]
        return [share * sum(bool(find(text)) for find in patterns) for text in batch.texts]


class RecencySignal:
    """Half as much for every 30 days of age."""

    def values(self, batch: CandidateBatch, query: Query) -> Sequence[float]:
        """1 for now, 0.5 for 30 days ago and for an unknown time."""
        return [recency(age) for age in batch.age_days]


class OriginalsSignal:
    """What was said ranks above a summary of it."""

    def values(self, batch: CandidateBatch, query: Query) -> Sequence[float]:
        """0 for a summary, 1 for everything else."""
        return [
            float("summary" not in pair) for pair in zip(batch.roles, batch.authors, strict=True)
        ]


def _whole(literal: str) -> Callable[[str], object]:
    """A search for the literal that is not a part of a longer name.

    `facets.py` is not in `test_facets.py`, and `v5.1` is not in `v5.10`.
    """
    before = r"(?<![\w-])" if literal[:1].isalnum() else ""
    after = r"(?![\w-])" if literal[-1:].isalnum() else ""
    return re.compile(before + re.escape(literal) + after).search


def recency(age_days: float | None) -> float:
    """The recency factor of an age in days; one in the future counts as now."""
    if age_days is None:
        return UNKNOWN_AGE
    return float(0.5 ** (max(age_days, 0.0) / HALF_LIFE_DAYS))
