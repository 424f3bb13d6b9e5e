"""Questions: before every passage, never waiting for the model to load, and what a failure says."""

import asyncio
import threading

import numpy as np
import pytest
from embedding_support import REFUSED

from cloxy_core.services.embedding import model, service
from cloxy_hookspecs import Draft


def ask(place, text="a question"):
    return place.do(place.embedding.query_vector(text))


def loaded(place):
    place.start()
    place.until(lambda: place.embedding.trouble() is None)


def test_before_the_model_is_loaded_there_is_no_answer_and_no_waiting(place):
    place.words.gate.clear()
    place.start()
    place.until(place.words.entered.is_set)
    assert ask(place) is None
    assert place.embedding.trouble() == service.LOADING
    place.words.gate.set()
    place.until(lambda: place.embedding.trouble() is None)
    wanted = place.words.fake.embed_queries(["a question"])[0]
    assert np.allclose(ask(place), wanted, atol=1e-6)


def test_before_the_start_there_is_no_answer(place):
    assert ask(place) is None
    assert place.embedding.trouble()


def test_a_recent_question_is_not_asked_again(place, monkeypatch):
    monkeypatch.setattr(model, "RECENT", 2)
    loaded(place)
    place.words.questions.clear()
    for text in ("one", "two", "one", "three", "one", "two"):
        assert ask(place, text) is not None
    assert place.words.questions == ["one", "two", "three", "two"]


def test_a_question_waits_for_one_call_of_passages_at_most(place):
    place.words.info = type(place.words.info)(place.words.info.space, 0.3, 0.1, 1, 40)
    loaded(place)
    place.words.gate.clear()
    place.words.entered.clear()
    order = []
    place.words.change = lambda matrix: order.append("passage") or matrix
    asked = place.words.fake.embed_queries
    place.words.fake.embed_queries = lambda texts: order.append("question") or asked(texts)

    async def together():
        texts = [f"note {number}" for number in range(8)]
        for text in texts:
            await remember(place, text)
        while not place.words.entered.is_set():
            await asyncio.sleep(0.002)
        question = asyncio.create_task(place.embedding.query_vector("what now"))
        await asyncio.sleep(0)
        while not place.engine.workers.waiting("model"):
            await asyncio.sleep(0.002)
        place.words.gate.set()
        return await question

    assert place.do(together()) is not None
    assert order.index("question") <= 1
    place.settled()
    place.check()


def test_a_question_goes_before_whatever_else_waits_for_the_model(place):
    loaded(place)
    place.settled()
    order = []
    asked = place.words.fake.embed_queries
    place.words.fake.embed_queries = lambda texts: order.append("question") or asked(texts)

    async def together():
        workers, held = place.engine.workers, threading.Event()
        jobs = [asyncio.create_task(workers.run("model", held.wait))]
        jobs += [
            asyncio.create_task(workers.run("model", lambda: order.append("other")))
            for _ in range(3)
        ]
        while workers.waiting("model") < 3:
            await asyncio.sleep(0.002)
        question = asyncio.create_task(place.embedding.query_vector("what now"))
        while workers.waiting("model") < 4:
            await asyncio.sleep(0.002)
        held.set()
        await asyncio.gather(*jobs, question)

    place.do(together())
    assert order == ["question", "other", "other", "other"]


async def remember(place, text):
    await place.engine.memories.remember(Draft(text, "note", "manual"))


def test_a_model_that_is_missing_at_the_start_may_come_back(place):
    place.words.missing = "the file model.onnx is missing"
    place.remember("one note")
    place.start()
    place.until(lambda: "model.onnx" in place.embedding.trouble())
    status = place.status()
    assert (status.state, status.backlog, status.failed) == ("failed", 1, 0)
    assert "put it back" in status.reason
    assert ask(place) is None
    place.words.missing = None
    place.settled()
    place.check()


def test_a_model_that_goes_missing_while_it_runs_may_come_back(place):
    loaded(place)
    place.settled()
    place.words.missing = "the file model.onnx is missing"
    assert ask(place) is None
    assert "model.onnx" in place.embedding.trouble()
    place.remember("one note")
    assert place.status().state == "failed"
    place.words.missing = None
    place.settled()
    place.check()
    assert ask(place) is not None


def test_a_missing_model_is_tried_again_after_a_while_and_not_at_once(place, monkeypatch):
    monkeypatch.setattr(service, "RETRY_SECONDS", 3600)
    loaded(place)
    place.settled()
    place.words.missing = "gone"
    assert ask(place) is None
    place.words.missing = None
    tried = len(place.words.questions)

    async def wait():
        for _ in range(20):
            place.embedding.wake()
            await asyncio.sleep(0.002)

    place.do(wait())
    assert len(place.words.questions) == tried


def test_a_question_that_cannot_be_embedded_stops_no_other(place, monkeypatch):
    monkeypatch.setattr(service, "RETRY_SECONDS", 3600)
    loaded(place)
    assert ask(place, f"{REFUSED} question") is None
    place.until(lambda: place.embedding.trouble() is None)
    assert ask(place) is not None


def test_a_question_that_ends_the_process_does_not(place):
    loaded(place)

    def leave(_texts):
        raise SystemExit(3)

    place.words.embed_queries = leave
    place.embedding._side.model._embedder = place.words
    assert ask(place) is None
    assert "SystemExit" in place.embedding.trouble()


def test_a_wrong_vector_of_a_question_is_refused(place):
    loaded(place)
    right = place.words.fake.embed_queries
    place.words.fake.embed_queries = lambda texts: right(texts) * 2
    assert ask(place) is None
    assert "unit length" in place.embedding.trouble()
    place.words.fake.embed_queries = right
    place.until(lambda: place.embedding.trouble() is None)


def test_too_many_questions_are_not_answered_and_harm_nothing(place, caplog):
    loaded(place)
    place.words.gate.clear()

    async def many():
        asked = [
            asyncio.create_task(place.embedding.query_vector(f"question {number}"))
            for number in range(100)
        ]
        while sum(task.done() for task in asked) < 30:
            await asyncio.sleep(0.002)
        place.words.gate.set()
        return await asyncio.gather(*asked)

    answers = place.do(many())
    refused = sum(answer is None for answer in answers)
    assert 30 <= refused < 50
    assert place.embedding.trouble() is None
    assert "the embedding failed" not in caplog.text


def test_a_question_does_not_wait_for_a_model_that_is_stuck(place, monkeypatch):
    loaded(place)
    monkeypatch.setattr(service, "ANSWER_SECONDS", 0.01)
    place.words.gate.clear()
    assert ask(place, "while it is stuck") is None
    assert place.embedding.trouble() is None
    place.words.gate.set()
    monkeypatch.undo()
    assert ask(place, "afterwards") is not None


def test_it_is_closed_only_when_no_call_is_under_way(place):
    closed = []
    place.words.close = lambda: closed.append(place.words.gate.is_set())
    loaded(place)
    place.remember("one note")
    place.words.gate.clear()
    place.words.entered.clear()
    place.remember("another")
    place.until(place.words.entered.is_set)
    timer = threading.Timer(0.1, place.words.gate.set)
    timer.start()
    place.stop()
    timer.join()
    assert closed == [True]


@pytest.mark.parametrize("size", [1, 4])
def test_quick_passages_are_given_to_it_several_at_once(place, size):
    place.words.info = type(place.words.info)(place.words.info.space, 0.3, 0.1, size, 40)
    place.remember(*(f"note {number}" for number in range(40)))
    loaded(place)
    place.settled()
    assert max(place.words.calls) == size
