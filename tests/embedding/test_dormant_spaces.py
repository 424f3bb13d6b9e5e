"""Vectors of a model that nobody chose: kept, used where their model is here, never mixed."""

import pytest
from embedding_support import Words
from two_models import FORMER, LATER, Turned, TwoModels

from cloxy_core.services.embedding import backlog, spaces
from cloxy_hookspecs import EmbeddingSpaceMismatchError, Query

TEXTS = [f"note {n} tells of thing{n * 7} and place{n * 11}" for n in range(12)]


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(backlog, "MOST_TEXTS", 4)
    monkeypatch.setattr(spaces, "REMOVED_AT_ONCE", 5)


@pytest.fixture
def upgraded(tmp_path):
    """As a database of an earlier version is after its conversion: one dormant space is full."""
    with TwoModels(tmp_path) as place:
        place.filled(*TEXTS)
        place.sql("UPDATE embedding_spaces SET active = 0, state = 'dormant'")
    return tmp_path


def nothing_at_hand(_context):
    return False


def is_found(place, text):
    found, similarity = place.ask(text)
    return found == text and similarity > 0.99


def test_where_its_model_is_here_it_stays_in_use(upgraded):
    with TwoModels(upgraded, default=LATER) as place:
        place.start()
        place.until_full()
        assert place.spaces() == {FORMER: ("active", 12)}
        assert all(is_found(place, text) for text in TEXTS)
        assert place.former.passages == place.later.passages == []
        assert place.embedding.model == FORMER
        assert place.status().provider == "second"
        place.remember("a note of a quince")
        place.until_full()
        assert is_found(place, "a note of a quince")
        place.sound()
        # It is the same at the next start.
        place.stop()
        place.start()
        place.until_full()
        assert place.spaces() == {FORMER: ("active", 13)}


def test_where_its_model_is_not_here_the_default_fills_behind_and_it_is_kept(upgraded):
    later = Turned(dim=64)
    later.gate.clear()
    later.questions_wait = False
    with TwoModels(upgraded, later=later, default=LATER, at_hand=nothing_at_hand) as place:
        place.start()
        place.until(lambda: place.embedding.trouble() is None)
        assert place.spaces() == {FORMER: ("dormant", 12), LATER: ("active", 0)}
        status = place.status()
        assert (status.embedded, status.backlog, status.model) == (0, 12, LATER)
        assert "fastembed" in status.reason
        assert "cloxy reembed" in status.reason
        found = place.do(place.engine.recaller.recall(Query("thing7", 1, 0, mode="keyword")))
        assert found.hits[0].passages[0].text == TEXTS[1]
        later.gate.set()
        place.until_full()
        place.until_tidy()
        assert place.spaces() == {FORMER: ("dormant", 12), LATER: ("active", 12)}
        assert place.status().reason is None
        assert all(is_found(place, text) for text in TEXTS)
        place.sound()
        assert place.do(place.engine.reembedding.drop_old()) == 1
        place.until_tidy()
        assert place.spaces() == {LATER: ("active", 12)}
        assert place.rows("SELECT DISTINCT space_id FROM embeddings") == place.rows(
            "SELECT id FROM embedding_spaces"
        )
        assert place.do(place.engine.reembedding.drop_old()) == 0


def test_when_its_model_comes_before_the_default_is_full_it_is_used_again(upgraded):
    later = Turned(dim=64)
    later.missing = "not yet"
    with TwoModels(upgraded, later=later, default=LATER, at_hand=nothing_at_hand) as place:
        place.start()
        assert place.spaces()[LATER] == ("active", 0)
    with TwoModels(upgraded, default=LATER) as place:
        place.start()
        place.until_full()
        place.until_tidy()
        assert place.spaces() == {FORMER: ("active", 12)}
        assert is_found(place, TEXTS[3])


def test_when_the_default_is_full_it_stays(upgraded):
    with TwoModels(upgraded, default=LATER, at_hand=nothing_at_hand) as place:
        place.start()
        place.until_full()
    with TwoModels(upgraded, default=LATER) as place:
        place.start()
        place.until_full()
        assert place.spaces() == {FORMER: ("dormant", 12), LATER: ("active", 12)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("embed__model", "others"),
        ("embed__dim", "64"),
        ("embed__query_prefix", "q: "),
        ("embed__passage_prefix", "p: "),
    ],
)
def test_who_set_something_else_is_refused_with_both_values(upgraded, name, text):
    settings = {name: text}
    former = Words(dim=64)
    later = Turned(dim=64, prefix="q: " if name == "embed__query_prefix" else "")
    place = TwoModels(upgraded, former, later, default=LATER, at_hand=nothing_at_hand, **settings)
    with place, pytest.raises(EmbeddingSpaceMismatchError) as refused:
        place.start()
    assert name.replace("__", ".") in refused.value.message
    assert FORMER in refused.value.message
    assert LATER in refused.value.message
    assert "cloxy reembed" in refused.value.hint
    with TwoModels(upgraded, former, later, default=LATER, embed__model="words") as place:
        place.start()
        assert place.spaces()[FORMER][0] == "active"


