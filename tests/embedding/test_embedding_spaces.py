"""One space for everything: which one counts, and what happens to the vectors of another."""

import pytest
from embedding_support import Place, Words

from cloxy_core.services.embedding import backlog, spaces
from cloxy_hookspecs import EmbeddingSpaceMismatchError


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


def test_who_adopts_a_space_goes_over_to_it(tmp_path, words):
    filled(tmp_path, words)
    newer = Words(revision="2")
    with Place(tmp_path, newer, embed__model="fake/words") as place:
        place.do(place.embedding.adopt())
        assert place.do(place.embedding.fill()) == 3
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
        assert place.value("SELECT count(*) FROM embedding_spaces") == 2
