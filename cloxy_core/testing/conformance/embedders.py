"""Embedders: models that turn texts into vectors."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from pathlib import Path

import numpy as np
import pytest

from cloxy_core.testing.conformance.base import CreatedConformance, close
from cloxy_core.testing.conformance.loading import assert_loads_late, no_model_library
from cloxy_core.testing.conformance.samples import ODD_TEXTS
from cloxy_core.testing.fakes import SettableClock
from cloxy_core.testing.harness import App
from cloxy_hookspecs import (
    EMBED_PASSAGE_PREFIX,
    EMBED_QUERY_PREFIX,
    Embedder,
    EmbedderProvider,
)
from cloxy_hookspecs.seats import EMBEDDERS
from cloxy_hookspecs.types.vectors import Float32Matrix

TEXTS = (
    "The crane overheats because firmware 4.2 does not idle.",
    "ok",
    "Why does the harbour's tide table differ from the one in tides.csv? " * 4,
    "def idle(crane): return crane.load == 0 and not crane.moving",
    "Nächste Woche wird das Hafentor gestrichen, und zwar blau.",
)
QUERY_PREFIX = "someone asks: "
PASSAGE_PREFIX = "somebody said: "
UNIT = 1e-3
"""How far from 1 the length of a row may be."""

SAME = 1e-4
"""How far apart the numbers of two vectors of one text may be."""


class EmbedderConformance(CreatedConformance, of_the_kit=True):
    """An embedder; its model has to be on this machine, nothing is downloaded for the tests."""

    seat = EMBEDDERS

    def use(self, made: Embedder, app: App) -> None:
        """Embed something, so that the model is loaded."""
        del app
        made.embed_passages(TEXTS[:1])

    def test_record_names_its_models(self, provider: EmbedderProvider) -> None:
        """People choose by these names, and the first is the default."""
        assert not isinstance(provider.models, str), "a collection of names"
        assert provider.folders or provider.models, "it can run no model at all"
        for name in provider.models:
            assert name.strip() == name != ""

    def test_info_makes_sense(self, made: Embedder) -> None:
        """The core relies on these numbers."""
        info, space = made.info, made.info.space
        assert space.model.strip(), "say which model"
        assert space.revision.strip(), "say which weights: vectors of others cannot be compared"
        assert isinstance(space.dim, int)
        assert space.dim >= 1
        assert isfinite(info.weight)
        assert 0 <= info.weight <= 1
        assert isfinite(info.floor)
        assert -1 <= info.floor <= 1
        assert isinstance(info.batch, int)
        assert info.batch >= 1
        assert isinstance(info.characters, int)
        assert info.characters >= 1

    def test_info_is_known_without_the_model(
        self, provider: EmbedderProvider, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The server starts at once; the model is loaded by the first text, in the background."""
        with no_model_library(app, monkeypatch):
            made = provider.create(app.context)
            before = made.info
        try:
            made.embed_passages(TEXTS[:1])
            assert made.info == before, "it is the same before and after"
        finally:
            close(made, app)
        assert_loads_late(made)

    def test_a_row_for_each_text(self, made: Embedder) -> None:
        """Shape (n, d), `float32`, unit length."""
        for embed in methods(made):
            for count in (1, 2, len(TEXTS)):
                rows = embed(TEXTS[:count])
                assert_unit_rows(rows, count, made.info.space.dim)

    def test_nothing_gives_nothing(self, made: Embedder) -> None:
        """Shape (0, d)."""
        for embed in methods(made):
            assert_unit_rows(embed([]), 0, made.info.space.dim)

    def test_odd_texts_have_vectors(self, made: Embedder) -> None:
        """Nobody looks at a text before it is embedded: empty, huge, half a surrogate pair."""
        for embed in methods(made):
            for text in ODD_TEXTS:
                assert_unit_rows(embed([text]), 1, made.info.space.dim)

    def test_a_vector_depends_on_its_own_text(self, made: Embedder) -> None:
        """Alone, or between others in any order: the same text has the same vector."""
        texts = [*TEXTS, ODD_TEXTS[-2], TEXTS[0]]
        for embed in methods(made):
            alone = np.concatenate([embed([text]) for text in texts])
            assert_same(embed(texts), alone)
            assert_same(embed(texts[::-1]), alone[::-1])

    def test_different_texts_have_different_vectors(self, made: Embedder) -> None:
        """Else it would find nothing."""
        for embed in methods(made):
            rows = embed(TEXTS)
            similarity = rows @ rows.T - 2 * np.eye(len(TEXTS))
            assert similarity.max() < 1 - UNIT

    def test_prefixes_are_put_before_once(
        self,
        provider: EmbedderProvider,
        plugins: Mapping[str, object],
        settings: Mapping[str, str],
        clock: SettableClock,
        tmp_path: Path,
    ) -> None:
        """Those of the settings are in the space, and each stands before its own kind of text."""

        def opened(query: str, passage: str, work: Callable[[Embedder], None]) -> None:
            chosen = {EMBED_QUERY_PREFIX.name: query, EMBED_PASSAGE_PREFIX.name: passage}
            folder = tmp_path / f"prefixed-{bool(query)}"
            with App(folder, plugins=plugins, settings={**settings, **chosen}, clock=clock) as app:
                made = provider.create(app.context)
                space = made.info.space
                assert (space.query_prefix, space.passage_prefix) == (query, passage)
                try:
                    work(made)
                finally:
                    close(made, app)

        def by_hand(made: Embedder) -> None:
            wanted.append(made.embed_queries([QUERY_PREFIX + text for text in TEXTS]))
            wanted.append(made.embed_passages([PASSAGE_PREFIX + text for text in TEXTS]))

        def by_settings(made: Embedder) -> None:
            assert_same(made.embed_queries(TEXTS), wanted[0])
            assert_same(made.embed_passages(TEXTS), wanted[1])

        wanted: list[Float32Matrix] = []
        opened("", "", by_hand)
        opened(QUERY_PREFIX, PASSAGE_PREFIX, by_settings)

    def test_same_text_same_vector_after_a_restart(
        self, provider: EmbedderProvider, app: App
    ) -> None:
        """One made anew has the same space, and its vectors can be compared with the old ones."""
        found = []
        for _start in range(2):
            made = provider.create(app.context)
            try:
                found.append((made.info, made.embed_passages(TEXTS), made.embed_queries(TEXTS)))
            finally:
                close(made, app)
        (first, *rows), (second, *again) = found
        assert first == second
        for before, after in zip(rows, again, strict=True):
            assert_same(after, before)


def methods(made: Embedder) -> Sequence[Callable[[Sequence[str]], Float32Matrix]]:
    """Both ways to embed."""
    return made.embed_passages, made.embed_queries


def assert_unit_rows(rows: Float32Matrix, count: int, dim: int) -> None:
    """Check the shape, the type and the lengths of vectors."""
    assert isinstance(rows, np.ndarray)
    assert rows.shape == (count, dim)
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    assert np.all(np.abs(lengths - 1) <= UNIT), f"rows have length 1, not {lengths}"


def assert_same(rows: Float32Matrix, wanted: Float32Matrix) -> None:
    """Check that two matrices hold the same vectors."""
    assert rows.shape == wanted.shape
    assert np.abs(rows - wanted).max() <= SAME
