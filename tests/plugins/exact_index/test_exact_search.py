"""What is found is what a plain scan of everything finds."""

import numpy as np
import pytest
from exact_shelf import Shelf, clustered, unit

from cloxy_hookspecs import Filters, Probe, Window
from cloxy_plugins.exact_index import search

TOLERANCE = 1e-5


def questions(shelf, chance, count=20):
    """Half of them near to passages, half anywhere."""
    near = [shelf.vectors[number] for number in list(shelf.vectors)[: count // 2]]
    noise = chance.standard_normal((count // 2, shelf.dim)) / np.sqrt(shelf.dim)
    return [*(unit(v + 0.5 * n) for v, n in zip(near, noise, strict=True)), *map(unit, noise)]


def agree(found, wanted):
    """Share of the wanted that was found; what was found has the right score."""
    right = dict(wanted)
    for number, score in found:
        if number in right:
            assert score == pytest.approx(right[number], abs=TOLERANCE)
    return len(right.keys() & dict(found).keys()) / max(1, len(right))


@pytest.mark.parametrize("limit", [1, 10, 50, 700])
def test_the_best_of_all(many, library, chance, limit):
    shares = [
        agree(many.ask(asked, limit), many.scan(asked, limit)) for asked in questions(many, chance)
    ]
    assert np.mean(shares) >= 0.99
    assert min(shares) >= 0.9


@pytest.mark.parametrize("source", ["one", "ten", "half"])
def test_the_best_within_a_filter(many, library, chance, source):
    shares = []
    for asked in questions(many, chance):
        found = many.ask(asked, filters=Filters(source=source))
        wanted = many.scan(asked, source=source)
        assert len(found) == len(wanted)
        assert {many.sources[number] for number, _ in found} == {source}
        shares.append(agree(found, wanted))
    assert np.mean(shares) >= 0.99
    assert min(shares) >= 0.9


def test_the_best_of_what_is_left(many, library, chance):
    gone = [int(n) for n in chance.permutation(list(many.vectors))[:1200]]
    many.remove(gone[:600])
    many.remove(gone[600:])
    shares = []
    for asked in questions(many, chance):
        for source in (None, "ten"):
            found = many.ask(asked, filters=Filters(source=source))
            assert not set(gone) & set(dict(found))
            shares.append(agree(found, many.scan(asked, source=source)))
    assert np.mean(shares) >= 0.99


def test_filter_that_leaves_nothing(many, chance):
    for filters in (Filters(project="/nowhere"), Filters(source="none"), Filters(roles=("note",))):
        assert many.ask(unit(chance.standard_normal(64)), filters=filters) == []


def test_what_has_no_time_is_outside_of_every_window(many, chance):
    assert many.ask(unit(chance.standard_normal(64)), filters=Filters(window=Window(0, 9))) == []


def test_without_filters_the_store_is_asked_once(many, chance):
    assert len(many.ask(unit(chance.standard_normal(64)))) == 50
    (statement,) = many.statements
    assert "FROM embeddings" in statement


def test_filter_that_lets_most_pass_is_tried_on_the_best_alone(many, chance):
    assert len(many.ask(unit(chance.standard_normal(64)), filters=Filters(source="half"))) == 50
    assert len(many.statements) == 2
    assert "json_each" in many.statements[0]


def test_filter_that_lets_few_pass_is_asked_for_all(many, chance, monkeypatch):
    monkeypatch.setattr(search, "_FEWEST", 60)
    asked = unit(chance.standard_normal(64))
    found = many.ask(asked, limit=20, filters=Filters(source="one"))
    assert agree(found, many.scan(asked, 20, "one")) == 1
    assert ["json_each" in statement for statement in many.statements] == [True, False, True]


def test_filter_that_lets_some_pass_is_tried_on_more_of_the_best(many, chance, monkeypatch):
    monkeypatch.setattr(search, "_FEWEST", 100)
    asked = unit(chance.standard_normal(64))
    found = many.ask(asked, limit=20, filters=Filters(source="ten"))
    assert agree(found, many.scan(asked, 20, "ten")) == 1
    assert ["json_each" in statement for statement in many.statements] == [True, True, True]


def test_what_rounding_may_have_misplaced_is_looked_at_too(shelf, chance, monkeypatch):
    """Enough pass, but the last of them is no better than others may be that were not tried."""
    monkeypatch.setattr(search, "_FEWEST", 100)
    asked = unit(chance.standard_normal(64))
    cosines = [0.9] * 100 + [0.898] * 20 + [0.892] * 200
    vectors = {}
    for number, cosine in enumerate(cosines, 1):
        other = chance.standard_normal(64)
        other = unit(other - (other @ asked) * asked)
        vectors[number] = cosine * asked + np.sqrt(1 - cosine**2) * other
    shelf.put(vectors, {number: "half" for number in vectors if number > 100})
    found = shelf.ask(asked, limit=20, filters=Filters(source="half"))
    assert sorted(dict(found)) == list(range(101, 121))
    assert len(shelf.statements) > 2


def test_passages_gone_from_the_store_are_not_found(many, chance):
    asked = unit(chance.standard_normal(64))
    for _ in range(2):
        best = [number for number, _ in many.scan(asked, 500)]
        for source in ("half", None):
            assert many.ask(asked, filters=Filters(source=source))
        many.forget(best)
        for source in ("half", None):
            found = many.ask(asked, filters=Filters(source=source))
            assert len(found) == 50
            assert not set(best) & set(dict(found))


def test_passages_whose_vectors_are_gone_take_no_place(many, chance):
    asked = unit(chance.standard_normal(64))
    best = [number for number, _ in many.scan(asked, 1500)]
    many.sql("DELETE FROM embeddings WHERE passage_id = ?", [(number,) for number in best])
    found = many.ask(asked)
    assert len(found) == 50
    assert not set(best) & set(dict(found))


def test_vectors_of_another_space_do_not_count(many, chance):
    asked = unit(chance.standard_normal(64))
    assert many.ask(asked)
    many.sql("UPDATE embedding_spaces SET active = (id = 1)")
    assert many.ask(asked) == []


def test_scores_are_of_what_is_stored_now(shelf):
    shelf.put({1: unit(np.eye(64)[0]), 2: unit(np.eye(64)[1])})
    shelf.store({1: unit(np.eye(64)[0] + np.eye(64)[1])})
    assert dict(shelf.ask(np.eye(64)[0]))[1] == pytest.approx(np.sqrt(0.5), abs=TOLERANCE)


def test_damaged_vector_in_the_store_is_left_out(shelf, chance):
    numbers = range(1, 9)
    shelf.put(dict(zip(numbers, clustered(chance, 8), strict=True)))
    shelf.sql("UPDATE embeddings SET vector = zeroblob(256) WHERE passage_id = 3")
    shelf.sql("UPDATE embeddings SET vector = substr(vector, 5) WHERE passage_id = 4")
    assert sorted(dict(shelf.ask(np.eye(64)[0]))) == [1, 2, 5, 6, 7, 8]


def test_equal_passages_come_by_number_however_many(shelf, chance):
    (same, other) = clustered(chance, 2)
    numbers = [int(number) for number in chance.permutation(np.arange(1, 2001))]
    shelf.store(dict.fromkeys(numbers, same) | {2001: other})
    shelf.rebuild()
    found = shelf.ask(same, 30)
    assert [number for number, _ in found] == list(range(1, 31))
    assert {score for _, score in found} == {1.0}


def test_score_has_no_more_than_the_limit_of_a_cosine(shelf, chance):
    shelf.put(dict(enumerate(clustered(chance, 200), 1)))
    for number in range(1, 201):
        best = shelf.ask(shelf.vectors[number], 1)
        assert best[0] == (number, 1.0)


@pytest.mark.parametrize("factor", [1e-3, 1, 7e5])
def test_length_of_the_question_does_not_count(many, chance, factor):
    asked = unit(chance.standard_normal(64))
    assert dict(many.ask(factor * asked)) == pytest.approx(dict(many.ask(asked)), abs=TOLERANCE)


@pytest.mark.parametrize(
    "vector",
    [np.zeros(64), np.full(64, np.nan), np.full(64, np.inf), np.ones(63), np.ones((1, 64))],
)
def test_question_without_direction_finds_nothing(many, vector):
    assert many.ask(vector) == []


def test_question_without_a_vector_finds_nothing(many):
    with many.engine.begin() as connection:
        many.statements.clear()
        assert many.index.search(connection, Probe("x", (), Filters()), 9).hits == ()
    assert many.statements == []


@pytest.mark.parametrize("limit", [0, -1])
def test_no_hit_is_wanted(many, limit):
    assert many.ask(np.ones(64), limit) == []


def test_long_vectors(engine, chance):
    """Products of this many bytes do not fit into the digits of a 32-bit float."""
    shelf = Shelf(engine, 4096)
    shelf.put(dict(enumerate(clustered(chance, 300, 4096), 1)))
    asked = unit(chance.standard_normal(4096))
    assert agree(shelf.ask(asked, 20), shelf.scan(asked, 20)) >= 0.95
