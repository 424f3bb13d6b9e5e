"""Meaning at the doors of a real server: with the model that is built in, and without one."""

import pytest
from server.live_server import LiveServer, line, write_session

PARAPHRASE = "which animal kept everyone awake"


@pytest.fixture
def silent(tmp_path, monkeypatch):
    """A server without an embedder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with LiveServer(tmp_path, CLOXY_EMBED_PROVIDER="none") as server:
        yield server


def fill(server):
    write_session(
        server.logs,
        "s-one",
        line("u1", "The dog next door barked all night long."),
        line("u2", "Invoices are sent on the first of the month.", role="assistant"),
        line("u3", "The tide table lies in tides.csv."),
    )
    assert server.ask("POST", "/ingest_convos", {})[0] == 200


def best(server, query, **more):
    status, answer = server.ask("POST", "/recall", {"query": query, "group": "passage", **more})
    assert status == 200, answer
    return answer["results"][0]["passages"][0]["text"], answer


@pytest.mark.parametrize("mode", ["hybrid", "dense"])
def test_a_paraphrase_without_a_shared_word_finds_it(shared, mode):
    fill(shared)
    shared.wait_for_vectors()
    text, answer = best(shared, PARAPHRASE, mode=mode)
    assert text == "The dog next door barked all night long."
    assert answer["channels"] == ["dense"]
    hit = answer["results"][0]
    assert 0.25 <= hit["similarity"] < 1
    assert hit["keyword_rank"] is None


def test_what_has_nothing_to_do_with_anything_finds_nothing(shared):
    fill(shared)
    shared.wait_for_vectors()
    status, answer = shared.ask("POST", "/recall", {"query": "zorgquat 7741-qx"})
    assert (status, answer["results"]) == (200, [])


def test_the_counts_tell_how_far_the_vectors_are(shared):
    fill(shared)
    embedding = shared.wait_for_vectors()
    _status, stats = shared.ask("GET", "/memory_stats")
    assert stats["with_embeddings"] == stats["vector_index_size"] == embedding["embedded"] >= 3
    assert stats["embed_model"] == embedding["model"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert stats["vector_engine"] == "exact"
    assert embedding["failed"] == 0


def test_forgotten_text_is_not_found_by_meaning(shared):
    _status, stored = shared.ask("POST", "/ingest_text", {"text": "Our cat sleeps on the router."})
    shared.wait_for_vectors()
    question = "where does the feline nap"
    assert best(shared, question)[0] == "Our cat sleeps on the router."
    assert shared.ask("DELETE", f"/memory/{stored['ids'][0]}")[0] == 200
    _status, answer = shared.ask("POST", "/recall", {"query": question, "group": "passage"})
    texts = [hit["passages"][0]["text"] for hit in answer["results"]]
    assert "Our cat sleeps on the router." not in texts


def test_without_a_model_words_are_enough_and_dense_says_what_is_missing(silent):
    fill(silent)
    text, answer = best(silent, "tide table")
    assert text == "The tide table lies in tides.csv."
    assert (answer["channels"], answer["notes"]) == (["keyword"], [])
    status, refused = silent.ask("POST", "/recall", {"query": "tide table", "mode": "dense"})
    assert (status, refused["error"]["code"]) == (503, "model_missing")
    assert "embed.provider is none" in refused["error"]["message"]
    _status, health = silent.ask("GET", "/health")
    assert (health["status"], health["embed_model"]) == ("OK", "")
    assert health["embedding"]["state"] == "off"
    assert not [each for each in health["warnings"] if each.startswith("meaning:")]


def test_a_question_that_wants_a_reranker_says_what_became_of_it(shared):
    fill(shared)
    _text, answer = best(shared, "tide table", rerank=True)
    scores = [hit["rerank_score"] for hit in answer["results"]]
    assert all(score is None for score in scores)
    assert any("the results are in their first order" in note for note in answer["notes"])
