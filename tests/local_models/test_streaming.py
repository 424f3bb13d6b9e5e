"""Answers that come as events: read as they come, errors told, nothing trusted."""

import json
import threading

import pytest
from process.stub_server import StubServer

from cloxy_core.cli.chat_text import StreamEscaper
from cloxy_core.client import UnreachableError
from cloxy_core.client.streaming import streamed
from cloxy_core.client.verification import NotOurServerError
from cloxy_core.client_config import ClientConfig, ClientError

PATH = "/v1/chat/completions"


@pytest.fixture
def data_dir(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def stub(data_dir):
    with StubServer(data_dir).running() as server:
        yield server


@pytest.fixture
def config(stub, data_dir):
    return ClientConfig(url=stub.url, data_dir=data_dir)


def serve(stub, *lines, headers=(), status=200, kind="text/event-stream; charset=utf-8"):
    """Let the stub send lines as chunks of a stream, and end it properly."""

    def behave(handler):
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Transfer-Encoding", "chunked")
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()
        for line in lines:
            data = line if isinstance(line, bytes) else line.encode()
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            handler.wfile.flush()
        handler.wfile.write(b"0\r\n\r\n")

    stub.behave("POST", PATH, behave)


def event(value):
    return f"data: {json.dumps(value)}\n\n"


def read(config, **more):
    with streamed(config, PATH, {"stream": True}, **more) as stream:
        return list(stream.events)


def test_events_are_read_in_order(stub, config):
    serve(
        stub,
        ": ping\n\n",
        event({"a": 1}),
        'event: x\ndata: {"a":\ndata: 2}\n\n',
        'data:{"a": 3}\r\n\r\n',
        "data: [DONE]\n\n",
        event({"a": 4}),
        headers=[("X-Cloxy-Memories", "3,4")],
    )
    with streamed(config, PATH, {"stream": True}) as stream:
        assert stream.headers["x-cloxy-memories"] == "3,4"
        assert list(stream.events) == [{"a": 1}, {"a": 2}, {"a": 3}]
    (method, path, headers, body) = stub.asked[0]
    assert (method, path, json.loads(body)) == ("POST", PATH, {"stream": True})
    assert headers["Accept"] == "text/event-stream"


def test_pieces_come_before_the_end(stub, config):
    gate = threading.Event()

    def behave(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(event({"a": 1}).encode())
        handler.wfile.flush()
        gate.wait(20)
        handler.wfile.write(b"data: [DONE]\n\n")
        handler.close_connection = True

    stub.behave("POST", PATH, behave)
    with streamed(config, PATH, {}) as stream:
        assert next(stream.events) == {"a": 1}
        gate.set()
        assert list(stream.events) == []


ERROR = {"error": {"code": "model_busy", "message": "too many wait", "hint": "try later"}}


def test_an_error_in_the_middle_is_raised(stub, config):
    serve(stub, event({"a": 1}), event(ERROR), "data: [DONE]\n\n")
    with streamed(config, PATH, {}) as stream:
        assert next(stream.events) == {"a": 1}
        with pytest.raises(ClientError) as caught:
            next(stream.events)
    assert (caught.value.code, caught.value.message, caught.value.hint) == (
        "model_busy",
        "too many wait",
        "try later",
    )


def test_a_refusal_is_told_in_the_words_of_the_server(stub, config):
    stub.answer("POST", PATH, ERROR, status=503)
    with pytest.raises(ClientError) as caught:
        read(config)
    assert (caught.value.status, caught.value.message) == (503, "too many wait")
    stub.answer("POST", PATH, {"error": {"message": "no"}}, status=401)
    with pytest.raises(ClientError) as caught:
        read(config)
    assert "CLOXY_API_KEY" in caught.value.hint
    stub.answer("POST", PATH, b"<html>", status=500)
    with pytest.raises(ClientError, match="status 500"):
        read(config)


def test_a_server_without_the_address_is_told(stub, config):
    with pytest.raises(ClientError, match="plugin model_api"):
        read(config)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([event({"a": 1})], "broke off"),
        (["data: {\n\n"], "no JSON"),
        (["data: [1]\n\n"], "no JSON object"),
        (["data: " + "[" * 100_000 + "\n\n"], "no JSON"),
        ([b"data: " + b"x" * (5 * 1024 * 1024)], "too long"),
    ],
)
def test_what_is_no_stream_is_told(stub, config, lines, says):
    serve(stub, *lines)
    with pytest.raises(ClientError, match=says):
        read(config)


def test_another_kind_of_answer_is_told(stub, config):
    serve(stub, "hello", kind="text/plain")
    with pytest.raises(ClientError, match="text/plain"):
        read(config)


def test_silence_ends(stub, config):
    stub.behave("POST", PATH, lambda handler: stub.released.wait(20))
    with pytest.raises(ClientError, match=r"nothing came .* for 0\.2 seconds"):
        read(config, silent_seconds=0.2)
    stub.released.set()


def test_nobody_and_somebody_else(stub, config, tmp_path):
    with pytest.raises(UnreachableError):
        read(ClientConfig(url="http://127.0.0.1:1"))
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(NotOurServerError):
        read(ClientConfig(url=stub.url, data_dir=other))
    assert stub.asked == []


def pieces_of(text, size):
    return [text[begin : begin + size] for begin in range(0, len(text), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_text_in_pieces_is_escaped_as_a_whole(size):
    text = "a\r\nb\rc\x1b[2J\u202eend\ttab\n\U0001f605\x07"
    escaper = StreamEscaper()
    shown = "".join(escaper.feed(piece) for piece in pieces_of(text, size)) + escaper.end()
    assert shown == "a\nb\\rc\\x1b[2J\\u202eend\ttab\n\U0001f605\\x07"


def test_halves_of_a_character_are_joined():
    escaper = StreamEscaper()
    assert escaper.feed("x\ud83d") == "x"
    assert escaper.feed("\ude05y") == "\U0001f605y"
    assert escaper.feed("\ud83d") == ""
    assert escaper.end() == "\ufffd"
