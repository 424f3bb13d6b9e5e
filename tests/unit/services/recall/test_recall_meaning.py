"""Meaning beside keywords: what a model adds, and what is said when it cannot."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from cloxy_core.services.recall.meaning import Asked
from cloxy_core.services.vector_feed import VectorChannel
from cloxy_hookspecs import (
    EmbedderInfo,
    EmbeddingSpace,
    Filters,
    Found,
    Hit,
    ModelMissingError,
    StoreBusyError,
    VectorIndexProvider,
    Window,
)

INFO = EmbedderInfo(
    EmbeddingSpace("m", "1", 2), weight=0.3, floor=0.2, batch=1, characters=300, sure=0.5
)


class Model:
    """Embeds every question alike, or cannot."""

    def __init__(self, vector=(1.0, 0.0), trouble=None, info=INFO, wanted=True):
        self.info = info
        self.wanted = wanted
        self.asked = []
        self._vector = None if vector is None else np.array(vector, "float32")
        self._trouble = trouble

    async def query_vector(self, text):
        self.asked.append(text)
        return self._vector

    def trouble(self):
        return self._trouble


class Similar:
    """A vector index that answers with what it was given: passage id and cosine."""

    def __init__(self, *hits):
        self.hits = hits
        self.probes = []

    def search(self, connection, probe, limit):
        self.probes.append(probe)
        return Found([Hit(*hit) for hit in self.hits] if probe.vector is not None else [])


def with_meaning(world, *hits, model=None, **more):
    index = Similar(*hits)
    record = VectorIndexProvider(
        name="similar", summary="A stand-in", channel="dense", create=lambda _context: index
    )
    model = model or Model()
    world.use(channels=[*world.channels, VectorChannel(record, index)], meaning=model, **more)
    return model, index


def ids(world, *texts):
    """Passage ids by text."""
    found = {}
    for text in texts:
        hit = world.recall(text, mode="keyword", group="passage").hits[0]
        found[text] = hit.passages[0].id
    return [found[text] for text in texts]


def test_what_only_meaning_finds_is_found_and_says_so(world):
    world.say("the dog barked all night", "pay the invoice")
    dog, _ = ids(world, "the dog barked all night", "pay the invoice")
    model, index = with_meaning(world, (dog, 0.71))
    answer = world.recall("noisy pet")
    assert [hit.passages[0].text for hit in answer.hits] == ["the dog barked all night"]
    assert answer.hits[0].similarity == pytest.approx(0.71)
    assert answer.hits[0].keyword_rank is None
    assert "dense" in answer.hits[0].passages[0].parts
    assert answer.channels == ("dense",)
    assert model.asked == ["noisy pet"]
    assert all(probe.vector is not None for probe in index.probes)


def test_a_strong_keyword_match_never_loses_to_a_weak_vector(world):
    world.say("the zorgquat valve is closed", "something else entirely")
    _valve, other = ids(world, "the zorgquat valve is closed", "something else entirely")
    with_meaning(world, (other, 0.21))
    texts = world.texts("zorgquat")
    assert texts[0] == "the zorgquat valve is closed"


def test_what_is_not_similar_enough_answers_nothing(world):
    world.say("the dog barked all night")
    [dog] = ids(world, "the dog barked all night")
    with_meaning(world, (dog, 0.19))
    assert world.recall("quarterly revenue").hits == ()
    with_meaning(world, (dog, 0.2))
    assert len(world.recall("quarterly revenue").hits) == 1


def test_the_embedder_gives_the_share_of_meaning(world):
    world.say("alpha beta", "gamma delta")
    _, second = ids(world, "alpha beta", "gamma delta")
    shares = {}
    for weight in (0.3, 0.7):
        info = replace(INFO, weight=weight)
        with_meaning(world, (second, 0.9), model=Model(info=info))
        hits = world.recall("alpha", group="passage").hits
        shares[weight] = {hit.passages[0].text: hit.passages[0].parts for hit in hits}
    small, great = (shares[w]["gamma delta"]["dense"] for w in (0.3, 0.7))
    assert 0 < small < great


def test_a_likeness_that_is_not_sure_weighs_less(world):
    world.say("alpha beta", session="s1")
    world.say("gamma delta", session="s2")
    _, second = ids(world, "alpha beta", "gamma delta")
    shares = []
    for similarity in (0.25, 0.4, 0.5, 0.9):
        with_meaning(world, (second, similarity))
        hits = world.recall("alpha", group="passage").hits
        parts = {hit.passages[0].text: hit.passages[0].parts for hit in hits}
        shares.append(parts.get("gamma delta", {}).get("dense", 0.0))
    assert shares[0] < shares[1] < shares[2] == shares[3]


@pytest.mark.parametrize("sure", [None, 0.2, 0.1])
def test_without_a_similarity_to_be_sure_from_the_weight_counts_in_full(sure):
    info = replace(INFO, sure=sure)
    assert Asked(np.zeros(2, "float32"), info).weight([Hit(1, 0.21)]) == info.weight


@pytest.mark.parametrize(
    ("model", "index_trouble", "note"),
    [
        (Model(None, trouble="the model is still loading"), None, "the model is still loading"),
        (Model(), "the vectors are still being loaded", "the vectors are still being loaded"),
        (Model(info=None, trouble="a file is missing"), None, "a file is missing"),
        (Model(None), None, "the model is too busy to answer"),
    ],
)
def test_without_a_vector_keywords_answer_and_the_answer_says_so(world, model, index_trouble, note):
    world.say("the ledger")
    with_meaning(world, model=model, index_trouble=index_trouble)
    answer = world.recall("ledger")
    assert len(answer.hits) == 1
    assert answer.notes == (f"searched by keyword only: {note}",)
    assert answer.hits[0].similarity is None
    with pytest.raises(ModelMissingError, match=note):
        world.recall("ledger", mode="dense")
    assert world.recall("ledger", mode="keyword").notes == ()


def test_no_model_by_choice_is_no_reason_for_a_note(world):
    world.say("the ledger")
    with_meaning(world, model=Model(info=None, trouble="embed.provider is none", wanted=False))
    assert world.recall("ledger").notes == ()
    with pytest.raises(ModelMissingError, match=r"embed\.provider is none"):
        world.recall("ledger", mode="dense")


def test_dense_asks_vectors_alone_and_keyword_asks_none(world):
    world.say("the ledger")
    world.say("the dog", session="s2")
    _, dog = ids(world, "the ledger", "the dog")
    model, _ = with_meaning(world, (dog, 0.8))
    assert world.texts("ledger", mode="dense") == ["the dog"]
    asked = len(model.asked)
    assert world.texts("ledger", mode="keyword") == ["the ledger"]
    assert len(model.asked) == asked


def test_a_question_for_a_span_alone_needs_no_vector(world):
    world.say("the ledger")
    model, _ = with_meaning(world, model=Model(None, trouble="loading"))
    answer = world.recall("what did we do today?")
    assert answer.channels == ("time",)
    assert model.asked == []
    assert answer.notes == ()


@pytest.mark.parametrize(("hard", "asked"), [(Window(until=1), 1), (Window(), 0)])
def test_what_cannot_be_listed_by_time_is_searched_for_by_meaning(world, hard, asked):
    world.say("the dog barked all night")
    model, _index = with_meaning(world)
    world.recall("what did we do yesterday?", filters=Filters(window=hard))
    assert len(model.asked) == asked


def test_a_text_tells_the_best_that_any_copy_of_it_has(world):
    text = "the ledger migration locks the table, so it runs at night after the backup has ended"
    world.say(text, session="a")
    world.say("something else", session="z")
    world.say(text, session="b", parent="a")
    copy = world.read(lambda c: c.exec_driver_sql("SELECT max(id) FROM passages").scalar())
    with_meaning(world, (copy, 0.71))
    [hit] = world.recall("ledger migration").hits
    assert hit.session == "a"
    assert hit.similarity == pytest.approx(0.71)
    assert hit.keyword_rank == 1


@pytest.mark.parametrize("error", [RuntimeError("no"), MemoryError()])
def test_an_index_that_fails_costs_its_own_answer_alone(world, error):
    world.say("the ledger")
    _model, index = with_meaning(world)

    def fail(connection, probe, limit):
        raise error

    index.search = fail
    answer = world.recall("ledger")
    assert len(answer.hits) == 1
    [note] = answer.notes
    assert note == "searched by keyword only: the index dense failed; see the log"
    assert world.index_failures == [("dense", error)]


def test_an_error_of_the_store_is_not_taken_for_the_index(world):
    world.say("the ledger")
    _model, index = with_meaning(world)

    def fail(connection, probe, limit):
        raise StoreBusyError("too much waits")

    index.search = fail
    with pytest.raises(StoreBusyError):
        world.recall("ledger")
    assert world.index_failures == []


def test_what_is_only_alike_does_not_go_before_a_name_for_its_date(world):
    may = int(datetime(2026, 5, 3, 12, tzinfo=UTC).timestamp() * 1000)
    world.say("PROJ-1234 the retry queue is stuck", session="named", at=may)
    alike = [f"we talked about the weather {number}" for number in range(40)]
    world.say(*alike, session="alike", at=may)
    with_meaning(world, *[(number, 0.6) for number in ids(world, *alike)])
    assert world.texts("PROJ-1234 retry queue 2026-05-03")[0].startswith("PROJ-1234")
