"""Embedders that are wrong on purpose, each with the test of the kit that has to find it out.

Not collected by itself: `test_kit_itself` runs it and looks at what fails.
"""

import importlib
import random
from dataclasses import replace
from itertools import count

import numpy as np
from contract.cases import Cases

from cloxy_core.testing.conformance import EmbedderConformance
from cloxy_core.testing.fakes import FakeEmbedder
from cloxy_hookspecs import EMBED_PASSAGE_PREFIX, EMBED_QUERY_PREFIX, EmbedderProvider

CASES = Cases(__name__, "Embedder")


class Good:
    """The fake of the kit with prefixes, every one of whose parts a subclass may spoil."""

    def __init__(self, context):
        self.fake = FakeEmbedder(64)
        query, passage = (
            context.settings[each] or "" for each in (EMBED_QUERY_PREFIX, EMBED_PASSAGE_PREFIX)
        )
        space = replace(self.fake.info.space, query_prefix=query, passage_prefix=passage)
        self.info = replace(self.fake.info, space=space)

    def embed_passages(self, texts):
        return self.rows([self.info.space.passage_prefix + text for text in texts])

    def embed_queries(self, texts):
        return self.rows([self.info.space.query_prefix + text for text in texts])

    def rows(self, texts):
        return self.fake.embed_passages(texts)


def case(test, create, models=("fake/words",), **fixtures):
    """Add an embedder."""
    record = EmbedderProvider(name="broken", summary="Wrong", models=models, create=create)
    CASES.add(EmbedderConformance, test, record, **fixtures)


def case_of_rows(test, change):
    """Add an embedder with something done to its answer; `change` is given the texts as well."""

    class Changed(Good):
        def rows(self, texts):
            return change(super().rows(texts), texts)

    case(test, Changed)


def case_of_info(**facts):
    """Add an embedder that says something impossible about itself."""

    class Changed(Good):
        def __init__(self, context):
            super().__init__(context)
            of_space = {key: facts[key] for key in facts if hasattr(self.info.space, key)}
            of_info = {key: facts[key] for key in facts if key not in of_space}
            space = replace(self.info.space, **of_space)
            self.info = replace(self.info, space=space, **of_info)

    case("test_info_makes_sense", Changed)


# The record and what is known beforehand

case("test_record_names_its_models", Good, models="fake/words")
case("test_record_names_its_models", Good, models=())
case("test_record_names_its_models", Good, models=("fake/words", " "))
for facts in (
    {"model": " "},
    {"revision": ""},
    {"dim": 0},
    {"dim": 64.0},
    {"weight": 1.5},
    {"weight": float("nan")},
    {"floor": -2.0},
    {"floor": float("nan")},
    {"batch": 0},
    {"batch": 1.5},
    {"characters": 0},
    {"characters": 1e9},
):
    case_of_info(**facts)


def loads_at_once(context):
    importlib.import_module("onnxruntime")
    return Good(context)


class KnowsLater(Good):
    """Finds its revision in the model."""

    def rows(self, texts):
        self.info = replace(self.info, space=replace(self.info.space, revision="found"))
        return super().rows(texts)


def of_heavy_module(self, tmp_path, monkeypatch):
    """Settings as they are, and a module that loads a model's library at its top."""
    (tmp_path / "heavy_author_model.py").write_text("import onnxruntime\n")
    monkeypatch.syspath_prepend(tmp_path)
    return {}


class OfHeavyModule(Good):
    __module__ = "heavy_author_model"


for create in (loads_at_once, KnowsLater):
    case("test_info_is_known_without_the_model", create)
case("test_info_is_known_without_the_model", OfHeavyModule, settings=of_heavy_module)

# Vectors

for change in (
    lambda rows, texts: rows.tolist(),
    lambda rows, texts: rows[:, :-1],
    lambda rows, texts: rows[0],
    lambda rows, texts: rows[:2],
    lambda rows, texts: rows.astype(np.float64),
    lambda rows, texts: rows * np.float32(1.01),
    lambda rows, texts: rows * np.float32("nan"),
):
    case_of_rows("test_a_row_for_each_text", change)
for change in (
    lambda rows, texts: rows if len(texts) else np.zeros((0,), np.float32),
    lambda rows, texts: rows if len(texts) else np.zeros((0, 64)),
    lambda rows, texts: np.stack(list(rows)),
):
    case_of_rows("test_nothing_gives_nothing", change)
for change in (
    lambda rows, texts: rows * np.float32(bool(" ".join(texts).encode())),
    lambda rows, texts: rows * np.float32([[bool(text.strip())] for text in texts]),
    lambda rows, texts: rows * np.float32([[len(text) < 10_000] for text in texts]),
):
    case_of_rows("test_odd_texts_have_vectors", change)


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


for change in (
    lambda rows, texts: unit(rows + 0.001 * rows.mean(axis=0)),
    lambda rows, texts: unit(rows + 0.001 * max(map(len, texts))),
    lambda rows, texts: rows[np.argsort(texts)],
):
    case_of_rows("test_a_vector_depends_on_its_own_text", change)
case_of_rows(
    "test_different_texts_have_different_vectors",
    lambda rows, texts: unit(np.ones_like(rows)),
)


class Without(Good):
    """Says that it has prefixes, and forgets them."""

    def embed_queries(self, texts):
        return self.rows(texts)


class Twice(Good):
    """Puts the prefix before what has it already."""

    def embed_passages(self, texts):
        return super().embed_passages([self.info.space.passage_prefix + text for text in texts])


class Swapped(Good):
    """Takes a question for a passage."""

    def embed_queries(self, texts):
        return self.embed_passages(texts)


class OfItsOwn(Good):
    """Does not ask the settings."""

    def __init__(self, context):
        super().__init__(context)
        space = replace(self.info.space, query_prefix="query: ", passage_prefix="passage: ")
        self.info = replace(self.info, space=space)


for create in (Without, Twice, Swapped, OfItsOwn):
    case("test_prefixes_are_put_before_once", create)

numbers = count()


class NewSpace(Good):
    """Has another revision at every start."""

    def __init__(self, context):
        super().__init__(context)
        space = replace(self.info.space, revision=str(next(numbers)))
        self.info = replace(self.info, space=space)


class Chance(Good):
    """Has directions of its own at every start."""

    def __init__(self, context):
        super().__init__(context)
        self.signs = np.float32([random.choice((-1, 1)) for _ in range(64)])

    def rows(self, texts):
        return super().rows(texts) * self.signs


for create in (NewSpace, Chance):
    case("test_same_text_same_vector_after_a_restart", create)
