"""Progress and cancelling, with a pass over many session logs."""

import json
import time

import pytest
from server import held_pass
from server.live_server import PATIENCE, LiveServer, line, write_session
from server.mcp_wire import ACCEPT, Wire, envelope, events, modern_headers

FILES = 500
TOOL = "/mcp?toolsets=admin"


@pytest.fixture
def many(tmp_path):
    """A server with many short session logs, none of them read."""
    settings, hold = held_pass.settings(tmp_path)
    with LiveServer(tmp_path, **settings) as server:
        server.hold = hold
        for number in range(FILES):
            session = f"s-{number}"
            write_session(
                server.logs,
                session,
                line(f"u{number}", f"Question {number} about the harbour", session=session),
                line(f"a{number}", f"Answer {number}", role="assistant", session=session),
            )
        yield server


class Stream:
    """A response that comes event by event."""

    def __init__(self, live, message, headers):
        self.connection = live.connection()
        sent = {"Accept": ACCEPT, "Content-Type": "application/json", **headers}
        self.connection.request("POST", TOOL, json.dumps(message).encode(), sent)
        self.answer = self.connection.getresponse()
        self.taken = b""

    def until_progress(self):
        """Read up to the first notification of progress."""
        while not (found := [m for m in events(self.taken) if m.get("method")]):
            read = self.answer.read1(65_536)
            assert read, self.taken
            self.taken += read
        return found[0]

    def rest(self):
        """Read to the end; the last message."""
        self.taken += self.answer.read()
        return events(self.taken)[-1]

    def close(self):
        self.answer.close()
        self.connection.close()


def ingest_message(wire, **more):
    params = {"name": "ingest", "arguments": {}, **more}
    params.setdefault("_meta", {})["progressToken"] = "far"
    return wire.request("tools/call", params)


def wait_until_quiet(live):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        _status, told = live.ask("GET", "/ingest_status")
        if not told["scanning"]:
            return told
        time.sleep(0.02)
    raise AssertionError(f"the pass goes on: {told}")


def check_that_all_is_there_once(live):
    """After one more pass everything is stored, and nothing twice."""
    result = Wire(live, TOOL).call("ingest")
    assert not result["isError"], result
    _status, stats = live.ask("GET", "/memory_stats")
    assert stats["passages"] == stats["keyword_index_size"] == 2 * FILES
    _status, projects = live.ask("GET", "/projects")
    assert [project["sessions"] for project in projects["projects"]] == [FILES]
    _status, again = live.ask("POST", "/ingest_convos", {"force": True})
    assert (again["messages_added"], again["chunks_duplicate"]) == (0, 2 * FILES)


def test_progress_grows_and_the_result_comes_last(many):
    reply = Wire(many, TOOL).modern("tools/call", {"progressToken": 7}, name="ingest", arguments={})
    told = [message["params"] for message in reply.messages[:-1]]
    assert {message["method"] for message in reply.messages[:-1]} == {"notifications/progress"}
    assert {params["progressToken"] for params in told} == {7}
    done = [params["progress"] for params in told]
    assert done == sorted(set(done))
    assert (told[-1]["progress"], told[-1]["total"]) == (FILES, FILES)
    assert f"{FILES:,} of {FILES:,}" in told[-1]["message"]
    assert reply.result["structuredContent"]["messages_added"] == 2 * FILES
    assert "1,000 new messages" in reply.result["content"][0]["text"]


def test_without_a_token_there_is_only_the_result(many):
    reply = Wire(many, TOOL).modern("tools/call", name="ingest", arguments={})
    assert len(reply.messages) == 1
    assert reply.result["structuredContent"]["messages_added"] == 2 * FILES


def test_closing_the_stream_of_a_modern_request_cancels_it(many):
    many.hold.touch()  # what has begun to report goes on only when it is cancelled
    wire = Wire(many, TOOL)
    message = ingest_message(wire, _meta=envelope())
    stream = Stream(many, message, modern_headers(message))
    stream.until_progress()
    stream.close()
    told = wait_until_quiet(many)
    assert 0 < told["files_this_scan"] < FILES
    many.hold.unlink()
    check_that_all_is_there_once(many)


def test_a_cancel_reaches_its_request_in_a_session(many):
    many.hold.touch()
    wire = Wire(many, TOOL)
    wire.initialize()
    message = ingest_message(wire)
    stream = Stream(many, message, wire.session)
    stream.until_progress()
    params = {"requestId": message["id"], "reason": "enough"}
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    assert wire.send("POST", note, wire.session).status == 202
    last = stream.rest()
    stream.close()
    assert "error" in last
    told = wait_until_quiet(many)
    assert 0 < told["files_this_scan"] < FILES
    many.hold.unlink()
    check_that_all_is_there_once(many)


def test_a_stop_of_the_server_ends_open_streams(live):
    wire = Wire(live, TOOL)
    wire.initialize()
    standing = live.connection()
    standing.request("GET", "/mcp", headers={"Accept": "text/event-stream", **wire.session})
    answer = standing.getresponse()
    assert answer.status == 200
    assert live.stop() == 0
    assert b"data:" not in answer.read()
    # Other replies are given some seconds; one that never ends must not use them up.
    log = "".join(file.read_text() for file in (live.data / "logs").iterdir() if file.is_file())
    assert "timeout graceful shutdown exceeded" not in log
    standing.close()
