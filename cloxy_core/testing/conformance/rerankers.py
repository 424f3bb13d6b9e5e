"""Rerankers: models that read a question and a passage together."""

import numpy as np
import pytest

from cloxy_core.testing.conformance.base import CreatedConformance, close
from cloxy_core.testing.conformance.loading import assert_loads_late, no_model_library
from cloxy_core.testing.conformance.samples import ODD_TEXTS, generator
from cloxy_core.testing.harness import App
from cloxy_hookspecs import Reranker, RerankerProvider
from cloxy_hookspecs.seats import RERANKERS
from cloxy_hookspecs.types.vectors import Float32Vector

QUESTION = "why does the crane overheat"
PASSAGES = (
    "The crane overheats because firmware 4.2 does not idle.",
    "ok",
    "def idle(crane): return crane.load == 0 and not crane.moving",
    "Nächste Woche wird das Hafentor gestrichen, und zwar blau.",
    "Why does the harbour's tide table differ from the one in tides.csv? " * 40,
    "Does the crane overheat in winter, too?",
    "",
)
SAME = 1e-4
"""How far apart two scores of one passage may be, as a share of the span of all scores."""


class RerankerConformance(CreatedConformance, of_the_kit=True):
    """A reranker; its model has to be on this machine, nothing is downloaded for the tests."""

    seat = RERANKERS

    def use(self, made: Reranker, app: App) -> None:
        """Judge something, so that the model is loaded."""
        del app
        made.scores(QUESTION, PASSAGES[:1])

    def test_create_loads_no_model(
        self, provider: RerankerProvider, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The server starts at once; the model is loaded by the first question."""
        with no_model_library(app, monkeypatch):
            made = provider.create(app.context)
        try:
            made.scores(QUESTION, PASSAGES[:1])
        finally:
            close(made, app)
        assert_loads_late(made)

    def test_a_score_for_each_passage(self, made: Reranker) -> None:
        """Shape (n,), `float32`, finite."""
        for count in (1, 2, len(PASSAGES)):
            assert_scores(made.scores(QUESTION, PASSAGES[:count]), count)

    def test_nothing_gives_nothing(self, made: Reranker) -> None:
        """Shape (0,)."""
        assert_scores(made.scores(QUESTION, []), 0)

    def test_odd_texts_have_scores(self, made: Reranker) -> None:
        """Nobody looks at them before: empty, huge, half a surrogate pair."""
        assert_scores(made.scores(QUESTION, ODD_TEXTS), len(ODD_TEXTS))
        for question in ODD_TEXTS:
            assert_scores(made.scores(question, PASSAGES[:2]), 2)

    def test_order_of_the_passages_does_not_count(self, made: Reranker) -> None:
        """A passage has the same score wherever it stands."""
        straight = made.scores(QUESTION, PASSAGES)
        chance, places = generator(), list(range(len(PASSAGES)))
        for _ in range(3):
            chance.shuffle(places)
            mixed = made.scores(QUESTION, [PASSAGES[place] for place in places])
            assert_same(mixed, straight[places])

    def test_passages_are_told_apart(self, made: Reranker) -> None:
        """Else nothing would be reordered."""
        assert np.ptp(made.scores(QUESTION, PASSAGES)) > 0


def assert_scores(scores: Float32Vector, count: int) -> None:
    """Check the shape, the type and that each is a number."""
    assert isinstance(scores, np.ndarray)
    assert scores.shape == (count,)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all(), "a score that is no number cannot be compared"


def assert_same(scores: Float32Vector, wanted: Float32Vector) -> None:
    """Check that two lists hold the same scores."""
    span = max(1.0, float(np.ptp(wanted)))
    assert np.abs(scores - wanted).max() <= SAME * span
