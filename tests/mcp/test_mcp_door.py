"""`/mcp` behind the boundary: who may come in, what may be sent, and what is loaded when."""

import json
import subprocess
import sys

import pytest
from server.live_server import LiveServer
from server.mcp_wire import MODERN, Wire

KEY = "a-Key-of-32-Characters-0123456789"
TOO_MUCH = 26 * 1024 * 1024


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 415),
    ],
)
def test_strangers_are_refused(wire, headers, status):
    assert wire.send("POST", wire.request("tools/list"), headers).status == status


def test_our_own_origin_comes_in(wire):
    own = {"Origin": wire.live.url}
    message = wire.request("ping")
    wire.initialize()
    assert wire.send("POST", message, {**wire.session, **own}).status == 200


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "PATCH"])
def test_other_methods_are_refused(wire, method):
    assert wire.send(method, headers={"Content-Type": "application/json"}).status in (405, 415)


def test_a_reply_has_the_headers_of_the_boundary(wire):
    headers = wire.modern("tools/list").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert not any(name.startswith("access-control-") for name in headers)


def test_an_accept_header_that_fits_nothing_is_refused(wire):
    reply = wire.send("POST", wire.request("tools/list"), {"Accept": "text/html"})
    assert reply.status in (400, 406)


def test_a_text_as_large_as_can_be_stored_goes_through(wire):
    text = "größe " * 333_000
    result = wire.call("remember", text=text, source="bulk")
    assert not result["isError"], result
    assert result["structuredContent"]["chunks_stored"] > 0
    assert (
        "text: String should have at most"
        in (wire.call("remember", text=text + text)["content"][0]["text"])
    )


def test_more_than_that_is_refused_by_its_length(wire):
    connection = wire.live.connection()
    connection.putrequest("POST", "/mcp")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(TOO_MUCH))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"7", b'{"jsonrpc":"2.0"}', b"[" * 200_000, b"\xff\xfe"]
)
def test_a_body_that_is_no_message_is_refused(wire, body):
    for headers in ({}, {"Mcp-Protocol-Version": MODERN}):
        connection = wire.live.connection()
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **headers,
        }
        connection.request("POST", "/mcp", body, sent)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        assert answer.status == 400


def test_half_a_surrogate_pair_does_no_harm(wire):
    result = wire.call("remember", text="half \ud83d of a pair", source="halves")
    assert not result["isError"], result
    found = wire.call("recall", query="half of a pair \udc00", mode="keyword")
    assert "half \ufffd of a pair" in found["structuredContent"]["results"][0]["content"]


def test_the_key_is_wanted_when_there_is_one(tmp_path):
    with LiveServer(tmp_path, CLOXY_API_KEY=KEY) as server:
        wire = Wire(server)
        assert wire.send("POST", wire.request("tools/list")).status == 401
        assert wire.send("GET").status == 401
        assert wire.send("DELETE").status == 401
        for headers in ({"X-API-Key": KEY}, {"Authorization": f"Bearer {KEY}"}):
            assert Wire(server, headers=headers).modern("tools/list").status == 200


def test_an_mcp_client_is_not_the_owner(tmp_path):
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    with LiveServer(tmp_path / "server") as server:
        result = Wire(server, "/mcp?toolsets=admin").call("ingest", convo_dir=str(outside))
    assert result["isError"]


LOADED = """
import asyncio, json, sys, urllib.request
from pathlib import Path
import cloxy_core.app
from cloxy_core.core_settings import load_settings
from cloxy_core.surfaces.mcp.endpoint import McpEndpoint

heavy = lambda: sorted({"mcp", "mcp_types"} & set(sys.modules))
before = heavy()
endpoint = McpEndpoint([], 1000)
sent = []

async def main():
    async def receive():
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message):
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"accept", b"*/*")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers,
             "query_string": b"", "root_path": "", "scheme": "http", "server": ("h", 1)}
    await asyncio.gather(*(endpoint(scope, receive, send) for _ in range(3)))
    await endpoint.close()
    await endpoint(scope, receive, send)

asyncio.run(main())
starts = [m["status"] for m in sent if m["type"] == "http.response.start"]
print(json.dumps([before, heavy(), starts]))
"""


def test_the_library_is_loaded_by_the_first_request_only():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, after, statuses = json.loads(done.stdout)
    assert before == []
    assert after == ["mcp", "mcp_types"]
    # Three that came at once were answered by the one server, and one after the end by nobody.
    assert statuses == [400, 400, 400, 503]


BROKEN = LOADED.replace(
    "before = heavy()",
    "before = heavy()\nsys.modules['mcp'] = None\nimport logging\nlogging.disable()",
).replace("await endpoint.close()", "sys.modules.pop('mcp')")


def test_a_library_that_cannot_be_loaded_is_told_and_tried_again():
    done = subprocess.run([sys.executable, "-c", BROKEN], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    _before, _after, statuses = json.loads(done.stdout)
    assert statuses == [503, 503, 503, 400]
