"""Indexes of vectors: what they owe besides what every index owes.

They are fed the vectors of the corpus by `FakeEmbedder`, whose vectors also stand in the store.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from cloxy_core.testing.conformance.index_answers import (
    EMBEDDER,
    assert_same,
    count,
    puts,
    search,
    snapshot,
)
from cloxy_core.testing.conformance.indexes import FedIndexConformance, reopened
from cloxy_core.testing.corpus import CORPUS, SHARED_WORD
from cloxy_core.testing.fakes import FakeEmbedder
from cloxy_core.testing.harness import App
from cloxy_core.testing.vectors import store_vectors
from cloxy_hookspecs import (
    Filters,
    IndexChange,
    IndexRow,
    Probe,
    VectorChange,
    VectorIndex,
    VectorIndexProvider,
    VectorRow,
)

CLOSE = 0.01
"""How far a score may be from the cosine."""

DIM = EMBEDDER.info.space.dim
DAMAGED: Mapping[str, "np.ndarray[Any, Any]"] = {
    "no vector at all": np.zeros(0),
    "too short": np.eye(1, DIM - 1)[0],
    "too long": np.eye(1, DIM + 1)[0],
    "not a number": np.full(DIM, np.nan),
    "endless": np.full(DIM, np.inf),
    "without direction": np.zeros(DIM),
    "not of unit length": 2 * np.eye(1, DIM)[0],
}
"""Vectors that no passage can have."""

ASKED = "when does the lighthouse blink"


class VectorIndexConformance(FedIndexConformance, of_the_kit=True):
    """An index of vectors, fed from the outbox."""

    record = VectorIndexProvider

    def prepare(self, app: App, rows: Sequence[IndexRow]) -> None:
        """Put the vectors of rows into the store, as the embedding of passages does."""
        vectors = {row.passage_id: _bytes(row.text) for row in rows}
        app.write(lambda connection: store_vectors(connection, EMBEDDER.info.space, vectors))

    def give(
        self, app: App, made: VectorIndex, changes: Sequence[IndexChange], sequence: int
    ) -> None:
        """Store the vectors, and apply the changes on a reader thread."""
        self.prepare(app, [change.row for change in changes if change.row is not None])
        ready = [VectorChange(each.passage_id, _row(each.row)) for each in changes]
        app.read(lambda _connection: made.apply(ready, sequence))

    def start_over(
        self, app: App, made: VectorIndex, rows: Sequence[IndexRow], sequence: int
    ) -> None:
        """Store the vectors, and rebuild on a reader thread, from an iterator."""
        self.prepare(app, rows)
        ready = (VectorRow(row.passage_id, _bytes(row.text)) for row in rows)
        app.read(lambda _connection: made.rebuild(ready, sequence))

    def test_what_cannot_be_compared_finds_nothing(self, app: App, filled: VectorIndex) -> None:
        """A question without a vector, or with one of another length, is no error."""
        for vector in (None, np.eye(1, DIM + 8, dtype=np.float32)[0]):
            probe = Probe(CORPUS[0].text, (), Filters(), vector)
            found = app.read(partial(filled.search, probe=probe, limit=9))
            assert list(found.hits) == []

    def test_score_is_the_cosine(
        self, app: App, made: VectorIndex, rows: Sequence[IndexRow]
    ) -> None:
        """It says how alike a passage and the question are, be it much, little or the contrary."""
        embedder = FakeEmbedder()
        wanted = {row.passage_id: 1 - 0.25 * place for place, row in enumerate(rows)}
        for row in rows:
            embedder.plant(row.text, like=ASKED, similarity=wanted[row.passage_id])
        _feed_vectors(app, made, embedder, [(row, None, None) for row in rows])
        assert dict(search(app, made, ASKED)) == pytest.approx(wanted, abs=CLOSE)

    def test_ids_are_those_of_the_passages(
        self, app: App, made: VectorIndex, rows: Sequence[IndexRow]
    ) -> None:
        """They follow every change; the server compares them with what is stored."""
        assert set(made.ids()) == set()
        self.feed(app, made, puts(rows[:3]))
        self.feed(app, made, [IndexChange(rows[0].passage_id, None), *puts(rows[1:4])])
        assert sorted(made.ids()) == sorted(row.passage_id for row in rows[1:4])
        self.rebuild(app, made, rows[4:])
        assert sorted(made.ids()) == sorted(row.passage_id for row in rows[4:])

    def test_neighbours_in_the_session_count(
        self, app: App, made: VectorIndex, rows: Sequence[IndexRow]
    ) -> None:
        """A passage beside one that answers goes before its like that stands alone.

        It does so whichever of the two came first, and only while the neighbour is there.
        """
        alone, beside, answer = rows[:3]
        embedder = _planted({alone: 0.5, beside: 0.5, answer: 0.95})
        for backwards in (False, True):
            linked = [(alone, None, None), (beside, None, answer), (answer, beside, None)]
            for each in reversed(linked) if backwards else linked:
                _feed_vectors(app, made, embedder, [each])
            scores = dict(search(app, made, ASKED))
            assert scores[beside.passage_id] > scores[alone.passage_id] + CLOSE
            assert scores[alone.passage_id] == pytest.approx(0.5, abs=CLOSE)
            # By a change that says nothing of the passage beside it.
            self.feed(app, made, [IndexChange(answer.passage_id, None)])
            scores = dict(search(app, made, ASKED))
            assert scores[beside.passage_id] == pytest.approx(0.5, abs=CLOSE)
            self.feed(app, made, [IndexChange(row.passage_id, None) for row in (alone, beside)])

    def test_neighbours_can_change(
        self, app: App, made: VectorIndex, rows: Sequence[IndexRow]
    ) -> None:
        """A row that comes again with other neighbours, or none, has only these."""
        other, beside, answer = rows[:3]
        embedder = _planted({other: -0.2, beside: 0.5, answer: 0.95})
        neighbours = [(other, None, None), (answer, None, None)]
        scores: list[float] = []
        for previous, following in ((None, answer), (other, None), (None, None), (answer, None)):
            _feed_vectors(app, made, embedder, [*neighbours, (beside, previous, following)])
            scores.append(dict(search(app, made, ASKED))[beside.passage_id])
        after_answer, after_other, by_itself, before_answer = scores
        assert after_other < by_itself - CLOSE
        assert by_itself == pytest.approx(0.5, abs=CLOSE)
        assert after_answer > by_itself + CLOSE
        assert before_answer == pytest.approx(after_answer, abs=CLOSE)

    @pytest.mark.parametrize("name", DAMAGED)
    def test_damaged_vector_harms_no_other(
        self, app: App, filled: VectorIndex, rows: Sequence[IndexRow], name: str
    ) -> None:
        """It is left out, and what had its place is gone."""
        before = snapshot(app, filled)
        damaged, sound = rows[0], rows[1]
        vector = DAMAGED[name].astype("<f4").tobytes()
        self.feed(app, filled, [IndexChange(damaged.passage_id, None)])
        wanted = snapshot(app, filled)
        self.feed(app, filled, puts([damaged]))
        assert_same(snapshot(app, filled), before)
        changes = [
            VectorChange(damaged.passage_id, VectorRow(damaged.passage_id, vector)),
            VectorChange(sound.passage_id, _row(sound)),
        ]
        self.sequence += 2
        app.write(
            lambda connection: store_vectors(
                connection, EMBEDDER.info.space, {damaged.passage_id: vector}
            )
        )
        app.read(lambda _connection: filled.apply(changes, self.sequence))
        assert_same(snapshot(app, filled), wanted)
        assert damaged.passage_id not in dict(search(app, filled, SHARED_WORD))
        assert damaged.passage_id not in filled.ids()
        assert count(app, filled) == len(rows) - 1

    def test_checkpoint_after_a_restart_is_kept_or_nothing(
        self, app: App, filled: VectorIndex, provider: VectorIndexProvider
    ) -> None:
        """Where it is kept everything is there again; where it is 0 the server rebuilds."""
        before, reached = snapshot(app, filled), filled.checkpoint()
        assert reached == self.sequence
        with reopened(app, filled, provider) as again:
            assert again.checkpoint() in {0, reached}
            if again.checkpoint():
                assert_same(snapshot(app, again), before)


Linked = tuple[IndexRow, IndexRow | None, IndexRow | None]
"""A row, the one before it, and the one after it."""


def _planted(similarities: Mapping[IndexRow, float]) -> FakeEmbedder:
    """An embedder for which texts of rows are more or less like the question."""
    embedder = FakeEmbedder()
    for row, similarity in similarities.items():
        embedder.plant(row.text, like=ASKED, similarity=similarity)
    return embedder


def _feed_vectors(
    app: App, made: VectorIndex, embedder: FakeEmbedder, linked: Sequence[Linked]
) -> None:
    """Store the vectors of rows and put them in."""
    vectors = {row.passage_id: _bytes(row.text, embedder) for row, _, _ in linked}
    app.write(lambda connection: store_vectors(connection, embedder.info.space, vectors))
    rows = [
        VectorRow(
            row.passage_id,
            vectors[row.passage_id],
            None if previous is None else previous.passage_id,
            None if following is None else following.passage_id,
        )
        for row, previous, following in linked
    ]
    changes = [VectorChange(row.passage_id, row) for row in rows]
    app.read(lambda _connection: made.apply(changes, made.checkpoint() + len(changes)))


def _row(row: IndexRow | None) -> VectorRow | None:
    return None if row is None else VectorRow(row.passage_id, _bytes(row.text))


def _bytes(text: str, embedder: FakeEmbedder = EMBEDDER) -> bytes:
    return bytes(embedder.embed_passages([text])[0].astype("<f4").tobytes())
