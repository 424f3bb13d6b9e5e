"""Rerankers that are wrong on purpose, each with the test of the kit that has to find it out.

Not collected by itself: `test_kit_itself` runs it and looks at what fails.
"""

import importlib

import numpy as np
from contract.cases import Cases

from cloxy_core.testing.conformance import RerankerConformance
from cloxy_hookspecs import RerankerProvider

CASES = Cases(__name__, "Reranker")


class Good:
    """Counts words of the question."""

    def scores(self, query, passages):
        words = set(query.lower().split())
        return np.array([len(words & set(text.lower().split())) for text in passages], "float32")


def case(test, change=None, create=None, **fixtures):
    """Add a reranker with something done to its answer, or made in another way."""
    changed = {"scores": lambda self, q, p: change(Good.scores(self, q, p), q, p)} if change else {}
    make = create or (lambda context: type("Changed", (Good,), changed)())
    record = RerankerProvider(name="broken", summary="Wrong", create=make)
    CASES.add(RerankerConformance, test, record, **fixtures)


def loads_at_once(context):
    importlib.import_module("onnxruntime")
    return Good()


class OfHeavyModule(Good):
    """Comes from a module that loads a model's library at its top."""

    __module__ = "heavy_author_reranker"


def heavy_module(self, tmp_path, monkeypatch):
    """Settings as they are, and that module."""
    (tmp_path / "heavy_author_reranker.py").write_text("import tokenizers\n")
    monkeypatch.syspath_prepend(tmp_path)
    return {}


case("test_create_loads_no_model", create=loads_at_once)
case("test_create_loads_no_model", create=lambda context: OfHeavyModule(), settings=heavy_module)
for change in (
    lambda scores, query, passages: list(scores),
    lambda scores, query, passages: scores.astype("float64"),
    lambda scores, query, passages: scores[:, None],
    lambda scores, query, passages: np.sort(scores)[:2],
    lambda scores, query, passages: scores * np.float32("nan"),
):
    case("test_a_score_for_each_passage", change)
case("test_nothing_gives_nothing", lambda scores, q, p: scores if p else np.zeros(1, "float32"))
case("test_nothing_gives_nothing", lambda scores, q, p: scores if p else scores[:, None])
case("test_odd_texts_have_scores", lambda scores, q, p: scores * bool("".join(p).encode()))
case(
    "test_odd_texts_have_scores",
    lambda scores, q, p: scores if q.strip() else scores * np.float32("nan"),
)
for change in (
    lambda scores, q, p: np.sort(scores),
    lambda scores, q, p: scores + np.arange(len(p), dtype="float32") / 100,
):
    case("test_order_of_the_passages_does_not_count", change)
case("test_passages_are_told_apart", lambda scores, q, p: np.zeros_like(scores))
