"""A client of Cloxy 5.1 must not notice: fields, bodies and status codes of every endpoint."""

import pytest
from server.live_server import line, write_session

HIT = {
    "id": int,
    "content": str,
    "source": str,
    "project": str,
    "session_id": str,
    "ts_start": str,
    "ts_end": str,
    "metadata": dict,
    "score": float,
    "similarity": float,
    "keyword_rank": int,
    "recency": float,
}


@pytest.fixture(scope="module")
def filled(shared):
    write_session(
        shared.logs,
        "s-one",
        line("u1", "why did checkout time out?"),
        line("u2", "Because port 9443 was closed.", role="assistant"),
        '{"type":"ai-title","aiTitle":"Checkout timeout","sessionId":"s-one"}\n',
    )
    status, report = shared.ask("POST", "/ingest_convos", {})
    assert status == 200
    assert report["chunks_stored"] == 1
    shared.wait_for_vectors()
    return shared


def recall(server, query, **more):
    status, answer = server.ask("POST", "/recall", {"query": query, **more})
    assert status == 200, answer
    return answer


def test_health(filled):
    status, body = filled.ask("GET", "/health")
    assert status == 200
    assert body["status"] == "OK"
    assert body["service"] == "cloxy"
    assert body["version"] == "6.0.0.dev0"
    assert body["memories"] >= 1
    assert body["auth"] == "disabled"
    assert body["watcher"].keys() >= {"running", "dirs", "scans", "last_scan_at"}
    assert body.keys() >= {"uptime", "cache_size", "timestamp"}
    assert body["vector_index_size"] == body["embedding"]["embedded"] >= 2
    assert body["embed_model"] == "sentence-transformers/all-MiniLM-L6-v2"


def test_banner(filled):
    status, headers, body = filled.raw("GET", "/")
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    assert b"6.0.0.dev0" in body


def test_recall_gives_the_conversation_dated_and_tagged(filled):
    answer = recall(filled, "checkout port 9443", top_k=2)
    assert answer["mode"] == "hybrid"
    assert answer["query"] == "checkout port 9443"
    assert answer["searched"] >= 1
    hit = answer["results"][0]
    assert {name: type(hit[name]) for name in HIT} == HIT
    assert hit["content"] == (
        "[2026-05-08 13:56 · shop · Checkout timeout]\n"
        "USER: why did checkout time out?\n\nASSISTANT: Because port 9443 was closed."
    )
    assert hit["source"] == "convo:s-one:0"
    assert hit["project"] == "/srv/demo/shop"
    assert hit["session_id"] == "s-one"
    assert hit["ts_start"] == "2026-05-08T13:56:00.000Z"
    assert hit["metadata"]["title"] == "Checkout timeout"
    assert hit["metadata"]["git_branch"] == "main"
    assert hit["metadata"]["path"].endswith("s-one.jsonl")


def test_recall_filters(filled):
    assert recall(filled, "checkout", project="shop")["results"]
    assert not recall(filled, "checkout", project="sho")["results"]
    assert recall(filled, "checkout", since="2026-05-08", until="2026-05-08")["results"]
    assert not recall(filled, "checkout", until="2026-05-07")["results"]
    assert not recall(filled, "checkout", role="summary")["results"]
    assert recall(filled, "checkout", source="convo:s-one")["results"]
    assert not recall(filled, "checkout", source="convo:s-on")["results"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"query": "x", "mode": "psychic"}, 400),
        ({"query": "x", "top_k": 0}, 422),
        ({"query": "x", "top_k": 101}, 422),
        ({"query": "x", "recency_weight": 1.5}, 422),
        ({"query": "x", "since": "the other day"}, 400),
        ({"query": "x", "tz": "Nowhere/Atall"}, 400),
        ({"query": "x", "role": "judge"}, 400),
        ({"query": "?!"}, 400),
        ({"query": ""}, 400),
        ({}, 422),
        ([], 422),
    ],
)
def test_recall_refuses_in_words(filled, body, status):
    got, answer = filled.ask("POST", "/recall", body)
    assert got == status
    assert set(answer["error"]) == {"type", "code", "message", "hint", "param"}
    assert answer["detail"] == answer["error"]["message"]


