"""A second reading of the best."""

import asyncio
import threading

import numpy as np
import pytest
from sqlalchemy import delete

from cloxy_core.runtime.clock import SystemClock
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.recall import reranking as module
from cloxy_core.services.write.removal import remove_passages
from cloxy_hookspecs import MissingExtraError, ModelMissingError
from cloxy_hookspecs.tables import memories

QUESTION = "ledger"


class ShortestFirst:
    """Scores the shorter text higher, and keeps what it was given."""

    def __init__(self):
        self.given = []

    def scores(self, query, passages):
        self.given.append((query, list(passages)))
        return np.array([-len(text) for text in passages], "float32")


def read_again_by(world, reranker, *, always=False):
    world.use(reranking=world.reranking(lambda: reranker, always=always))
    return reranker


def ledgers(count):
    return [f"ledger {'and so on ' * number}{number}" for number in range(count, 0, -1)]


def test_the_best_twenty_come_in_the_order_of_the_model(world):
    world.say(*ledgers(30))
    first = world.texts(QUESTION, top_k=30)
    reranker = read_again_by(world, ShortestFirst())
    again = world.texts(QUESTION, top_k=30, rerank=True)
    [(query, texts)] = reranker.given
    assert query == QUESTION
    assert texts == first[:20]
    assert again[:20] == sorted(first[:20], key=len)
    assert again[20:] == first[20:]


def test_the_score_of_the_second_reading_is_a_part(world):
    world.say("a ledger", "the ledger of old")
    read_again_by(world, ShortestFirst())
    for hit in world.recall(QUESTION, group="passage", rerank=True).hits:
        assert hit.passages[0].parts["rerank"] == -len(hit.passages[0].text)


@pytest.mark.parametrize(
    ("always", "asked", "is_read"),
    [(False, None, False), (True, None, True), (True, False, False), (False, True, True)],
)
def test_the_asker_wins_over_the_setting(world, always, asked, is_read):
    world.say(*ledgers(3))
    reranker = read_again_by(world, ShortestFirst(), always=always)
    world.recall(QUESTION, rerank=asked)
    assert bool(reranker.given) is is_read


def test_copies_of_a_text_are_read_once(world):
    text = "the ledger migration locks the table, so it runs at night after the backup has ended"
    world.say(text, session="a")
    world.say(text, session="b", parent="a")
    reranker = read_again_by(world, ShortestFirst())
    answer = world.recall(QUESTION, rerank=True)
    assert reranker.given == [(QUESTION, [text])]
    assert [hit.sessions for hit in answer.hits] == [("a", "b")]


def test_what_cannot_read_again_says_what_to_install(world):
    world.say(*ledgers(3))
    before = world.texts(QUESTION)

    def missing():
        raise MissingExtraError("needs fastembed", hint="pip install 'cloxy[fastembed]'")

    world.use(reranking=world.reranking(missing))
    answer = world.recall(QUESTION, rerank=True, group="passage")
    assert [hit.passages[0].text for hit in answer.hits] == before
    [note] = answer.notes
    assert "pip install 'cloxy[fastembed]'" in note
    world.use(reranking=world.reranking(None))
    [note] = world.recall(QUESTION, rerank=True).notes
    assert "recall.reranker names none" in note


def test_a_reranker_that_failed_is_left_alone_for_a_minute(world):
    world.say(*ledgers(3))
    tried = []
    clock = [0.0]

    def missing():
        tried.append(clock[0])
        raise ModelMissingError("no model there", hint="fetch it")

    world.use(reranking=world.reranking(missing, monotonic=lambda: clock[0]))
    for moment in (0.0, 30.0, 59.9, 60.1):
        clock[0] = moment
        [note] = world.recall(QUESTION, rerank=True).notes
        assert "no model there (fetch it)" in note
    assert tried == [0.0, 60.1]


