"""Both eras of the protocol: headers, sessions, cancelling, what the server says by itself."""

import pytest
from relay.relay_child import INITIALIZED, MODERN_META, call, cancelled, initialize


def modern(message_id, method, **params):
    params = {**params, "_meta": MODERN_META}
    return {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}


def test_session_is_kept_and_ended(server, legacy):
    assert legacy.ask(call(2, text="a"))["result"]["params"]["arguments"] == {"text": "a"}
    assert legacy.ask({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})["id"] == 3
    session = next(iter(server.sessions))
    assert legacy.close() == 0
    assert server.deleted == [session]
    methods = [method for method, _, _ in server.calls]
    assert methods[:2] == ["initialize", "notifications/initialized"]


def test_progress_comes_before_the_answer(legacy):
    legacy.send(call(2))
    assert legacy.next()["method"] == "notifications/progress"
    assert legacy.next()["id"] == 2


def test_messages_that_do_not_wait_for_the_handshake_follow_it(child, server):
    relay = child().send(initialize(), INITIALIZED, call("x"))
    assert relay.answer(1)["result"]
    assert relay.answer("x")["result"]
    assert relay.close() == 0
    assert len(server.deleted) == 1


def test_old_cancel_reaches_the_session_and_the_request_gets_no_answer(server, legacy):
    legacy.send(call(2, "slow"))
    server.wait_for(lambda: any(found[1] == 2 for found in server.calls))
    legacy.send(cancelled(2))
    server.wait_for(lambda: ("told", 2) in server.left)
    assert legacy.ask(call(3))["id"] == 3
    server.wait_for(lambda: ("closed", 2) in server.left)  # the stream is not kept for ever


def test_modern_messages_say_what_they_are_in_headers(child, server):
    relay = child()
    assert relay.ask(modern(1, "server/discover"))["result"]
    assert relay.ask(call(2, modern=True))["result"]
    assert relay.ask(modern(3, "resources/read", uri="cloxy://memory/1"))["result"]
    assert relay.ask(modern(4, "prompts/get", name="décidé — 决定"))["result"]
    head = [head for _, _, head in server.calls]
    assert [h.get("Mcp-Name") for h in head[:3]] == [None, "echo", "cloxy://memory/1"]
    assert head[3]["Mcp-Name"].startswith("=?base64?")
    assert relay.close() == 0
    assert server.deleted == []


def test_discover_without_an_envelope_is_of_the_modern_era(child, server):
    relay = child()
    error = relay.ask({"jsonrpc": "2.0", "id": 1, "method": "server/discover"})["error"]
    assert error["code"] == -32020
    assert server.faults.pop() == "header mismatch"


def test_unknown_version_is_answered_by_the_server(child):
    wrong = {**MODERN_META, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": wrong}}
    error = child().ask(message)["error"]
    assert (error["code"], error["data"]) == (-32022, {"supported": ["2026-07-28"]})


def test_modern_cancel_closes_the_stream_and_is_not_sent(child, server):
    relay = child().send(call(1, "slow", modern=True), call("1", "slow", modern=True))
    server.wait_for(lambda: len(server.calls) == 2)
    relay.send(cancelled(1))
    server.wait_for(lambda: server.left == [("closed", 1)])
    server.released.set()
    assert relay.answer("1")["result"]  # the text is another id
    assert [method for method, _, _ in server.calls] == ["tools/call"] * 2


def test_requests_run_side_by_side(child, server):
    relay = child().send(*(call(number, "slow", modern=True) for number in range(20)))
    server.wait_for(lambda: len(server.calls) == 20)
    server.released.set()
    assert {relay.next()["id"] for _ in range(20)} == set(range(20))


def test_more_than_may_run_wait_and_can_be_cancelled_before(child, server):
    relay = child().send(*(call(number, "slow", modern=True) for number in range(40)))
    server.wait_for(lambda: len(server.calls) == 32)
    relay.send(cancelled(39), call("last", "plain", modern=True))
    # The lines before this one have been taken once it is refused.
    relay.send_bytes(b"{\n")
    assert relay.next()["error"]["code"] == -32700
    server.released.set()
    answered = {relay.next()["id"] for _ in range(40)}
    assert answered == {*range(39), "last"}
    assert 39 not in {message_id for _, message_id, _ in server.calls}


def test_what_the_server_says_by_itself_arrives(server, legacy):
    server.wait_for(lambda: server.streams == 1)
    server.to_say = [{"jsonrpc": "2.0", "id": "s1", "method": "roots/list"}]
    server.forget_sessions()
    # The session that is taken up again listens too.
    legacy.send(call(2))
    found = [legacy.next() for _ in range(3)]
    assert {message.get("method") for message in found} >= {"roots/list"}
    reply = {"jsonrpc": "2.0", "id": "s1", "result": {"roots": []}}
    legacy.send(reply)
    server.wait_for(lambda: any(found[:2] == (None, "s1") for found in server.calls))


def test_lost_session_is_taken_up_again_and_the_request_sent_once_more(server, legacy):
    assert legacy.ask(call(2))["result"]
    server.forget_sessions()
    assert legacy.ask(call(3, text="after"))["result"]["params"]["arguments"] == {"text": "after"}
    methods = [method for method, _, _ in server.calls]
    assert methods.count("initialize") == 2
    assert methods.count("notifications/initialized") == 2
    assert [found[1] for found in server.calls if found[0] == "tools/call"] == [2, 3]
    assert legacy.close() == 0
    assert len(server.deleted) == 1


def test_many_requests_of_a_lost_session_make_one_new_one(server, legacy):
    server.forget_sessions()
    legacy.send(*(call(number) for number in range(10, 20)))
    answers = {legacy.answer_of_any() for _ in range(10)}
    assert answers == set(range(10, 20))
    assert [method for method, _, _ in server.calls].count("initialize") == 2


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25"])
def test_agreed_version_is_told_with_every_request(child, server, version):
    relay = child()
    relay.ask(initialize(version=version))
    relay.send(INITIALIZED)
    assert relay.ask(call(2))["result"]
    assert server.calls[-1][2]["MCP-Protocol-Version"] == version


def test_toolsets_are_asked_for(data_dir, child):
    from relay.mcp_stub import McpStub

    with McpStub(data_dir, "/mcp?toolsets=memory,web").running() as stub:
        for arguments, environment in [
            (("--toolsets", "memory, web"), {}),
            ((), {"CLOXY_MCP_TOOLSETS": "memory,web"}),
        ]:
            relay = child(*arguments, CLOXY_URL=stub.url, **environment)
            assert relay.ask(call(1, modern=True))["result"]
