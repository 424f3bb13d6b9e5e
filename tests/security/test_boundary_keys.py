"""The key: where it is read, how it is compared, what wrong ones cost."""

import asyncio
import json
import logging

import pytest
from security.boundary_server import KEY, MEMORY, make_app, running

from cloxy_core.surfaces.http.boundary import Boundary
from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy

JSON = ("Content-Type", "application/json")
GOOD = [
    [("X-API-Key", KEY)],
    [("x-api-key", f"  {KEY}\t")],
    [("Authorization", f"Bearer {KEY}")],
    [("Authorization", f"bearer   {KEY}")],
    [("Authorization", f"BEARER {KEY}"), ("X-API-Key", KEY)],
]
BAD = [
    [],
    [("X-API-Key", "")],
    [("X-API-Key", KEY[:-1])],
    [("X-API-Key", KEY + "x")],
    [("X-API-Key", KEY.lower())],
    [("X-API-Key", "\xe9\xff")],
    [("X-API-Key", "k" * 20_000)],
    [("Authorization", "Bearer")],
    [("Authorization", "Bearer ")],
    [("Authorization", KEY)],
    [("Authorization", f"Basic {KEY}")],
    [("Authorization", f"Bearer {KEY}"), ("X-API-Key", "wrong")],
    [("Authorization", "Bearer wrong"), ("X-API-Key", KEY)],
    [("X-API-Key", KEY), ("X-API-Key", "wrong")],
    [("Authorization", f"Token {KEY}"), ("X-API-Key", KEY)],
    [("Cookie", f"api_key={KEY}")],
]


@pytest.fixture(scope="module")
def live():
    with running(api_key=KEY) as server:
        yield server


@pytest.fixture(autouse=True)
def fresh(live):
    live.calls.clear()
    live.boundary._keys._failures = 0.0


@pytest.mark.parametrize("headers", GOOD)
def test_the_right_key_opens(live, headers):
    answer = live.request("POST", "/recall", [*headers, JSON], b"{}")
    assert answer.status == 200
    assert live.calls == [("POST", "/recall", 2, True)]


@pytest.mark.parametrize("headers", BAD, ids=range(len(BAD)))
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/recall"),
        ("GET", "/memory/1"),
        ("DELETE", "/memory/1"),
        ("GET", "/docs"),
        ("POST", "/mcp/"),
        ("GET", "/static/a"),
        ("POST", "/"),
        ("GET", "/health/x"),
    ],
)
def test_anything_else_is_unauthorized(live, method, path, headers):
    answer = live.request(method, path, [*headers, JSON])
    assert (answer.status, answer.code) == (401, "unauthorized")
    assert live.calls == []
    assert KEY.encode() not in answer.body


@pytest.mark.parametrize("query", ["api_key", "key", "x-api-key", "access_token"])
def test_a_key_in_the_address_is_no_key(live, query):
    assert live.request("GET", f"/recall?{query}={KEY}").status == 401


def test_a_nul_in_the_key_is_refused(live):
    assert live.request("POST", "/recall", [("X-API-Key", "a\0b"), JSON]).status == 400


def test_open_paths_answer_without_data(live):
    for path in ("/", "/health"):
        for headers in ([], [("X-API-Key", "wrong")]):
            answer = live.request("GET", path, headers)
            assert answer.status == 200
            assert MEMORY.encode() not in answer.body
        assert MEMORY.encode() in live.request("GET", path, [("X-API-Key", KEY)]).body
    assert MEMORY.encode() not in live.request("GET", "/%68ealth").body


def test_an_open_server_ignores_keys():
    with running() as server:
        for headers in GOOD + BAD:
            if not any("\xe9" in value for _, value in headers):
                answer = server.request("GET", "/health", headers)
                assert answer.status == 200
                assert MEMORY.encode() in answer.body


