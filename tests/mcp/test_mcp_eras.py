"""Both eras of the protocol at one address, by hand."""

import pytest
from server.mcp_wire import MODERN, Wire, envelope, modern_headers

UNSUPPORTED = -32022
HEADER_MISMATCH = -32020
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


@pytest.mark.parametrize("version", VERSIONS)
def test_initialize_opens_a_session(wire, version):
    reply = wire.initialize(version)
    assert reply.status == 200
    assert reply.result["protocolVersion"] == version
    assert reply.result["serverInfo"]["name"] == "cloxy"
    assert reply.result["instructions"].startswith("Cloxy remembers")
    assert {"tools", "resources", "prompts"} <= set(reply.result["capabilities"])
    tools = wire.legacy("tools/list").result["tools"]
    assert [tool["name"] for tool in tools] == sorted(tool["name"] for tool in tools)


def test_discover_needs_no_session(wire):
    reply = wire.modern("server/discover")
    assert reply.status == 200
    assert "mcp-session-id" not in reply.headers
    assert reply.result["resultType"] == "complete"
    assert MODERN in reply.result["supportedVersions"]
    assert reply.result["instructions"].startswith("Cloxy remembers")


@pytest.mark.parametrize(
    "method", ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]
)
def test_modern_lists_can_be_cached(wire, method):
    result = wire.modern(method).result
    assert result["resultType"] == "complete"
    assert result["ttlMs"] > 0
    assert result["cacheScope"] == "private"


def test_a_modern_read_says_that_it_is_stale_at_once(wire):
    result = wire.modern("resources/read", uri="cloxy://projects").result
    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == (
        "complete",
        0,
        "private",
    )


def test_the_order_of_tools_is_always_the_same(filled):
    one = Wire(filled).modern("tools/list").result["tools"]
    other = Wire(filled)
    other.initialize()
    assert one == Wire(filled).modern("tools/list").result["tools"]
    names = [tool["name"] for tool in other.legacy("tools/list").result["tools"]]
    assert names == [tool["name"] for tool in one]


def test_an_unknown_version_is_told_the_known_ones(wire):
    message = wire.request("tools/list", {"_meta": envelope("1900-01-01")})
    reply = wire.send("POST", message, modern_headers(message, "1900-01-01"))
    assert reply.status == 400
    assert reply.error["code"] == UNSUPPORTED
    assert MODERN in reply.error["data"]["supported"]
    assert reply.error["data"]["requested"] == "1900-01-01"


@pytest.mark.parametrize("version", [MODERN, "1900-01-01"])
def test_a_version_only_in_the_body_is_a_mismatch(wire, version):
    message = wire.request("tools/list", {"_meta": envelope(version)})
    reply = wire.send("POST", message)
    assert reply.status == 400
    assert reply.error["code"] == HEADER_MISMATCH
    assert reply.message["id"] == message["id"]


@pytest.mark.parametrize("header", ["Mcp-Method", "Mcp-Name"])
def test_headers_that_disagree_with_the_body_are_refused(wire, header):
    params = {"name": "projects", "arguments": {}, "_meta": envelope()}
    message = wire.request("tools/call", params)
    reply = wire.send("POST", message, {**modern_headers(message), header: "recall"})
    assert (reply.status, reply.error["code"]) == (400, HEADER_MISMATCH)


@pytest.mark.parametrize("headers", [{}, {"Mcp-Protocol-Version": MODERN}])
def test_a_notification_is_taken_without_a_word(wire, headers):
    wire.initialize()
    session = headers or wire.session
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    reply = wire.send("POST", note, session)
    assert (reply.status, reply.data) == (202, b"")


def test_an_unknown_method_is_not_found(wire):
    reply = wire.modern("no/such")
    assert (reply.status, reply.error["code"]) == (404, -32601)


def test_a_session_ends_when_it_is_deleted(wire):
    wire.initialize()
    assert wire.send("DELETE", headers=wire.session).status in (200, 204)
    assert wire.send("POST", wire.request("tools/list"), wire.session).status == 404


def test_a_request_without_a_session_is_refused_in_the_older_era(wire):
    reply = wire.send("POST", wire.request("tools/list"))
    assert reply.status == 400


def test_there_is_no_stream_of_its_own_in_the_modern_era(wire):
    reply = wire.send("GET", headers={"Mcp-Protocol-Version": MODERN})
    assert reply.status == 405
