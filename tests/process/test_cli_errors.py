"""What the command line says when the server refuses, is broken, slow or not there."""

import json
import time

import pytest
from held_ports import held_port
from process.cli_runner import run_cloxy

from cloxy_core.client import Client, UnreachableError
from cloxy_core.client_config import ClientConfig, ClientError

COMMANDS = [("recall", "port"), ("status",), ("ingest",)]
OURS = {
    "error": {"code": "filter", "message": "'soon' is no date", "hint": "write 2026-11-30"},
    "detail": "'soon' is no date",
}


@pytest.fixture
def unused_port():
    with held_port() as port:
        yield port


@pytest.mark.parametrize("command", COMMANDS)
def test_no_server_is_exit_code_2_with_what_to_do(command, unused_port):
    run = run_cloxy(*command, CLOXY_PORT=str(unused_port))
    assert run.returncode == 2
    assert run.stdout == b""
    expected = f"cloxy: no server at http://127.0.0.1:{unused_port}; run `cloxy start`\n"
    assert run.stderr.decode() == expected


def test_unknown_host_is_unreachable(may_try_network):
    run = run_cloxy("recall", "x", url="http://cloxy.invalid:9055")
    assert run.returncode == 2
    assert b"no server at http://cloxy.invalid:9055" in run.stderr


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (400, OURS, "'soon' is no date; write 2026-11-30"),
        (
            401,
            {"error": {"code": "unauthorized", "message": "no key"}},
            "no key; set CLOXY_API_KEY",
        ),
        (
            401,
            {
                "error": {
                    "code": "unauthorized",
                    "message": "A valid key is required.",
                    "hint": "Send it in the header X-API-Key.",
                }
            },
            "A valid key is required; set CLOXY_API_KEY to the server's key",
        ),
        (401, {"detail": "Invalid or missing API key"}, "Invalid or missing API key; set CLOXY"),
        (404, {"error": "not here"}, "not here"),
        (422, {"detail": [{"loc": ["body", "top_k"]}]}, "top_k"),
        (500, {}, "the server answered with status 500"),
        (500, {"error": {"message": None, "hint": 3}}, "the server answered with status 500"),
        (507, {"error": {"code": "store_full", "message": "the disk is full"}}, "disk is full"),
    ],
)
def test_refusal_is_told_in_the_servers_words(stub, status, body, words):
    stub.answer("POST", "/recall", body, status=status)
    run = run_cloxy("recall", "x", "--since", "soon", url=stub.url)
    assert run.returncode == 1
    assert run.stdout == b""
    assert words in run.stderr.decode()


@pytest.mark.parametrize(
    ("status", "payload"),
    [
        (200, b"<html>another program</html>"),
        (404, b"not found"),
        (200, b""),
        (200, b"[1, 2]"),
        (200, b'"text"'),
        (200, b"\xff\xfe{}"),
        (200, b"[" * 100_000),
        (302, b"{}"),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_not_cloxy_is_named(stub, status, payload, command):
    for method, path in [
        ("POST", "/recall"), ("POST", "/ingest_convos"), ("GET", "/health"),
        ("GET", "/memory_stats"), ("GET", "/ingest_status"),
    ]:  # fmt: skip
        stub.answer(method, path, payload, status=status)
    run = run_cloxy(*command, url=stub.url)
    assert run.returncode == 1
    assert f"what answers at {stub.url} is not a Cloxy server" in run.stderr.decode()
    assert b"Traceback" not in run.stderr


def close_at_once(handler):
    handler.close_connection = True


def cut_short(handler):
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"results": [')
    handler.close_connection = True


def not_http(handler):
    handler.wfile.write(b"220 mail.example ESMTP\r\n")
    handler.close_connection = True


def endless_head(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 500 + b"\r\n")
    handler.close_connection = True


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (close_at_once, "closed before an answer came"),
        (cut_short, "ended before it was whole"),
        (not_http, "does not speak HTTP"),
        (endless_head, "does not speak HTTP"),
    ],
)
def test_broken_answer(stub, behaviour, words):
    stub.behave("POST", "/recall", behaviour)
    run = run_cloxy("recall", "x", url=stub.url)
    assert run.returncode == 1
    assert words in run.stderr.decode()


def silent(handler):
    handler.server.stub.released.wait(30)


def drip(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(2000):
        if handler.server.stub.released.is_set():
            return
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.02)


@pytest.mark.parametrize("behaviour", [silent, drip])
def test_slow_answer_ends_at_the_limit_and_is_not_unreachable(stub, behaviour):
    stub.behave("GET", "/health", behaviour)
    with pytest.raises(ClientError, match=r"did not answer within 0\.5 seconds") as caught:
        Client(ClientConfig(stub.url)).request("GET", "/health", seconds=0.5)
    assert caught.value.code == "timeout"
    assert caught.value.exit_code == 1


def test_parts_of_a_refusal_are_kept(stub):
    stub.answer("POST", "/recall", OURS, status=400)
    with pytest.raises(ClientError) as caught:
        Client(ClientConfig(stub.url)).request("POST", "/recall", {"query": "x"})
    error = caught.value
    assert (error.code, error.message, error.hint, error.status) == (
        "filter", "'soon' is no date", "write 2026-11-30", 400,
    )  # fmt: skip
    assert error.body == OURS


def test_unreachable_has_a_class_of_its_own(unused_port):
    with pytest.raises(UnreachableError) as caught:
        Client(ClientConfig(f"http://127.0.0.1:{unused_port}")).request("GET", "/health")
    assert caught.value.code == "server_unreachable"


def test_path_of_the_address_is_kept_and_post_without_body_is_an_object(stub):
    stub.answer("POST", "/memory/reindex", {"status": "rebuilt"})
    answer = Client(ClientConfig(stub.url + "/memory")).request("POST", "/reindex")
    assert answer == {"status": "rebuilt"}
    assert stub.asked[0][3] == b"{}"


def test_proxy_of_the_environment_is_not_used(stub):
    stub.answer("POST", "/recall", {"results": []})
    run = run_cloxy(
        "recall", "x", url=stub.url, http_proxy="http://127.0.0.1:9", all_proxy="http://127.0.0.1:9"
    )
    assert run.returncode == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CLOXY_PORT", "ninety"),
        ("CLOXY_PORT", "0"),
        ("CLOXY_PORT", "65536"),
        ("CLOXY_URL", "ftp://127.0.0.1"),
        ("CLOXY_URL", "http://user:pw@127.0.0.1:9055"),
        ("CLOXY_URL", "http://127.0.0.1:port"),
        ("CLOXY_HOST", "a b"),
        ("CLOXY_API_KEY", "one\ntwo"),
    ],
)
def test_bad_setting_is_named(name, value):
    run = run_cloxy("recall", "x", **{name: value})
    assert run.returncode == 1
    assert name in run.stderr.decode()


def test_bad_key_is_not_printed():
    run = run_cloxy("recall", "x", CLOXY_API_KEY="hushhush\n")
    assert b"hushhush" not in run.stderr + run.stdout


def test_status_reports_every_failure_and_still_prints_json(stub):
    stub.answer("GET", "/health", {"status": "OK", "service": "cloxy", "version": "6"})
    refusal = {"error": {"code": "unauthorized", "message": "the key is missing", "hint": None}}
    stub.answer("GET", "/memory_stats", refusal, status=401)
    stub.answer("GET", "/ingest_status", refusal, status=401)
    run = run_cloxy("status", "--json", url=stub.url)
    assert run.returncode == 1
    report = json.loads(run.stdout)
    assert report["healthy"] is False
    assert len(report["problems"]) == 2