def test_a_key_beyond_ascii_works_as_utf8():
    key = "schlüssel-für-morgen"
    with running(api_key=key) as server:
        sent = key.encode().decode("latin-1")
        assert server.request("GET", "/recall", [("X-API-Key", sent)]).status == 200


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def attempt(boundary, key, path="/recall"):
    """Run one request through the layer without a socket; return status and headers."""
    sent = []
    headers = [(b"host", b"localhost")] + ([(b"x-api-key", key)] if key else [])
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
        "root_path": "",
        "http_version": "1.1",
        "scheme": "http",
        "server": ("127.0.0.1", 9055),
        "client": ("127.0.0.1", 5),
        "state": {},
    }

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    asyncio.run(boundary(scope, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"])


def test_guessing_is_slowed_down_and_the_owner_is_not():
    clock = Clock()
    policy = BoundaryPolicy("127.0.0.1", 9055, KEY)
    boundary = Boundary(make_app([]), policy, clock=clock)
    assert [attempt(boundary, b"guess")[0] for _ in range(20)] == [401] * 20
    status, headers = attempt(boundary, b"guess")
    assert status == 429
    assert int(headers[b"retry-after"]) >= 1
    assert attempt(boundary, KEY.encode())[0] == 200
    assert attempt(boundary, None)[0] == 401
    assert attempt(boundary, b"guess", "/health")[0] == 200
    for _ in range(1000):
        status, headers = attempt(boundary, b"guess")
        assert status == 429
    assert int(headers[b"retry-after"]) <= 60
    clock.now += int(headers[b"retry-after"])
    assert attempt(boundary, b"guess")[0] == 401
    assert attempt(boundary, b"guess")[0] == 429
    clock.now += 3600
    assert [attempt(boundary, b"guess")[0] for _ in range(21)] == [401] * 20 + [429]


def test_neither_keys_nor_requests_reach_the_log(live, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    guess = "walrus-guess-1234567"
    for raw in (
        f"GET /a%0aforged-line?{guess} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {guess}\r\n\r\n",
        f"GET /{guess} HTTP/1.1\r\nHost: {guess}\r\n\r\n",
        f"GET http://{guess}/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        f"{guess}\r\n\r\n",
        f"GET /recall HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {KEY}\r\n\r\n",
    ):
        live.send(raw.encode())
    shown = capfd.readouterr()
    for text in (guess, KEY, "forged-line", MEMORY):
        assert text not in caplog.text + shown.out + shown.err


def test_the_refusal_has_the_common_shape(live):
    answer = live.request("GET", "/recall")
    body = json.loads(answer.body)
    assert set(body) == {"type", "error", "detail"}
    assert set(body["error"]) == {"type", "code", "message", "hint", "param"}
    assert (body["type"], body["error"]["type"]) == ("error", "authentication_error")
    assert body["detail"] == body["error"]["message"]
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("key", ["", " padded", "padded ", "line\nbreak", "nul\0"])
def test_a_key_no_request_can_carry_is_a_mistake(key):
    with pytest.raises(ValueError, match="CLOXY_API_KEY"):
        BoundaryPolicy("127.0.0.1", 9055, key)


@pytest.mark.parametrize(
    "entry",
    [
        "*",
        "*.example",
        "http://a.example",
        "a.example/",
        "a b",
        "",
        "a.example:0",
        "a:99999",
        "::1",
        "ä.example",
        "a@b",
        "a.example:",
        "a.example.",
    ],
)
def test_a_bad_host_entry_is_a_mistake(entry):
    with pytest.raises(ValueError, match="CLOXY_ALLOWED_HOSTS"):
        BoundaryPolicy("127.0.0.1", 9055, None, (entry,))


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_an_unknown_port_is_a_mistake(port):
    with pytest.raises(ValueError, match="port"):
        BoundaryPolicy("127.0.0.1", port, None)


def test_origins_leave_default_ports_out():
    policy = BoundaryPolicy("127.0.0.1", 80, None, ("a.example:443",))
    assert b"http://localhost" in policy.origins()
    assert b"http://localhost:80" not in policy.origins()
    assert {b"https://a.example", b"http://a.example:443"} <= policy.origins()
