"""Bodies that are not what they should be: a clear refusal or a clean answer, never a 500."""

import json

import pytest

ROUTES = ["/recall", "/ingest_text", "/ingest_convos", "/forget", "/reindex"]
BODIES = [
    b"{bad",
    b"[" * 100_000,
    b'{"query": ' + b"9" * 50_000 + b"}",
    b'{"query": NaN, "text": Infinity}',
    b'"only a text"',
    b"null",
    b"\xff\xfe{}",
    b"\x00",
    json.dumps({"query": 1, "text": 2, "source_prefix": [], "convo_dir": {}}).encode(),
    json.dumps({"query": "x", "text": "x", "top_k": 10**400, "source_prefix": ":"}).encode(),
]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_odd_bodies(shared, route, body):
    connection = shared.connection()
    connection.request("POST", route, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    assert answer.status in {200, 400, 422}, data
    assert isinstance(json.loads(data), dict)


def test_half_an_emoji_is_stored_with_a_replacement(shared):
    connection = shared.connection()
    body = b'{"text": "build ok \\ud83d", "source": "half"}'
    connection.request("POST", "/ingest_text", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    stored = json.loads(answer.read())
    connection.close()
    assert answer.status == 200
    found = shared.ask("POST", "/recall", {"query": "build ok"})[1]["results"]
    assert next(hit for hit in found if hit["id"] == stored["ids"][0])["content"].endswith(
        "build ok \ufffd"
    )


def test_half_an_emoji_in_a_question_is_only_a_question(shared):
    connection = shared.connection()
    body = b'{"query": "\\udc00 nothing \\u0000 like it"}'
    connection.request("POST", "/recall", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    assert answer.status == 200
