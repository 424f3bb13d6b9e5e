"""Methods, content types and reply headers."""

import time

import pytest
from security.attacks import BAD_TYPES
from security.boundary_server import MEMORY, running

JSON = ("Content-Type", "application/json")
OWN_PAGE = [("Origin", "http://localhost:{port}"), ("Sec-Fetch-Site", "same-origin")]
BODY_ROUTES = [
    ("POST", "/recall"),
    ("POST", "/ingest_text"),
    ("POST", "/reindex"),
    ("POST", "/mcp/"),
    ("PUT", "/memory/1"),
    ("PATCH", "/memory/1"),
    ("DELETE", "/memory/1"),
]
GOOD_TYPES = [
    "application/json",
    "Application/JSON",
    "application/json;charset=utf-8",
    "application/json ; charset=UTF-8",
    'application/json; charset="utf-8"',
]


@pytest.fixture(scope="module")
def live():
    with running() as server:
        yield server


@pytest.fixture(autouse=True)
def fresh(live):
    live.calls.clear()


@pytest.mark.parametrize("content_type", BAD_TYPES)
@pytest.mark.parametrize(("method", "path"), BODY_ROUTES)
def test_bodies_that_are_not_json_are_refused(live, method, path, content_type):
    headers = [] if content_type is None else [("Content-Type", content_type)]
    answer = live.request(method, path, headers, b'{"query":"x"}')
    assert (answer.status, answer.code) == (415, "unsupported_media_type")
    assert live.calls == []


@pytest.mark.parametrize("content_type", GOOD_TYPES)
@pytest.mark.parametrize(("method", "path"), BODY_ROUTES)
def test_json_bodies_arrive_whole(live, method, path, content_type):
    answer = live.request(method, path, [("Content-Type", content_type)], b'{"query":"x"}')
    assert answer.status == 200
    assert [call[2] for call in live.calls] == [13]


def test_two_content_types_are_refused(live):
    answer = live.request("POST", "/recall", [JSON, ("Content-Type", "text/plain")], b"{}")
    assert answer.status == 415


@pytest.mark.parametrize("length", [[], [("Content-Length", "0")]])
def test_a_program_may_post_nothing_at_all(live, length):
    assert live.request("POST", "/reindex", length).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        [("Content-Type", "text/plain")],
        [("Content-Type", "")],
        OWN_PAGE,
        OWN_PAGE[:1],
        [("Sec-Fetch-Site", "none")],
    ],
)
def test_a_browser_may_not_post_nothing_without_a_type(live, headers):
    answer = live.request("POST", "/reindex", headers)
    assert answer.status == 415
    assert live.calls == []


def test_an_own_page_may_post_nothing_as_json_and_delete(live):
    assert live.request("POST", "/reindex", [*OWN_PAGE, JSON]).status == 200
    assert live.request("DELETE", "/memory/1", OWN_PAGE).status == 200


def test_reads_need_no_type(live):
    assert live.request("GET", "/recall", [("Content-Type", "text/plain")]).status == 200
    assert live.request("GET", "/recall", [("Content-Type", "text/plain")], b"x").status == 415


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity", ""])
@pytest.mark.parametrize(("method", "path"), BODY_ROUTES)
def test_encoded_bodies_are_refused(live, method, path, encoding):
    answer = live.request(method, path, [JSON, ("Content-Encoding", encoding)], b"{}")
    assert answer.status == 415
    assert live.calls == []


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PROPFIND", "LOCK"])
@pytest.mark.parametrize("path", ["/", "/recall", "/mcp/", "/static/app.js"])
def test_other_methods_are_refused(live, method, path):
    answer = live.request(method, path)
    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert live.calls == []


def test_no_preflight_succeeds(live):
    asked = [
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Private-Network", "true"),
    ]
    for origin, status in (("http://localhost:{port}", 405), ("http://rebound.example", 403)):
        answer = live.request("OPTIONS", "/recall", [("Origin", origin), *asked])
        assert answer.status == status
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "raw",
    [
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /no-such-page HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /static/a HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /lax HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /explode HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: rebound.example\r\n\r\n",
        b"GET /recall HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n",
        b"OPTIONS /recall HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /recall HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
        b"GET http://x/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"nonsense\r\n\r\n",
    ],
)
def test_every_reply_carries_the_security_headers(live, raw):
    headers = live.send(raw).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["referrer-policy"] == "no-referrer"
    for part in (
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
    ):
        assert part in headers["content-security-policy"].split("; ")
    assert headers["cache-control"] == ("max-age=60" if b"/lax" in raw else "no-store")
    assert "server" not in headers
    assert not [name for name in headers if name.startswith("access-control")]


def test_a_failing_handler_tells_nothing_and_logs_no_text(live, caplog):
    answer = live.request("GET", "/explode?canary=walrus")
    assert answer.status == 500
    assert MEMORY.encode() not in answer.body
    # The framework answers before the boundary writes its line, in another thread.
    while "unhandled RuntimeError at" not in caplog.text:
        time.sleep(0.01)
    for text in (MEMORY, "walrus", "forged line"):
        assert text not in caplog.text


def test_a_failure_outside_the_framework_is_answered_in_json(caplog):
    async def broken(scope, receive, send):
        if scope["type"] == "http":
            raise KeyError(MEMORY)

    with running(broken) as server:
        answer = server.request("GET", "/health")
        assert (answer.status, answer.code) == (500, "internal_error")
        assert MEMORY not in caplog.text
