"""Host, Origin and Fetch Metadata: which names and pages the server answers to."""

import pytest
from security.attacks import BAD_HOSTS, BAD_ORIGINS, GOOD_HOSTS
from security.boundary_server import MEMORY, running

JSON = ("Content-Type", "application/json")
ROUTES = [
    ("GET", "/"),
    ("GET", "/health"),
    ("HEAD", "/health"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("GET", "/no-such-page"),
    ("POST", "/recall"),
    ("DELETE", "/memory/1"),
    ("PATCH", "/memory/1"),
    ("GET", "/static/app.js"),
    ("POST", "/mcp/"),
    ("OPTIONS", "/recall"),
]
RAW_TARGETS = {
    "no Host": (b"GET /health HTTP/1.1\r\n\r\n", 421),
    "no Host, HTTP/1.0": (b"GET /health HTTP/1.0\r\n\r\n", 421),
    "two Hosts": (
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: rebound.example\r\n\r\n",
        421,
    ),
    "the same Host twice": (
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        421,
    ),
    "absolute target, foreign": (
        b"GET http://rebound.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        400,
    ),
    "absolute target, own": (
        b"GET http://localhost:{port}/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        400,
    ),
    "target with userinfo": (
        b"GET http://localhost@rebound.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        400,
    ),
    "authority target": (b"CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "asterisk target": (b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "forwarded host": (
        b"GET /health HTTP/1.1\r\nHost: rebound.example\r\nX-Forwarded-Host: localhost\r\n"
        b"Forwarded: host=localhost\r\n\r\n",
        421,
    ),
}


@pytest.fixture(scope="module")
def live():
    with running() as server:
        yield server


def refused(live, answer, status, code):
    assert (answer.status, answer.code) == (status, code)
    assert live.calls == []
    assert MEMORY.encode() not in answer.body


@pytest.fixture(autouse=True)
def fresh(live):
    live.calls.clear()


@pytest.mark.parametrize("host", GOOD_HOSTS)
def test_own_names_are_answered(live, host):
    assert live.request("GET", "/health", [("Host", host)]).status == 200


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_other_names_are_refused(live, host):
    answer = live.request("GET", "/health", [("Host", host)])
    refused(live, answer, 421, "misdirected_host")
    assert b"CLOXY_ALLOWED_HOSTS" in answer.body
    assert set(answer.body) <= set(range(32, 127))


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_the_host_rule_covers_every_route(live, method, path):
    answer = live.request(method, path, [("Host", "rebound.example"), JSON])
    assert answer.status == 421
    assert live.calls == []


@pytest.mark.parametrize(("raw", "status"), RAW_TARGETS.values(), ids=RAW_TARGETS)
def test_targets_and_missing_or_repeated_hosts(live, raw, status):
    answer = live.send(raw)
    assert answer.status == status
    assert json_error(answer)
    assert live.calls == []


def json_error(answer):
    return answer.headers["content-type"] == "application/json" and answer.code


def test_forwarded_addresses_change_nothing(live):
    headers = [("X-Forwarded-For", "203.0.113.9"), ("X-Real-IP", "127.0.0.1")]
    assert live.request("GET", "/health", headers).status == 200


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_own_pages_may_call(live, name):
    headers = [("Origin", f"http://{name}:{{port}}"), ("Sec-Fetch-Site", "same-origin"), JSON]
    assert live.request("POST", "/recall", headers, b"{}").status == 200


@pytest.mark.parametrize("origin", BAD_ORIGINS)
def test_other_pages_may_not(live, origin):
    answer = live.request("POST", "/recall", [("Origin", origin), JSON], b"{}")
    refused(live, answer, 403, "bad_origin")


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_the_origin_rule_covers_every_route(live, method, path):
    answer = live.request(method, path, [("Origin", "http://rebound.example"), JSON])
    assert answer.status == 403
    assert live.calls == []


def test_two_origins_are_refused(live):
    headers = [("Origin", "http://localhost:{port}")] * 2
    refused(live, live.request("GET", "/recall", headers), 403, "bad_origin")


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_same_origin_and_typed_addresses_pass(live, site):
    assert live.request("GET", "/recall", [("Sec-Fetch-Site", site)]).status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "Same-Origin", "none, none"])
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_what_other_sites_cause_is_refused(live, method, path, site):
    headers = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "no-cors"), JSON]
    answer = live.request(method, path, headers)
    assert answer.status == 403
    assert live.calls == []


def test_repeated_fetch_site_is_refused(live):
    headers = [("Sec-Fetch-Site", "same-origin")] * 2
    refused(live, live.request("GET", "/recall", headers), 403, "cross_site")


def navigation(mode="navigate", dest="document"):
    return [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", mode),
        ("Sec-Fetch-Dest", dest),
    ]


def test_a_link_elsewhere_leads_to_the_page_without_data(live):
    answer = live.request("GET", "/", navigation())
    assert answer.status == 200
    assert MEMORY.encode() not in answer.body
    assert MEMORY.encode() in live.request("GET", "/").body


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/health", navigation()),
        ("GET", "/memory/1", navigation()),
        ("GET", "/", navigation(dest="iframe")),
        ("GET", "/", navigation(mode="cors")),
        ("POST", "/", navigation()),
    ],
)
def test_other_cross_site_navigations_are_refused(live, method, path, headers):
    refused(live, live.request(method, path, headers), 403, "cross_site")


def test_a_listed_name_is_answered_and_its_pages_may_call():
    names = ("Memory.example", "box.example:8443", "[fd00::7]")
    with running(allowed_hosts=names) as server:
        for host in ("memory.example", "memory.example:{port}", "box.example:8443", "[FD00::7]"):
            assert server.request("GET", "/health", [("Host", host)]).status == 200
        for host in ("box.example", "box.example:{port}", "x.memory.example", "memory.example:1"):
            assert server.request("GET", "/health", [("Host", host)]).status == 421
        for origin in ("https://memory.example", "http://memory.example:{port}"):
            assert server.request("GET", "/recall", [("Origin", origin)]).status == 200
        assert (
            server.request("GET", "/recall", [("Origin", "https://box.example:8443")]).status == 200
        )
        for origin in ("https://box.example", "https://localhost:{port}"):
            assert server.request("GET", "/recall", [("Origin", origin)]).status == 403
