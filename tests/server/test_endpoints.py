"""Endpoints of plugins on a real server, over real sockets."""

import json
import shutil
import time
from pathlib import Path

import pytest
from server.live_server import PATIENCE, LiveServer

KEY = "a-Key-of-32-Characters-0123456789"
SSE = "text/event-stream"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("endpoints")
    plugins = folder / "plugins"
    plugins.mkdir()
    shutil.copy(Path(__file__).with_name("endpoint_plugin.py"), plugins / "places.py")
    settings = {
        "CLOXY_PLUGINS_DIR": str(plugins),
        "CLOXY_EMBED_PROVIDER": "none",
        "CLOXY_API_KEY": KEY,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        with LiveServer(folder, **settings) as server:
            yield server


@pytest.fixture
def notes(served):
    file = served.data / "notes.txt"
    file.unlink(missing_ok=True)

    def until(*wanted):
        deadline = time.monotonic() + PATIENCE
        while not file.exists() or file.read_text().split() != list(wanted):
            assert time.monotonic() < deadline, file.read_text() if file.exists() else "nothing"
            time.sleep(0.02)

    return until


def ask(served, method, path, body=None, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return served.raw(method, path, body, {"X-API-Key": KEY, **named})


def connected(served, method, path):
    connection = served.connection()
    body = None if method == "GET" else b"{}"
    headers = {"X-API-Key": KEY, "Content-Type": "application/json"} if body else {"X-API-Key": KEY}
    connection.request(method, path, body, headers)
    return connection


def test_it_reads_the_request_and_writes_the_answer(served):
    token = (served.data / "owner.token").read_text().strip()
    status, headers, body = ask(
        served,
        "POST",
        "/v9/echo?beta=true&a=1&a=2",
        {"any": "thing"},
        Authorization=f"Bearer {KEY}",
        Cookie="a=b",
        X_Cloxy_Owner=token,
        Proxy_Authorization="Basic x",
        Anthropic_Version="2023-06-01",
    )
    told = json.loads(body)
    assert status == 201
    assert (headers["x-mine"], headers["content-length"]) == ("1", str(len(body)))
    assert "transfer-encoding" not in headers
    assert told["query"] == {"beta": "true", "a": "2"}
    assert told["length"] == len(json.dumps({"any": "thing"}))
    assert told["owner"] is told["caller"] is True
    assert told["headers"]["anthropic-version"] == "2023-06-01"
    kept = json.dumps(told)
    assert KEY not in kept
    assert token not in kept
    for name in ("authorization", "proxy-authorization", "x-api-key", "cookie", "x-cloxy-owner"):
        assert name not in told["headers"]


def test_a_path_may_go_on(served):
    told = json.loads(ask(served, "GET", "/v9/below/org/name%20x")[2])
    assert told["path_values"] == {"name": "org/name x"}


def test_head_stands_for_get(served):
    status, headers, body = ask(served, "HEAD", "/v9/below/a")
    assert (status, body) == (201, b"")
    assert int(headers["content-length"]) > 0


def test_bodies_are_large_only_where_that_was_asked_for(served):
    huge = {"text": "x" * (5 * 1024 * 1024)}
    assert ask(served, "POST", "/v9/echo", huge)[0] == 201
    status, _headers, body = ask(served, "POST", "/v9/small", huge)
    assert status == 413
    assert json.loads(body)["error"]["type"] == "request_too_large"


def test_without_the_key_it_is_not_asked(served):
    status, _headers, body = served.raw("POST", "/v9/echo", {})
    error = json.loads(body)
    assert (status, error["type"], error["error"]["type"]) == (401, "error", "authentication_error")


def test_pieces_come_as_they_are_made(served, notes):
    status, headers, body = ask(served, "GET", "/v9/stream?how=few")
    assert (status, body) == (200, b"data: 1\n\ndata: 2\n\ndata: 3\n\n")
    assert headers["content-type"].startswith(SSE)
    assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-store", "no")
    notes("closed")


def test_head_of_a_stream_reads_nothing_of_it(served, notes):
    status, _headers, body = ask(served, "HEAD", "/v9/stream")
    assert (status, body) == (200, b"")
    notes("closed")


@pytest.mark.parametrize("how", ["", "fat"])
def test_a_client_that_goes_away_closes_the_stream(served, notes, how):
    """Also one that has stopped to read, while a piece is on its way."""
    connection = connected(served, "GET", f"/v9/stream?how={how}")
    answer = connection.getresponse()
    assert answer.read(6)
    answer.close()
    connection.close()
    notes("closed")


def test_a_client_that_goes_away_before_the_answer_ends_the_work(served, notes):
    connection = connected(served, "POST", "/v9/wait")
    notes("began")
    connection.close()
    notes("began", "cancelled")


def test_a_stream_that_breaks_is_no_whole_answer(served, notes):
    connection = connected(served, "GET", "/v9/stream?how=break")
    answer = connection.getresponse()
    with pytest.raises(Exception, match=r"IncompleteRead") as raised:
        answer.read()
    assert raised.value.partial == b"data: 1\n\ndata: 2\n\n"
    connection.close()
    notes("closed")
    log = "".join(file.read_text() for file in (served.data / "logs").glob("*.log"))
    assert "RuntimeError at" in log
    assert "secret heron" not in log


@pytest.mark.parametrize(
    ("kind", "status", "type_", "code"),
    [
        ("busy", 503, "overloaded_error", "model_busy"),
        ("unsupported", 400, "invalid_request_error", "model_unsupported"),
        ("header", 500, "api_error", "plugin_contract"),
        ("unforeseen", 500, "api_error", "internal_error"),
    ],
)
def test_what_it_raises_becomes_the_common_body(served, notes, kind, status, type_, code):
    answered, headers, data = ask(served, "GET", f"/v9/fail?kind={kind}")
    body = json.loads(data)
    assert answered == status
    assert set(body) == {"type", "error", "detail"}
    error = body["error"]
    assert set(error) == {"type", "code", "message", "hint", "param"}
    assert (body["type"], error["type"], error["code"]) == ("error", type_, code)
    assert body["detail"] == error["message"]
    assert headers.get("retry-after") == ("7" if kind == "busy" else None)
    assert b"heron" not in data
    if kind == "header":
        notes("closed")


def test_an_unknown_path_has_the_common_body_too(served):
    status, _headers, data = ask(served, "GET", "/v9/nothing")
    assert (status, json.loads(data)["error"]["type"]) == (404, "not_found_error")
