"""Fusion against hand-worked numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloxy_hookspecs import Hit
from cloxy_plugins.ranking.fuse import RrfFuser, WeightedFuser, normalised


def hits(**scores):
    return [Hit(int(name[1:]), score) for name, score in scores.items()]


def test_weights_are_shared_among_the_channels_that_answered():
    weights = {"keyword": 0.7, "dense": 0.3}
    alone = WeightedFuser().fuse({"keyword": hits(p1=9.0), "dense": []}, weights)
    assert [(item.passage_id, item.score) for item in alone] == [(1, 1.0)]
    both = WeightedFuser().fuse({"keyword": hits(p1=9.0), "dense": hits(p2=0.4)}, weights)
    assert [(i.passage_id, pytest.approx(i.score)) for i in both] == [(1, 0.7), (2, 0.3)]


def test_a_lone_strong_keyword_match_beats_a_weak_vector():
    weights = {"keyword": 0.7, "dense": 0.3}
    dense = hits(p5=0.21, p6=0.2, p7=0.19)
    assert (
        WeightedFuser().fuse({"keyword": hits(p1=0.4), "dense": dense}, weights)[0].passage_id == 1
    )


def test_parts_add_up_to_the_score():
    fused = WeightedFuser().fuse(
        {"keyword": hits(p1=3.0, p2=1.0), "dense": hits(p2=0.9, p1=0.1)},
        {"keyword": 0.7, "dense": 0.3},
    )
    for item in fused:
        assert sum(item.parts.values()) == pytest.approx(item.score)
        assert set(item.parts) == {"keyword", "dense"}


def test_nothing_gives_nothing():
    assert WeightedFuser().fuse({"keyword": []}, {"keyword": 0.7}) == []
    assert RrfFuser().fuse({}, {}) == []


def test_the_second_of_two_near_equals_stays_near():
    assert normalised([10.0, 9.9])[1] > 0.9
    assert normalised([10.0] * 3) == [1.0] * 3
    long = normalised([float(score) for score in range(150, 0, -1)])
    assert long[0] == 1.0
    assert long[-1] < 0.01


@given(st.lists(st.floats(-1, 100), min_size=1, max_size=40))
def test_normalised_keeps_order_and_top(scores):
    scores = sorted(scores, reverse=True)
    values = normalised(scores)
    assert values == sorted(values, reverse=True)
    assert values[0] == 1.0


def test_rrf_is_the_originals_formula():
    fused = RrfFuser().fuse(
        {"keyword": hits(p1=9.0, p2=8.0), "dense": hits(p2=0.9, p3=0.8)},
        {"keyword": 0.7, "dense": 0.3},
    )
    assert [(i.passage_id, pytest.approx(i.score)) for i in fused] == [
        (2, 1 / 62 + 1 / 61),
        (1, 1 / 61),
        (3, 1 / 62),
    ]
    assert max(item.score for item in fused) <= 2 / 61
