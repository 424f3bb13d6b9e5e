"""Two ways to make one list of several channels."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from cloxy_hookspecs import Hit, Scored

RRF_K = 60
_SHORT_LIST = 10


class WeightedFuser:
    """A weighted sum of scores that were normalised to 0..1 within their channel."""

    default_recency_weight = 0.1
    adjustments: frozenset[str] | None = None

    def fuse(
        self, lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]
    ) -> Sequence[Scored]:
        """Fuse ranked lists; weights are shared out among the channels that found something."""
        answered = {channel: hits for channel, hits in lists.items() if hits}
        total = sum(weights[channel] for channel in answered)
        parts: dict[int, dict[str, float]] = defaultdict(dict)
        for channel, hits in answered.items():
            share = weights[channel] / total if total else 1 / len(answered)
            for hit, value in zip(hits, normalised([hit.score for hit in hits]), strict=True):
                parts[hit.passage_id][channel] = share * value
        return _ranked(parts)


class RrfFuser:
    """Reciprocal ranks, 1 / (60 + rank): the scores of Cloxy up to 5.1."""

    default_recency_weight = 0.3
    adjustments: frozenset[str] | None = frozenset({"recency"})

    def fuse(
        self, lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]
    ) -> Sequence[Scored]:
        """Fuse ranked lists by rank alone; the weights do not count."""
        parts: dict[int, dict[str, float]] = defaultdict(dict)
        for channel, hits in lists.items():
            for rank, hit in enumerate(hits, 1):
                parts[hit.passage_id][channel] = 1 / (RRF_K + rank)
        return _ranked(parts)


def normalised(scores: Sequence[float]) -> list[float]:
    """Scores, best first, from 1 for the best down towards 0 for the worst.

    The worst of a long list is taken as worthless; the worst of three may be nearly as good as
    the best, so the lower end of a short list moves towards zero score.
    """
    if not scores:
        return []
    top = max(scores)
    floor = min(scores) * len(scores) / (len(scores) + _SHORT_LIST)
    spread = top - floor
    if spread <= 0:
        return [1.0] * len(scores)
    return [(score - floor) / spread for score in scores]


def _ranked(parts: Mapping[int, Mapping[str, float]]) -> list[Scored]:
    """Best first; the smaller id first among equals, so that the order is always the same."""
    scored = [
        Scored(passage_id=passage_id, score=sum(shares.values()), parts=shares)
        for passage_id, shares in parts.items()
    ]
    return sorted(scored, key=lambda item: (-item.score, item.passage_id))
