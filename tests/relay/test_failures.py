"""What goes wrong is said to the request it belongs to: never a hang, never silence."""

import json

import pytest
from held_ports import held_port
from process.stub_server import StubServer
from relay.relay_child import INITIALIZED, RelayChild, call, initialize


@pytest.fixture
def unused_port():
    with held_port() as port:
        yield port


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("cut", "broke before its answer came"),
        ("ends", "broke before its answer came"),
        ("rubbish", "text/html instead of a message"),
        ("nojson", "is no JSON"),
        ("accepted", "status 202"),
        ("busy", "Too busy; Wait."),
        ("unauthorized", "A key is needed; set CLOXY_API_KEY"),
        ("bare", "status 500"),
    ],
)
@pytest.mark.parametrize("modern", [True, False])
def test_broken_answer(child, tool, words, modern):
    relay = child()
    if not modern:
        relay.ask(initialize())
        relay.send(INITIALIZED)
    error = relay.ask(call(5, tool, modern=modern))["error"]
    assert error["code"] == -32000
    assert words in error["message"]
    assert relay.ask(call(6, modern=modern))["result"]


def test_error_of_the_server_keeps_its_parts_and_gets_the_id(child):
    error = child().ask(call("five", "refused", modern=True))["error"]
    assert error == {"code": -32602, "message": "wrong", "data": [1]}


def test_words_of_others_hide_nothing(child):
    error = child().ask(call(1, "hidden", modern=True))["error"]
    assert error["message"] == "a\\x1b[31m\\u202e\\nb; c\\U000e0041"
    assert error["data"]["hint"] == "c\\U000e0041"


def test_answer_with_a_foreign_id_gets_the_right_one(child):
    answer = child().ask(call(3, "other", modern=True))
    assert answer["result"] == {"for": "somebody else"}


@pytest.mark.parametrize(
    ("line", "code", "message_id"),
    [
        (b"{", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"42", -32600, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc": "2.0", "id": 5}', -32600, 5),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 5, "method": 5}', -32600, 5),
    ],
)
def test_what_is_no_message_is_refused_and_the_next_is_carried(child, line, code, message_id):
    relay = child()
    relay.send_bytes(b"\n  \r\n" + line + b"\n")
    refused = relay.next()
    assert (refused["error"]["code"], refused["id"]) == (code, message_id)
    assert relay.ask(call(9, modern=True))["result"]


def test_line_that_is_too_long_is_passed_over(child):
    relay = child()
    for _ in range(27):
        relay.send_bytes(b"x" * 1024 * 1024)
    relay.send_bytes(b"\n")
    assert "26" in relay.next()["error"]["message"].replace("27,262,976", "26")
    assert relay.ask(call(9, modern=True))["result"]


def test_last_line_needs_no_end(child):
    relay = child()
    relay.send_bytes(json.dumps(call(1, modern=True)).encode())
    relay.process.stdin.close()
    assert relay.answer(1)["result"]
    assert relay.ended() == 0


def test_batch_of_the_version_that_has_them(child):
    relay = child()
    relay.ask(initialize(version="2025-03-26"))
    batch = [INITIALIZED, call(2, "plain"), call(3, "plain"), 7]
    relay.send_bytes(json.dumps(batch).encode() + b"\n")
    answers = relay.next()
    assert {answer["id"] for answer in answers if "result" in answer} == {2, 3}
    assert [answer["error"]["code"] for answer in answers if "error" in answer] == [-32600]


def test_no_server_and_none_may_be_started(unused_port):
    with RelayChild(CLOXY_PORT=str(unused_port), CLOXY_AUTOSTART="0") as relay:
        for message_id in (1, 2):
            error = relay.ask(initialize(message_id))["error"]
            assert f"no server at http://127.0.0.1:{unused_port}" in error["message"]
            assert "cloxy start" in error["message"]
        assert relay.close() == 0


def test_autostart_can_be_switched_off_in_both_files(unused_port, data_dir):
    for name, content in [
        ("client.env", "CLOXY_AUTOSTART=0\n"),
        ("config.toml", "[server]\nautostart = false\n"),
    ]:
        file = data_dir / name
        file.write_text(content, encoding="utf-8")
        with RelayChild(CLOXY_PORT=str(unused_port)) as relay:
            assert "no server at" in relay.ask(initialize())["error"]["message"]
        file.unlink()
    assert not (data_dir / "launch.lock").exists()


def test_no_server_is_started_for_another_address(may_try_network):
    with RelayChild(CLOXY_URL="http://cloxy.invalid:9055") as relay:
        message = relay.ask(initialize())["error"]["message"]
    assert "no server at http://cloxy.invalid:9055" in message


def test_somebody_elses_server_gets_nothing(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    with StubServer(other).running() as stub:
        environment = {"CLOXY_URL": stub.url, "CLOXY_API_KEY": "hush-hush"}
        with RelayChild(**environment) as relay:
            error = relay.ask(initialize())["error"]
        assert error["data"]["code"] == "server_not_ours"
        assert "nothing was sent" in error["message"]
        assert stub.asked == []
        assert len(stub.challenges) == 1
        assert "hush-hush" not in json.dumps(stub.challenges)


def test_another_version_is_told_once(data_dir):
    from relay.mcp_stub import McpStub

    with McpStub(data_dir, version="6.7.8").running() as stub, RelayChild(CLOXY_URL=stub.url) as c:
        assert c.ask(call(1, modern=True))["result"]
        assert c.ask(call(2, modern=True))["result"]
        assert c.close() == 0
    assert c.said.decode().count("is Cloxy 6.7.8") == 1
    assert "cloxy stop" in c.said.decode()


def test_bad_setting_ends_it_before_the_first_word():
    with RelayChild(CLOXY_PORT="ninety") as relay:
        assert relay.next() is None
        assert relay.ended() == 1
    assert b"CLOXY_PORT" in relay.said