def test_while_the_model_is_loaded_questions_do_not_wait(world):
    world.say(*ledgers(3))
    before = world.texts(QUESTION)
    loading, go_on = threading.Event(), threading.Event()

    class Slow(ShortestFirst):
        def scores(self, query, passages):
            loading.set()
            assert go_on.wait(30)
            return super().scores(query, passages)

    read_again_by(world, Slow(), always=True)

    async def ask_while_it_loads():
        warm = asyncio.create_task(world.service._reranking.warm())
        await asyncio.to_thread(loading.wait, 30)
        answer = await world.service.recall(world.question(QUESTION, group="passage"))
        go_on.set()
        await warm
        return answer

    answer = world.do(ask_while_it_loads())
    assert [hit.passages[0].text for hit in answer.hits] == before
    assert answer.notes == (
        "not read again: the reranker is still loading; the results are in their first order",
    )
    assert world.texts(QUESTION) == sorted(before, key=len)


def test_what_is_forgotten_meanwhile_is_not_shown(world):
    for text in ("ledger one", "ledger two", "ledger three"):
        world.say(text, session=text)

    def forget(connection):
        connection.execute(delete(memories).where(memories.c.content.contains("ledger two")))

    class Forgets(ShortestFirst):
        def scores(self, query, passages):
            world.write_from_a_thread(forget)
            return super().scores(query, passages)

    read_again_by(world, Forgets())
    assert set(world.texts(QUESTION, rerank=True)) == {"ledger one", "ledger three"}


def test_what_is_forgotten_of_a_memory_meanwhile_is_not_shown(world):
    world.say("ledger one", "ledger two is secret", "ledger three")
    [secret] = [
        hit.passages[0].id
        for hit in world.recall(QUESTION, group="passage").hits
        if "secret" in hit.passages[0].text
    ]

    def forget(connection):
        indexing = Indexing(world.channels, world.store, SystemClock())
        remove_passages(connection, indexing, [secret], actor="test", now=0)

    class Forgets(ShortestFirst):
        def scores(self, query, passages):
            world.write_from_a_thread(forget)
            return super().scores(query, passages)

    read_again_by(world, Forgets())
    hits = world.recall(QUESTION, rerank=True, group="passage").hits
    found = {p.text: hit.content[p.char_start : p.char_end] for hit in hits for p in hit.passages}
    assert found == {"ledger one": "ledger one", "ledger three": "ledger three"}


def fails(query, passages):
    raise ValueError(f"cannot read {passages}")


@pytest.mark.parametrize(
    "answer",
    [
        fails,
        lambda query, passages: None,
        lambda query, passages: np.zeros(len(passages) - 1, "float32"),
        lambda query, passages: np.full(len(passages), np.nan, "float32"),
    ],
    ids=["raises", "nothing", "too few", "not a number"],
)
def test_one_that_does_wrong_leaves_the_first_order(world, answer):
    world.say(*ledgers(3))
    before = world.texts(QUESTION)

    class Wrong:
        def scores(self, query, passages):
            return answer(query, passages)

    read_again_by(world, Wrong())
    found = world.recall(QUESTION, rerank=True, group="passage")
    assert [hit.passages[0].text for hit in found.hits] == before
    [note] = found.notes
    assert "the reranker" in note
    assert "ledger" not in note


async def settled(world):
    await asyncio.wait([world.service._reranking._loading])


def test_a_question_does_not_wait_long_for_a_model_that_is_fetched(world, monkeypatch):
    world.say(*ledgers(3))
    before = world.texts(QUESTION)
    monkeypatch.setattr(module, "LOAD_SECONDS", 0.01)
    go_on = threading.Event()

    class Slow(ShortestFirst):
        def scores(self, query, passages):
            assert go_on.wait(30)
            return super().scores(query, passages)

    read_again_by(world, Slow())
    for _ in range(2):
        answer = world.recall(QUESTION, rerank=True, group="passage")
        assert [hit.passages[0].text for hit in answer.hits] == before
        assert answer.notes == (module.LOADING,)
    go_on.set()
    world.do(asyncio.wait_for(settled(world), 30))
    assert world.texts(QUESTION, rerank=True) == sorted(before, key=len)


def test_nothing_found_is_not_read(world):
    world.say("something")
    reranker = read_again_by(world, ShortestFirst())
    assert world.recall("zorgquat", rerank=True).hits == ()
    assert reranker.given == []
