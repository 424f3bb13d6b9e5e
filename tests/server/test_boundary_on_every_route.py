"""The attack list for the local server, on every route that the application has.

The routes are asked of the application, so that a new one cannot be forgotten; the attacks go as
bytes to real server processes.
"""

import json
from types import SimpleNamespace

import pytest
from security.attacks import (
    BAD_HOSTS,
    BAD_ORIGINS,
    BAD_TYPES,
    GOOD_HOSTS,
)
from server.every_place import MEMORY, attacked, every_place, is_error, places_of, rows, send
from server.live_server import LiveServer
from starlette.applications import Starlette
from starlette.routing import Mount, Route, WebSocketRoute

KEY = "a-Key-of-32-Characters-0123456789"
OPEN = {("GET", "/"), ("HEAD", "/"), ("GET", "/health"), ("HEAD", "/health")} | {
    ("GET", "/identity"),
    ("HEAD", "/identity"),
}
OWNER_ONLY = {("POST", "/shutdown")}
PLACES = every_place()
READS = {"GET", "HEAD", "WEBSOCKET"}
QUIET = {"CLOXY_EMBED_PROVIDER": "none"}
FETCH_SITES = [
    [("Sec-Fetch-Site", "cross-site")],
    [("Sec-Fetch-Site", "same-site")],
    [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")],
    [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty")],
    [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "iframe"),
    ],
    [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")],
    [("Sec-Fetch-Site", "unheard-of")],
    [("Sec-Fetch-Site", "")],
]
BAD_KEYS = [
    [],
    [("X-API-Key", "")],
    [("X-API-Key", "wrong")],
    [("X-API-Key", KEY[:-1])],
    [("X-API-Key", KEY + "0")],
    [("X-API-Key", "schl\xfcssel\xff")],
    [("X-API-Key", "k" * 20_000)],
    [("Authorization", "Bearer ")],
    [("Authorization", f"Basic {KEY}")],
    [("Authorization", f"Bearer {KEY}"), ("X-API-Key", "wrong")],
    [("X-API-Key", KEY), ("X-API-Key", "wrong")],
    [("Cookie", f"X-API-Key={KEY}")],
    [("X-Cloxy-Owner", "")],
    [("X-Cloxy-Owner", "0" * 64)],
    [("X-Cloxy-Owner", "\xff" * 64)],
]
places = pytest.mark.parametrize(("method", "path"), PLACES)


def started(folder, **settings):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        with LiveServer(folder, **QUIET, **settings) as server:
            headers = {"X-API-Key": KEY} if settings else {}
            assert server.ask("POST", "/ingest_text", {"text": MEMORY}, headers)[0] == 200
            before = rows(server)
            yield server
            # Nothing that was refused has had an effect, and nobody could end the server.
            assert rows(server) == before
            assert server.process.poll() is None


@pytest.fixture(scope="module")
def unlocked(tmp_path_factory):
    """A server without a key."""
    yield from started(tmp_path_factory.mktemp("unlocked"))


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    """A server with a key."""
    yield from started(tmp_path_factory.mktemp("keyed"), CLOXY_API_KEY=KEY)


@pytest.fixture(params=["without a key", "with the key"])
def target(request):
    """Raw requests to either server, and headers that would let the sender in."""
    name = "unlocked" if request.param == "without a key" else "keyed"
    headers = [] if name == "unlocked" else [("X-API-Key", KEY)]
    return attacked(request.getfixturevalue(name)), headers


def test_the_list_is_that_of_the_running_server(keyed):
    """Each place is there, and what is not in the list is not."""
    server = attacked(keyed)
    paths = {path for _method, path in PLACES}
    assert {"/", "/health", "/identity", "/shutdown", "/mcp", "/recall"} <= paths
    for path in paths - {"/mcp"}:
        method = next(m for m, p in PLACES if p == path)
        # A method that no place has tells them apart without doing anything.
        answer = send(server, "PUT", path, [("X-API-Key", KEY)])
        assert answer.status in (405, 403), (method, path)
    for path in ("/docs", "/redoc", "/openapi.json", "/metrics", "/static/1", "/status"):
        for method in ("GET", "POST"):
            assert send(server, method, path, [("X-API-Key", KEY)]).status == 404


def test_the_list_holds_what_is_mounted_and_nothing_is_passed_over():
    inner = Starlette(routes=[Route("/inner/{id}", None, methods=["GET"])])
    routes = [Mount("/outer", inner), WebSocketRoute("/events", None)]
    found = set(places_of(routes))
    assert {("GET", "/outer/inner/1"), ("POST", "/outer"), ("WEBSOCKET", "/events")} <= found
    with pytest.raises(AssertionError, match="nobody looks at"):
        list(places_of([SimpleNamespace(path="/new")]))


@places
def test_a_name_that_is_not_ours_is_refused(target, method, path):
    server, key = target
    for host in BAD_HOSTS:
        answer = send(server, method, path, [("Host", host), *key])
        assert answer.status in (400, 421), host
        assert is_error(answer, method)
    if method != "HEAD":
        assert b"CLOXY_ALLOWED_HOSTS" in send(server, method, path, [("Host", "x.example")]).body


@places
def test_so_is_no_name_two_names_and_a_name_in_the_target(target, method, path):
    server, key = target
    verb = "GET" if method == "WEBSOCKET" else method
    lines = "".join(f"{name}: {value}\r\n" for name, value in key)
    good = "Host: 127.0.0.1:{port}\r\n"
    for raw in (
        f"{verb} {path} HTTP/1.1\r\n{lines}\r\n",
        f"{verb} {path} HTTP/1.0\r\n{lines}\r\n",
        f"{verb} {path} HTTP/1.1\r\n{good}{good}{lines}\r\n",
        f"{verb} {path} HTTP/1.1\r\n{good}Host: x.example\r\n{lines}\r\n",
        f"{verb} {path} HTTP/1.1\r\nHost: x.example\r\nX-Forwarded-{good}Forwarded: host=localhost"
        f"\r\n{lines}\r\n",
        f"{verb} http://x.example{path} HTTP/1.1\r\n{good}{lines}\r\n",
        f"{verb} http://127.0.0.1:{{port}}{path} HTTP/1.1\r\n{good}{lines}\r\n",
    ):
        answer = server.send(raw.encode("latin-1"))
        assert answer.status in (400, 421), raw
        assert is_error(answer, method)


@places
def test_other_pages_are_refused_reading_or_writing(target, method, path):
    server, key = target
    for origin in BAD_ORIGINS:
        answer = send(server, method, path, [("Origin", origin), *key])
        assert answer.status == 403, origin
        assert is_error(answer, method)
    own = ("Origin", "http://127.0.0.1:{port}")
    two = send(server, method, path, [own, ("Origin", "http://x.example"), *key])
    assert two.status == 403


@places
@pytest.mark.parametrize("site", FETCH_SITES, ids=range(len(FETCH_SITES)))
def test_what_another_site_lets_a_browser_send_is_refused(target, method, path, site):
    server, key = target
    answer = send(server, method, path, [*site, *key])
    assert answer.status == 403
    assert is_error(answer, method)


def test_a_link_on_another_site_leads_to_a_page_without_data(target):
    server, key = target
    site = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")]
    for method, path in PLACES:
        answer = send(server, method, path, [*site, *key])
        assert answer.status == (200 if (method, path) in {("GET", "/"), ("HEAD", "/")} else 403)
        assert b"Memories" not in answer.body


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PROPFIND", "CONNECT", "BREW"])
def test_no_method_is_answered_that_asks_for_rights(target, method):
    server, key = target
    asked = [
        ("Origin", "http://127.0.0.1:{port}"),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Private-Network", "true"),
    ]
    for path in {path for _method, path in PLACES}:
        answer = send(server, method, path, [*asked, *key])
        assert answer.status in (400, 405), path
        assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(("method", "path"), [p for p in PLACES if p[0] not in READS])
def test_bodies_are_json_plain_and_of_bounded_size(target, method, path):
    server, key = target
    for kind in BAD_TYPES:
        headers = [] if kind is None else [("Content-Type", kind)]
        body = b'{"query": "x"}'
        answer = server.request(method, path, [*headers, *key], body)
        assert answer.status == 415, kind
        assert is_error(answer, method)
    packed = send(server, method, path, [("Content-Encoding", "gzip"), *key], b"{}")
    assert packed.status == 415
    huge = [("Content-Type", "application/json"), ("Content-Length", "300000000"), *key]
    expected = (403, 413) if (method, path) in OWNER_ONLY else (413,)
    assert server.request(method, path, huge).status in expected
    both = [("Transfer-Encoding", "chunked"), ("Content-Length", "2"), *key]
    json_type = ("Content-Type", "application/json")
    assert server.request(method, path, [json_type, *both]).status == 400


@places
def test_heads_are_of_bounded_size(target, method, path):
    server, key = target
    for headers, statuses in (
        ([("X-Long", "a" * 200_000)], {431, 400}),
        ([("X", "1")] * 200, {431, 400}),
    ):
        assert send(server, method, path, [*headers, *key]).status in statuses
    assert send(server, method, f"{path}?{'a' * 100_000}", key).status == 414


@places
def test_without_the_key_nothing_is_told(keyed, method, path):
    server = attacked(keyed)
    for headers in BAD_KEYS:
        answer = send(server, method, path, headers)
        if (method, path) in OPEN:
            assert answer.status == (422 if path == "/identity" else 200)
            assert MEMORY.encode() not in answer.body
            assert b"Memories" not in answer.body
        else:
            # A key that is sent and wrong may be told to wait.
            assert answer.status in ((401, 429) if headers else (401,)), headers
            assert is_error(answer, method)
            if answer.status == 401:
                assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(("method", "path"), [p for p in PLACES if p not in OPEN])
def test_nor_with_the_key_in_the_address(keyed, method, path):
    server = attacked(keyed)
    for query in (f"api_key={KEY}", f"key={KEY}&X-API-Key={KEY}", f"token={KEY}"):
        assert send(server, method, f"{path}?{query}").status == 401


def test_what_is_open_tells_little(keyed):
    assert keyed.ask("GET", "/health") == (
        200,
        {"status": "OK", "service": "cloxy", "version": keyed.ask("GET", "/health")[1]["version"]},
    )
    assert sorted(keyed.ask("GET", f"/identity?nonce={'0' * 64}")[1]) == [
        "proof",
        "service",
        "version",
    ]
    assert b"Memories" not in keyed.raw("GET", "/")[2]


@pytest.mark.parametrize("host", GOOD_HOSTS)
def test_own_names_are_answered_everywhere(target, host):
    server, key = target
    for method, path in PLACES:
        if method in READS and path != "/mcp":
            answer = send(server, method, path, [("Host", host), *key])
            assert answer.status in (200, 404, 422, 400), (method, path)


def test_every_answer_carries_the_security_headers(target):
    server, key = target
    for method, path in (*PLACES, ("GET", "/no-such-page"), ("PUT", "/recall")):
        foreign = [("Origin", "http://x.example")]
        for headers in [[], key, foreign] if method == "GET" and path != "/mcp" else [foreign]:
            answer = send(server, method, path, headers)
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["cache-control"] == "no-store"
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert "unsafe" not in answer.headers["content-security-policy"]
            assert not [name for name in answer.headers if name.startswith("access-control-")]
            assert "server" not in answer.headers


def test_no_read_changes_anything(keyed):
    before = rows(keyed)
    server = attacked(keyed)
    for method, path in PLACES:
        if method in READS and path != "/mcp":
            send(server, method, path, [("X-API-Key", KEY)])
    assert rows(keyed) == before


def test_either_header_carries_the_key(keyed):
    for headers in ({"X-API-Key": KEY}, {"Authorization": f"Bearer {KEY}"}):
        status, body = keyed.ask("GET", "/health", headers=headers)
        assert status == 200
        assert body["auth"] == "enabled"


@pytest.mark.parametrize("path", ["//recall", "/RECALL", "/recall/", "/%2e%2e/recall", "/./recall"])
def test_no_spelling_of_a_path_goes_round_the_key(keyed, path):
    answer = send(attacked(keyed), "POST", path, [], b'{"query": "heron"}')
    assert answer.status == 401


@pytest.mark.parametrize(
    "path", ["//health", "/health/", "/HEALTH", "/health;x", "/health%00", "//"]
)
def test_no_spelling_of_an_open_path_opens_another(keyed, path):
    answer = send(attacked(keyed), "GET", path)
    assert answer.status in (401, 404)
    assert MEMORY.encode() not in answer.body


def test_the_key_and_the_token_are_in_no_file_but_their_own(keyed):
    keyed.ask("GET", "/projects", headers={"X-API-Key": KEY})
    token = (keyed.data / "owner.token").read_bytes().strip()
    for file in keyed.folder.rglob("*"):
        if file.is_file() and file.name != "owner.token":
            content = file.read_bytes()
            assert KEY.encode() not in content, file
            assert token not in content, file


def test_unknown_places_are_told_what_to_do(unlocked):
    status, _headers, data = unlocked.raw("GET", "/no-such-page")
    assert status == 404
    assert json.loads(data)["error"]["hint"]
    status, headers, data = unlocked.raw("GET", "/recall")
    assert status == 405
    assert "POST" in headers["allow"]
    assert json.loads(data)["error"]["hint"]
