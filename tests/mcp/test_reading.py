"""One memory, and a conversation stretch by stretch, over REST and as resources."""

import sqlite3

import pytest
from server.live_server import line, write_session
from server.mcp_wire import Wire


@pytest.fixture
def long_session(live):
    """A server with one conversation of many memories, whose id needs quoting in an address."""
    key = "talk 1/2?ö"
    lines = [
        line(f"u{n}", f"Part {n} of the long talk. " + "word " * 280, session=key)
        for n in range(40)
    ]
    write_session(live.logs, "talk", *lines)
    status, report = live.ask("POST", "/ingest_convos", {})
    assert (status, report["messages_added"]) == (200, 40)
    return live, key, "talk%201%2F2%3F%C3%B6"


def test_a_conversation_comes_stretch_by_stretch(filled):
    seen, start, stretches = [], 0, 0
    while start is not None:
        status, told = filled.ask("GET", f"/session/s-one?start={start}&characters=1")
        assert status == 200
        assert len(told["memories"]) == 1
        seen += [memory["content"] for memory in told["memories"]]
        start = told["next"]
        stretches += 1
    _status, whole = filled.ask("GET", "/session/s-one")
    assert [memory["content"] for memory in whole["memories"]] == seen
    assert whole["agent"] == "claude-code"
    assert whole["project"] == "/srv/demo/shop"
    assert whole["next"] is None


def test_a_long_conversation_as_resources(long_session):
    live, key, quoted = long_session
    wire = Wire(live)
    uri, texts = f"cloxy://session/{quoted}", []
    while True:
        result = wire.modern("resources/read", uri=uri).result
        text = result["contents"][0]["text"]
        assert f"Session {key} of claude-code" in text
        assert len(text) < 30_000
        texts.append(text)
        if "(It goes on: read it from " not in text:
            break
        start = text.split("(It goes on: read it from ")[1].split(".")[0]
        uri = f"cloxy://session/{quoted}/{start}"
    assert len(texts) > 1
    together = "".join(texts)
    for number in range(40):
        assert together.count(f"USER: Part {number} of the long talk") == 1


def test_a_memory_tells_whose_words_it_holds(filled):
    _status, found = filled.ask("POST", "/recall", {"query": "ledger", "mode": "keyword"})
    (hit,) = found["results"]
    status, memory = filled.ask("GET", f"/memory/{hit['id']}")
    assert status == 200
    assert memory["uid"] == hit["uid"]
    assert memory["session_id"] == "s-one"
    assert memory["roles"] == ["user", "assistant"]
    assert memory["authors"] == ["human", "assistant"]
    assert memory["content"].startswith("USER: We decided")


@pytest.mark.parametrize("path", ["/memory/424242", "/session/nobody"])
def test_what_is_not_there_is_not_found(filled, path):
    status, body = filled.ask("GET", path)
    assert (status, body["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("path", ["/memory/0", "/memory/x", "/session/s-one?start=-1"])
def test_what_cannot_be_is_refused(filled, path):
    assert filled.ask("GET", path)[0] == 422


def test_damaged_text_is_not_told_for_what_was_stored(live):
    _status, stored = live.ask("POST", "/ingest_text", {"text": "The quay has nine bollards."})
    (id_,) = stored["ids"]
    assert live.stop() == 0
    with sqlite3.connect(live.data / "memory.db") as connection:
        connection.execute(
            "UPDATE memories SET content = replace(content, 'nine', 'five') WHERE id = ?", (id_,)
        )
    connection.close()
    live.start()
    status, body = live.ask("GET", f"/memory/{id_}")
    assert status == 500
    assert "damaged" in body["error"]["message"]
    assert "bollards" not in str(body)
