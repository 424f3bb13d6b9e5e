"""Servers of others: found, listed, and never a reason to fail."""

import json

import pytest
from process.stub_server import StubServer

from cloxy_core.local_models.endpoints import (
    Endpoint,
    ask_endpoint,
    base_url_of,
    find_endpoints,
)
from cloxy_core.local_models.server_choice import server_choice
from cloxy_hookspecs.errors import InputError

NAMES = ["llama3.2:3b", "qwen3:4b", "gpt-oss:120b-cloud", "kimi:cloud"]


@pytest.fixture
def server():
    stub = StubServer()
    with stub.running():
        yield stub


def listing(names):
    return {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}


def test_models_are_listed_and_those_of_the_cloud_apart(server):
    server.answer("GET", "/v1/models", listing(NAMES))
    usual = [("Ollama", f"{server.url}/v1"), ("nobody", "http://127.0.0.1:1/v1")]
    assert find_endpoints(usual) == (
        Endpoint("Ollama", f"{server.url}/v1", tuple(NAMES[:2]), tuple(NAMES[2:])),
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"<html>a web server of somebody</html>", 200),
        (b"[]", 200),
        (b'{"data": {"a": 1}}', 200),
        (b"[" * 100_000, 200),
        (b"x" * 2_000_000, 200),
        (b'{"error": "no"}', 401),
        (b'{"data": [{"id": "a"}]}', 500),
        (b"", 302),
    ],
)
def test_what_is_no_such_server_is_passed_over(server, body, status):
    server.answer("GET", "/v1/models", body, status=status)
    assert ask_endpoint("x", f"{server.url}/v1") is None


def test_entries_without_sense_are_left_out(server):
    body = {"data": [{"id": 3}, "x", {"id": "good"}, {"id": ""}, {"id": "y" * 1000}]}
    server.answer("GET", "/v1/models", json.dumps(body).encode())
    assert ask_endpoint("x", f"{server.url}/v1").models == ("good",)


def test_a_silent_server_takes_no_more_than_its_time(server):
    server.behave("GET", "/v1/models", lambda handler: server.released.wait(20))
    assert ask_endpoint("x", f"{server.url}/v1", seconds=0.2) is None
    server.released.set()


def test_a_key_is_sent_only_when_there_is_one(server):
    server.answer("GET", "/v1/models", listing(["a"]))
    ask_endpoint("x", f"{server.url}/v1")
    ask_endpoint("x", f"{server.url}/v1", api_key="sesame")
    assert [headers.get("Authorization") for _, _, headers, _ in server.asked] == [
        None,
        "Bearer sesame",
    ]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("127.0.0.1:11434/", "http://127.0.0.1:11434/v1"),
        ("http://localhost:1234/v1/", "http://localhost:1234/v1"),
        ("https://models.example/api/v2", "https://models.example/api/v2"),
        ("http://[::1]:8080/v1/chat/completions", "http://[::1]:8080/v1"),
    ],
)
def test_addresses_are_brought_into_one_form(given, kept):
    assert base_url_of(given) == kept


@pytest.mark.parametrize(
    "given",
    [
        "ftp://x",
        "http://",
        "http://a b",
        "http://x:99999",
        "http://me:secret@x/v1",
        "http://x/v1?key=a",
        "http://x/\x1b[2J",
        "file:///etc",
    ],
)
def test_what_is_no_address_is_refused(given):
    with pytest.raises(InputError) as caught:
        base_url_of(given)
    assert "secret" not in caught.value.message


HERE = Endpoint("Ollama", "http://127.0.0.1:11434/v1", ("a", "b"), ("c:cloud",))


def test_the_first_model_or_the_one_named():
    choice, notes = server_choice(HERE, None, remote=False)
    assert (choice.format, choice.source, choice.model, notes) == ("http", HERE.base_url, "a", ())
    assert server_choice(HERE, "b", remote=False)[0].model == "b"


def test_a_model_that_the_server_has_not():
    with pytest.raises(InputError) as caught:
        server_choice(HERE, "z", remote=False)
    assert "a, b" in caught.value.hint
    with pytest.raises(InputError, match="has no model"):
        server_choice(Endpoint("x", "http://127.0.0.1:1/v1", ()), None, remote=False)


@pytest.mark.parametrize(
    ("endpoint", "model", "remote"),
    [(HERE, "c:cloud", False), (HERE, None, True)],
)
def test_what_leaves_the_machine_is_told(endpoint, model, remote):
    assert "CLOXY_LLM_ALLOW_REMOTE" in server_choice(endpoint, model, remote=remote)[1][0]
