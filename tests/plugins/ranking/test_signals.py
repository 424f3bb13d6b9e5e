"""Signals over columns of candidates."""

import pytest

from cloxy_hookspecs import CandidateBatch, Query
from cloxy_plugins.ranking.plugin import cloxy_fusers, cloxy_signals
from cloxy_plugins.ranking.signals import LiteralSignal, OriginalsSignal, RecencySignal


def batch(*texts, ages=None, roles=None, authors=None):
    count = len(texts)
    return CandidateBatch(
        ids=range(count),
        base=[1.0] * count,
        texts=texts,
        headers=[""] * count,
        occurred_at=[None] * count,
        age_days=ages or [None] * count,
        roles=roles or ["user"] * count,
        authors=authors or ["human"] * count,
    )


def query(*literals):
    return Query(text="x", top_k=5, now=0, literals=literals)


def test_literals_are_verbatim_and_whole():
    texts = ("see facets.py", "see test_facets.py", "see Facets.py", "views/facets.py, then")
    assert LiteralSignal().values(batch(*texts), query("facets.py")) == [1.0, 0.0, 0.0, 1.0]
    versions = batch("on v5.1 now", "on v5.10 now", "(v5.1)")
    assert LiteralSignal().values(versions, query("v5.1")) == [1.0, 0.0, 1.0]


def test_literals_of_signs_only_at_the_edge():
    texts = batch("git commit --no-verify", "in C++ we", "C is older")
    assert LiteralSignal().values(texts, query("--no-verify", "C++")) == [0.5, 0.5, 0.0]


def test_no_literals_no_bonus():
    assert LiteralSignal().values(batch("a", "b"), query()) == [0.0, 0.0]


def test_recency_halves_every_thirty_days():
    values = RecencySignal().values(batch(*"abcde", ages=[0.0, 30.0, 60.0, None, -5.0]), query())
    assert values == pytest.approx([1.0, 0.5, 0.25, 0.5, 1.0])


def test_summaries_are_no_originals():
    rows = batch(
        "a", "b", "c", roles=["user", "summary", "user"], authors=["human", "summary", "summary"]
    )
    assert OriginalsSignal().values(rows, query()) == [1.0, 0.0, 0.0]


def test_records_are_complete():
    assert {
        record.name: record.create(None).default_recency_weight for record in cloxy_fusers()
    } == {
        "weighted": 0.1,
        "rrf": 0.3,
    }
    assert [(record.name, record.mode, record.weight) for record in cloxy_signals()] == [
        ("literal", "add", 0.3),
        ("originals", "tilt", 0.3),
        ("recency", "tilt", 0.1),
    ]