def test_who_set_its_model_but_no_prefix_goes_on_with_the_stored_prefix(tmp_path):
    with TwoModels(tmp_path, Words(dim=64, prefix="of old: ")) as place:
        place.filled(*TEXTS)
        place.sql("UPDATE embedding_spaces SET active = 0, state = 'dormant'")
        before = place.rows("SELECT passage_id, vector FROM embeddings ORDER BY passage_id")
    made = []

    class Usual(TwoModels):
        """Its record has another prefix unless the settings say one."""

        def __init__(self, *arguments, **more):
            super().__init__(*arguments, **more)
            self.with_old = Words(dim=64, prefix="of old: ")
            record = self._plugins["words"].cloxy_embedders()[0]

            def create(context):
                from cloxy_hookspecs import EMBED_QUERY_PREFIX

                is_old = context.settings[EMBED_QUERY_PREFIX] == "of old: "
                made.append(self.with_old if is_old else self.former)
                return made[-1]

            object.__setattr__(record, "create", create)

    with Usual(tmp_path, Words(dim=64, prefix="of now: "), embed__model="words") as place:
        place.start()
        place.until_full()
        assert made[-1] is place.with_old
        assert place.rows("SELECT passage_id, vector FROM embeddings ORDER BY passage_id") == before
        assert is_found(place, TEXTS[4])


def test_who_named_another_provider_is_refused(upgraded):
    place = TwoModels(upgraded, default=LATER, embed__provider="minilm")
    with place, pytest.raises(EmbeddingSpaceMismatchError, match=r"embed\.provider"):
        place.start()


def test_reembedding_replaces_a_dormant_space_too(upgraded):
    with TwoModels(upgraded, default=LATER, at_hand=nothing_at_hand, embed__model=LATER) as place:
        with pytest.raises(EmbeddingSpaceMismatchError):
            place.start()
        place.stop()
        status = place.do(place.engine.reembedding.now())
        assert (status.state, status.done) == ("done", 12)
        place.stop()
        place.start()
        place.until_full()
        assert is_found(place, TEXTS[0])
        assert place.spaces()[LATER] == ("active", 12)


@pytest.fixture
def converted(tmp_path):
    """As a database of an earlier Cloxy: nobody knows of which weights its vectors are."""
    with TwoModels(tmp_path) as place:
        place.filled(*TEXTS)
        place.sql(
            "UPDATE embedding_spaces SET active = 0, state = 'dormant', revision = 'as found',"
            " fingerprint = 'f'"
        )
    return tmp_path


def test_vectors_of_unknown_weights_are_those_of_the_library_that_made_them(converted):
    """And of no other that has a model of the same name."""
    with TwoModels(converted, default=LATER, second="other") as place:
        place.start()
        place.until_full()
        assert place.spaces() == {FORMER: ("dormant", 12), LATER: ("active", 12)}


@pytest.mark.parametrize("settings", [{}, {"embed__model": "words"}, {"embed__query_prefix": ""}])
def test_vectors_of_unknown_weights_stay_in_use_where_that_library_is(converted, settings):
    with TwoModels(converted, default=LATER, second="fastembed", **settings) as place:
        for _ in range(2):
            place.start()
            place.until_full()
            assert place.spaces() == {FORMER: ("active", 12)}
            assert place.former.passages == place.later.passages == []
            assert all(is_found(place, text) for text in TEXTS[:3])
            place.stop()


def test_who_set_the_model_that_made_them_may_have_it_fetched(converted):
    with TwoModels(
        converted,
        default=LATER,
        second="fastembed",
        at_hand=nothing_at_hand,
        embed__model="words",
    ) as place:
        place.start()
        place.until_full()
        assert place.spaces() == {FORMER: ("active", 12)}
        assert place.former.passages == [], "nothing was embedded anew"


@pytest.mark.parametrize("settings", [{"embed__query_prefix": ""}, {"embed__dim": "64"}])
def test_nobody_is_refused_for_a_setting_that_does_not_differ(converted, settings):
    with TwoModels(
        converted, default=LATER, second="fastembed", at_hand=nothing_at_hand, **settings
    ) as place:
        place.start()
        place.until_full()
        assert place.spaces() == {FORMER: ("dormant", 12), LATER: ("active", 12)}


def test_who_set_another_model_than_that_of_an_earlier_cloxy_is_refused(converted):
    place = TwoModels(converted, default=LATER, second="fastembed", embed__model="others")
    with place, pytest.raises(EmbeddingSpaceMismatchError, match=FORMER) as refused:
        place.start()
    assert LATER in refused.value.message


def test_it_is_kept_while_another_space_leaves(upgraded):
    with TwoModels(upgraded, default=LATER, at_hand=nothing_at_hand) as place:
        place.start()
        place.until_full()
        place.sql(
            "INSERT INTO embedding_spaces (fingerprint, model, revision, dim, query_prefix,"
            " passage_prefix, active, created_at, state)"
            " VALUES ('g', 'fake/third', '1', 64, '', '', 0, 0, 'leaving')"
        )
        place.sql(
            "INSERT INTO embeddings (passage_id, space_id, text_hash, vector)"
            " SELECT passage_id, 99, text_hash, vector FROM embeddings WHERE space_id = 1".replace(
                "99", "(SELECT id FROM embedding_spaces WHERE state = 'leaving')"
            )
        )
        assert place.spaces()["fake/third"] == ("leaving", 12)
        place.do(place.embedding.tidy())
        assert place.spaces() == {FORMER: ("dormant", 12), LATER: ("active", 12)}
