"""`GET /sources`, and the part of `/health` about them."""

import json

from server.live_server import line, write_session


def test_sources_of_a_server(live):
    write_session(
        live.logs, "s-one", line("u1", "the queue was renamed"), '{"type": "brand-new"}\n'
    )
    write_session(live.logs, "s-two", '{"type": "never-seen"}\n', '{"half\n')
    assert live.ask("POST", "/ingest_convos", {})[0] == 200

    status, answer = live.ask("GET", "/sources")

    assert status == 200
    (found,) = [source for source in answer["sources"] if source["name"] == "claude-code"]
    assert (found["agent"], found["plugin"], found["enabled"]) == (
        "claude-code",
        "claude_code",
        True,
    )
    assert (found["items"], found["messages"], found["sessions"]) == (2, 1, 1)
    assert found["places"] == [{"path": str(live.logs), "exists": True}]
    assert found["unknown"] == {"brand-new": 1, "never-seen": 1}
    assert [path.rpartition("/")[2] for path in found["drift"]] == ["s-two.jsonl"]
    assert found["bad_lines"] == 1
    assert found["last_success"].endswith("Z")
    (section,) = [
        each for each in live.ask("GET", "/health")[1]["sources"] if each["name"] == "claude-code"
    ]
    assert (section["items"], section["drift"], section["failures"]) == (2, 1, 0)
    json.dumps(answer)
