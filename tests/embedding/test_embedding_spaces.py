"""One space for everything: which one counts, and what happens to the vectors of another."""

import asyncio

import pytest
from embedding_support import Place, Words

from cloxy_core.services.embedding import backlog, service, spaces
from cloxy_core.services.embedding.settling import Spaces
from cloxy_hookspecs import EmbeddingSpaceMismatchError
from cloxy_hookspecs.errors import StoreBusyError


def active(place):
    return place.rows("SELECT model, revision FROM embedding_spaces WHERE active")


def filled(folder, words):
    with Place(folder, words) as place:
        place.remember("one note", "another note", "a third note")
        place.start()
        place.settled()
        place.check()


def test_the_first_embedder_makes_the_space(place):
    place.start()
    assert active(place) == [("fake/words", "1")]
    place.restart()
    assert active(place) == [("fake/words", "1")]
    assert place.value("SELECT count(*) FROM embedding_spaces") == 1


def test_another_model_that_nobody_set_replaces_the_vectors(tmp_path, words, monkeypatch):
    monkeypatch.setattr(spaces, "REMOVED_AT_ONCE", 2)
    monkeypatch.setattr(backlog, "MOST_TEXTS", 1)
    filled(tmp_path, words)
    newer = Words(revision="2", dim=24)
    with Place(tmp_path, newer) as place:
        newer.gate.clear()
        place.start()
        assert active(place) == [("fake/words", "2")]
        status = place.status()
        assert (status.embedded, status.backlog) == (0, 3)
        assert place.value("SELECT count(*) FROM embeddings") == 3, "the old ones go at the end"
        newer.gate.set()
        place.until(lambda: place.embedding.trouble() is None)
        place.settled()
        place.until(lambda: still(place))
        place.check()
        assert place.status().reason is None


async def still(place):
    """Whether nothing but the vectors of the active space is left."""
    return (
        await place.engine.store.read(
            lambda c: c.exec_driver_sql(
                "SELECT count(*) FROM embeddings e JOIN embedding_spaces s ON s.id = e.space_id"
                " WHERE NOT s.active"
            ).scalar()
        )
        == 0
    )


def test_while_it_replaces_them_status_says_what_to_do(tmp_path, words):
    filled(tmp_path, words)
    newer = Words(revision="2")
    newer.questions_wait = False
    newer.gate.clear()
    with Place(tmp_path, newer) as place:
        for _ in range(2):
            place.start()
            place.until(lambda: place.embedding.trouble() is None)
            status = place.status()
            assert (status.state, status.backlog) == ("ready", 3)
            assert "cloxy reembed" in status.reason
            assert "embed.model" in status.reason
            # A stop in between does not make it forget that old vectors are there.
            newer.missing = "gone"
            newer.gate.set()
            place.stop()
            newer.missing = None
            newer.gate.clear()
        newer.gate.set()


@pytest.mark.parametrize("name", ["embed__model", "embed__passage_prefix", "embed__dim"])
def test_another_space_that_somebody_asked_for_is_refused(tmp_path, words, name):
    filled(tmp_path, words)
    newer = Words(revision="2")
    text = {"embed__model": "fake/words", "embed__dim": "16"}.get(name, "passage: ")
    place = Place(tmp_path, newer, **{name: text})
    with place, pytest.raises(EmbeddingSpaceMismatchError) as refused:
        place.start()
    words_said = str(refused.value)
    assert "cloxy reembed" in words_said
    assert name.replace("__", ".") in words_said
    with Place(tmp_path, words) as place:
        place.start()
        place.settled()
        place.check()


def test_the_model_of_a_provider_that_somebody_asked_for_is_refused(tmp_path, words):
    filled(tmp_path, words)
    with (
        Place(tmp_path, Words(model="fake/others")) as place,
        pytest.raises(EmbeddingSpaceMismatchError, match=r"embed\.provider.*cloxy reembed"),
    ):
        place.start()


def test_the_same_space_may_be_asked_for(tmp_path, words):
    filled(tmp_path, words)
    with Place(tmp_path, words, embed__model="Fake/WORDS") as place:
        place.start()
        place.settled()
        place.check()


def test_a_space_without_vectors_holds_nobody_back(tmp_path, words):
    with Place(tmp_path, words) as place:
        place.start()
    newer = Words(revision="2")
    with Place(tmp_path, newer, embed__model="fake/words") as place:
        place.start()
        assert active(place) == [("fake/words", "2")]


def test_who_embeds_anew_goes_over_to_it(tmp_path, words):
    filled(tmp_path, words)
    newer = Words(revision="2")
    with Place(tmp_path, newer, embed__model="fake/words") as place:
        assert place.do(place.engine.reembedding.now()).done == 3
        assert place.value("SELECT count(*) FROM embeddings") == 3
        place.start()
        place.settled()
        place.check()


def test_going_back_takes_the_space_that_was_there(tmp_path, words):
    filled(tmp_path, words)
    with Place(tmp_path, Words(revision="2")) as place:
        place.start()
        place.settled()
    with Place(tmp_path, words) as place:
        place.start()
        place.settled()
        place.check()
        place.until(lambda: still(place))
        assert active(place) == [("fake/words", "1")]


def busy_at_first(monkeypatch, name, before=None):
    """Have a method of `Spaces` fail once, and be held up later; the list of its calls."""
    calls, real = [], getattr(Spaces, name)

    async def held_up(self, *arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise StoreBusyError("the store is busy")
        if before is not None:
            await before()
        return await real(self, *arguments)

    monkeypatch.setattr(Spaces, name, held_up)
    return calls


def test_a_refusal_that_comes_late_is_not_asked_for_again_at_once(tmp_path, words, monkeypatch):
    filled(tmp_path, words)
    monkeypatch.setattr(service, "RETRY_SECONDS", 60.0)
    calls = busy_at_first(monkeypatch, "settle")
    with Place(tmp_path, Words(dim=32), embed__dim="32") as place:
        place.start()
        place.until(lambda: "cloxy reembed" in place.embedding.trouble())
        for _ in range(20):
            place.rows("SELECT 1")
        assert len(calls) == 2
        assert place.status().state == "failed"


def test_an_index_built_before_the_space_was_settled_is_built_anew(tmp_path, words, monkeypatch):
    filled(tmp_path, words)
    newer = Words(revision="2")
    newer.gate.clear()
    with Place(tmp_path, newer) as place:

        async def built():
            while not place.indexing.ready("dense"):
                await asyncio.sleep(0.002)
            assert len(place.shelf.rows) == 3

        calls = busy_at_first(monkeypatch, "adopt", built)
        place.start()
        place.until(newer.entered.is_set)
        assert len(calls) == 2
        assert place.shelf.rows == {}
        newer.gate.set()
        place.settled()
        place.check()
