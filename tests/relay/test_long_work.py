"""Progress and cancelling through the relay, with the real server at work on many session logs."""

import time

import pytest
from relay.relay_child import INITIALIZED, MODERN_META, PATIENCE, RelayChild, cancelled, initialize
from server import held_pass
from server.live_server import LiveServer, line, write_session

FILES = 500


@pytest.fixture
def many(tmp_path):
    settings, hold = held_pass.settings(tmp_path)
    with LiveServer(tmp_path, CLOXY_EMBED_PROVIDER="none", **settings) as server:
        server.hold = hold
        for number in range(FILES):
            session = f"s-{number}"
            write_session(
                server.logs, session, line(f"u{number}", f"Question {number}", session=session)
            )
        yield server


@pytest.fixture
def held(many):
    """Whatever has begun to report goes on only when it is cancelled."""
    many.hold.touch()


@pytest.fixture(params=[True, False], ids=["modern", "legacy"])
def working(request, many):
    """A child whose request for a pass over all logs has begun to report."""
    environment = {"CLOXY_URL": many.url, "CLOXY_DATA_DIR": str(many.data)}
    with RelayChild("--toolsets", "all", **environment) as relay:
        meta = {"progressToken": "far"}
        if request.param:
            meta |= MODERN_META
        else:
            assert relay.ask(initialize("hello"))["result"]
            relay.send(INITIALIZED)
        params = {"name": "ingest", "arguments": {}, "_meta": meta}
        relay.send({"jsonrpc": "2.0", "id": "work", "method": "tools/call", "params": params})
        first = relay.next()
        assert first.get("method") == "notifications/progress", first
        assert first["params"]["progressToken"] == "far"
        yield relay


def quiet(live):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        told = live.ask("GET", "/ingest_status")[1]
        if not told["scanning"]:
            return told
        time.sleep(0.02)
    raise AssertionError(f"the pass goes on: {told}")


def test_progress_grows_and_the_answer_comes_last(working):
    told = [working.next()]
    while "method" in told[-1]:
        told.append(working.next())
    done = [message["params"]["progress"] for message in told[:-1]]
    assert done == sorted(set(done))
    assert done[-1] == FILES
    assert told[-1]["id"] == "work"
    assert told[-1]["result"]["structuredContent"]["messages_added"] == FILES


def test_cancel_reaches_the_work(held, working, many):
    working.send(cancelled("work"))
    assert 0 < quiet(many)["files_this_scan"] < FILES
