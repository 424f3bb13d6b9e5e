"""A second reading of the best passages, by a model that sees question and passage together."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from logging import Logger

from cloxy_core.runtime.workers import Workers
from cloxy_core.services.recall.ranking import FINAL, Ranked
from cloxy_hookspecs import CloxyError, Float32Vector, Query, Reranker

BEST = 20
"""Passages that are read again."""

RETRY_SECONDS = 60.0
"""How long a reranker that failed is not asked again: finding out may take long each time."""

RERANK = "rerank"
WORKER = "reranker"
UNCHANGED = "the results are in their first order"


class Reranking:
    """Reads the best again when that is wanted."""

    def __init__(
        self,
        make: Callable[[], Reranker] | None,
        workers: Workers,
        log: Logger,
        *,
        always: bool,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make nothing yet.

        Args:
            make: the reranker, the same one every time; raises what it lacks. None for none.
            workers: its model runs on the worker `reranker`.
            log: is told why it cannot be used.
            always: whether it reads again when the asker does not say.
            monotonic: seconds that only grow.
        """
        self.always = always
        self._make = make
        self._workers = workers
        self._log = log
        self._monotonic = monotonic
        self._warming = False
        self._failure = ""
        self._rests_until = 0.0

    def wanted(self, query: Query) -> bool:
        """Whether this question's best are read again."""
        return self.always if query.rerank is None else query.rerank

    async def warm(self) -> None:
        """Load the model, which may have to be fetched, before the first question needs it."""
        if self._make is None:
            return
        self._warming = True
        try:
            await self._scores(self._make, "warm", ["up"])
        except CloxyError as error:
            self._log.warning("the reranker cannot be used: %s", error)
        finally:
            self._warming = False

    async def reordered(
        self, query: Query, ranked: Sequence[Ranked]
    ) -> tuple[Sequence[Ranked], str | None]:
        """The best in the model's order, then the rest; or unchanged, with the reason in words."""
        if self._make is None:
            return ranked, f"recall.reranker names none, so {UNCHANGED}"
        if not ranked:
            return ranked, None
        if self._warming:
            return ranked, f"not read again: the reranker is still loading; {UNCHANGED}"
        if self._monotonic() < self._rests_until:
            return ranked, f"not read again: {self._failure}; {UNCHANGED}"
        # Copies of one text are judged once.
        texts = list(islice(dict.fromkeys(item.candidate.text for item in ranked), BEST))
        try:
            scores = await self._scores(self._make, query.text, texts)
        except CloxyError as error:
            return ranked, f"not read again: {error}; {UNCHANGED}"
        judged = dict(zip(texts, map(float, scores), strict=True))
        again = [
            _judged(item, judged[item.candidate.text])
            for item in ranked
            if item.candidate.text in judged
        ]
        again.sort(key=lambda item: (-item.parts[RERANK], -item.score, item.candidate.id))
        return [*again, *(item for item in ranked if item.candidate.text not in judged)], None

    async def _scores(
        self, make: Callable[[], Reranker], text: str, passages: Sequence[str]
    ) -> Float32Vector:
        try:
            return await self._workers.run(WORKER, lambda: make().scores(text, passages))
        except CloxyError as error:
            if not error.retryable:
                self._failure = str(error)
                self._rests_until = self._monotonic() + RETRY_SECONDS
            raise


def _judged(item: Ranked, score: float) -> Ranked:
    parts = {name: value for name, value in item.parts.items() if name != FINAL}
    return replace(item, parts={**parts, FINAL: item.score, RERANK: score})
