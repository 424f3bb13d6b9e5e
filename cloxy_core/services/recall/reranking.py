"""A second reading of the best passages, by a model that sees question and passage together."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from logging import Logger

import numpy as np

from cloxy_core.kernel.containment import Failure, contained
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.recall.ranking import FINAL, Ranked
from cloxy_hookspecs import CloxyError, Float32Vector, ModelError, Query, Reranker

BEST = 20
"""Passages that are read again."""

RETRY_SECONDS = 60.0
"""How long a reranker that failed is not asked again: finding out may take long each time."""

LOAD_SECONDS = 10.0
"""How long a question waits for a model that has not answered yet: it may have to be fetched."""

RERANK = "rerank"
WORKER = "reranker"
UNCHANGED = "the results are in their first order"
LOADING = f"not read again: the reranker is still loading; {UNCHANGED}"


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
        self._loading: asyncio.Future[Float32Vector] | None = None
        self._answered = False
        self._failure = ""
        self._rests_until = 0.0

    def wanted(self, query: Query) -> bool:
        """Whether this question's best are read again."""
        return self.always if query.rerank is None else query.rerank

    async def warm(self) -> None:
        """Load the model, which may have to be fetched, before the first question needs it."""
        if self._make is None:
            return
        self._loading = self._begun(self._make, "warm", ["up"])
        with suppress(CloxyError):
            await self._loading

    async def reordered(
        self, query: Query, ranked: Sequence[Ranked]
    ) -> tuple[Sequence[Ranked], str | None]:
        """The best in the model's order, then the rest; or unchanged, with the reason in words."""
        if self._make is None:
            return ranked, f"recall.reranker names none, so {UNCHANGED}"
        if not ranked:
            return ranked, None
        if self._loading is not None and not self._loading.done():
            return ranked, LOADING
        if self._monotonic() < self._rests_until:
            return ranked, f"not read again: {self._failure}; {UNCHANGED}"
        # Copies of one text are judged once.
        texts = list(islice(dict.fromkeys(item.candidate.text for item in ranked), BEST))
        reading = self._begun(self._make, query.text, texts)
        if not self._answered:
            self._loading = reading
            await asyncio.wait([reading], timeout=LOAD_SECONDS)
            if not reading.done():
                return ranked, LOADING
        try:
            scores = await reading
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

    def _begun(
        self, make: Callable[[], Reranker], text: str, passages: Sequence[str]
    ) -> asyncio.Future[Float32Vector]:
        """Scores to come; nobody has to wait for them."""
        reading = asyncio.ensure_future(self._scores(make, text, passages))
        reading.add_done_callback(lambda done: done.cancelled() or done.exception())
        return reading

    async def _scores(
        self, make: Callable[[], Reranker], text: str, passages: Sequence[str]
    ) -> Float32Vector:
        try:
            scores = await self._workers.run(WORKER, lambda: _read_again(make, text, passages))
            self._answered = True
            return scores
        except CloxyError as error:
            if not error.retryable:
                self._answered = False
                self._log.warning("not read again: %s", error, exc_info=error.__cause__)
                self._failure = str(error)
                self._rests_until = self._monotonic() + RETRY_SECONDS
            raise


def _read_again(make: Callable[[], Reranker], text: str, passages: Sequence[str]) -> Float32Vector:
    """One call, on the thread of the reranker.

    Raises:
        CloxyError: whatever the reranker did wrong, in words.
    """
    outcome = contained(lambda: _checked(make().scores(text, passages), len(passages)))
    if not isinstance(outcome, Failure):
        return outcome.value
    if isinstance(outcome.error, CloxyError):
        raise outcome.error
    # Words of an error that nobody foresaw may be words of the text.
    kind = type(outcome.error).__name__
    raise ModelError(f"the reranker failed ({kind}); see the log") from outcome.error


def _checked(scores: Float32Vector, count: int) -> Float32Vector:
    array: Float32Vector = np.asarray(scores, dtype=np.float32)
    if array.shape != (count,) or not np.isfinite(array).all():
        raise ModelError(f"the reranker did not return {count} scores that are numbers")
    return array


def _judged(item: Ranked, score: float) -> Ranked:
    parts = {name: value for name, value in item.parts.items() if name != FINAL}
    return replace(item, parts={**parts, FINAL: item.score, RERANK: score})