def test_a_text_is_remembered_found_and_forgotten(filled):
    text = "the staging port is 8443"
    status, stored = filled.ask(
        "POST", "/ingest_text", {"text": text, "source": "decision", "metadata": {"a": 1}}
    )
    assert status == 200
    assert (stored["chunks_stored"], stored["total_chunks"]) == (1, 1)
    (identifier,) = stored["ids"]
    status, again = filled.ask("POST", "/ingest_text", {"text": text, "source": "decision"})
    assert (again["chunks_stored"], again["ids"]) == (0, [identifier])
    hit = next(h for h in recall(filled, "staging port")["results"] if h["id"] == identifier)
    assert hit["source"] == "decision:chunk0"
    assert hit["metadata"]["a"] == 1
    assert filled.ask("DELETE", f"/memory/{identifier}")[1]["deleted"] == identifier
    assert filled.ask("DELETE", f"/memory/{identifier}")[0] == 404
    assert all(h["id"] != identifier for h in recall(filled, "staging port")["results"])


def test_text_limits(filled):
    assert filled.ask("POST", "/ingest_text", {"text": ""})[0] == 422
    assert filled.ask("POST", "/ingest_text", {"text": "x" * 2_000_001})[0] == 422
    assert filled.ask("POST", "/ingest_text", {"text": "   "})[0] == 400
    assert filled.ask("POST", "/ingest_text", {"text": "<private>all of it"})[0] == 400


def test_forget_takes_whole_segments_and_never_everything(filled):
    for source in ("proj", "project2"):
        filled.ask("POST", "/ingest_text", {"text": f"note of {source}", "source": source})
    assert filled.ask("POST", "/forget", {"source_prefix": ""})[0] == 400
    assert filled.ask("POST", "/forget", {"source_prefix": " : "})[0] == 400
    dry = filled.ask("POST", "/forget", {"source_prefix": "proj", "dry_run": True})[1]
    assert (dry["deleted"], dry["dry_run"]) == (1, True)
    assert filled.ask("POST", "/forget", {"source_prefix": "PROJ"})[1]["deleted"] == 0
    done = filled.ask("POST", "/forget", {"source_prefix": "proj"})[1]
    assert (done["deleted"], done["source_prefix"]) == (1, "proj")
    assert filled.ask("POST", "/forget", {"source_prefix": "project2"})[1]["deleted"] == 1


def test_ingest_convos_fields(filled):
    status, report = filled.ask("POST", "/ingest_convos", {"force": True})
    assert status == 200
    assert report["files_found"] == report["files_processed"] == 1
    assert (report["files_skipped"], report["chunks_stored"], report["errors"]) == (0, 0, [])
    assert report["chunks_duplicate"] == 2
    assert filled.ask("POST", "/ingest_convos", {"convo_dir": "/nowhere/at/all"})[0] == 400
    assert filled.ask("POST", "/ingest_convos", {"convo_dir": ""})[0] == 422


def test_projects(filled):
    _status, body = filled.ask("GET", "/projects")
    found = next(p for p in body["projects"] if p["project"] == "/srv/demo/shop")
    assert found == {
        "project": "/srv/demo/shop",
        "chunks": 1,
        "sessions": 1,
        "first_seen": "2026-05-08T13:56:00.000Z",
        "last_seen": "2026-05-08T13:56:00.000Z",
    }


def test_ingest_status_fields(filled):
    body = filled.ask("GET", "/ingest_status")[1]
    assert body["running"] is False
    assert body["scanning"] is False
    assert body["files_tracked"] == 1
    assert body["last_result"]["files_found"] == 1
    assert body.keys() >= {
        "dirs",
        "interval",
        "scans",
        "current_file",
        "files_this_scan",
        "chunks_this_scan",
        "last_scan_at",
        "last_scan_seconds",
        "chunks_stored_total",
        "last_error",
    }


def test_memory_stats_and_reindex_agree(filled):
    stats = filled.ask("GET", "/memory_stats")[1]
    assert stats["keyword_index_size"] == stats["passages"]
    assert stats["sources"]["convo"] == 1
    assert stats["keyword_engine"] == "sqlite_fts5"
    assert stats["db_path"].endswith("memory.db")
    status, body = filled.ask("POST", "/reindex")
    assert status == 200
    assert body["status"] == "rebuilt"
    assert body["keyword_index_size"] == stats["passages"]
    assert recall(filled, "checkout port 9443")["results"]


def test_unknown_routes_and_methods_have_the_same_error_shape(filled):
    for method, path, expected in (("GET", "/nope", 404), ("DELETE", "/recall", 405)):
        status, body = filled.ask(method, path)
        assert status == expected
        assert body["detail"] == body["error"]["message"]
    assert filled.ask("GET", "/docs")[0] == 404
    assert filled.ask("GET", "/openapi.json")[0] == 404
