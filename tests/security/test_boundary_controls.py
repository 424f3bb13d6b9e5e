"""Every rule taken out once: the attack it stops must then succeed.

A guard whose removal changes nothing is not tested by anything else either.
"""

import contextlib
import time

import pytest
from security.boundary_server import KEY, PATIENCE, is_closed, read_answer, running
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from cloxy_core.surfaces.http import boundary, boundary_keys, boundary_rules, protocol, server
from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy
from cloxy_hookspecs import ExposureError

HOST = b"Host: 127.0.0.1:{port}\r\n"
JSON = b"Content-Type: application/json\r\n"
ONE_BODY = b"Content-Length: 2\r\n\r\n{}"


class Echo:
    """Answers everything, and notes what it was given."""

    def __init__(self):
        self.reached = []

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        body = (await receive()).get("body", b"")
        names = [name for name, _ in scope["headers"]]
        self.reached.append((scope["method"], scope["path"], len(body), names))
        headers = [(b"content-length", b"2"), (b"access-control-allow-origin", b"*")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})


def without_rule(group, rule):
    def remove(monkeypatch):
        kept = tuple(one for one in getattr(boundary, group) if one is not rule)
        assert len(kept) == len(getattr(boundary, group)) - 1
        monkeypatch.setattr(boundary, group, kept)

    return remove


def base_method(name):
    def remove(monkeypatch):
        monkeypatch.setattr(protocol.BoundedProtocol, name, getattr(HttpToolsProtocol, name))

    return remove


def without_key(monkeypatch):
    monkeypatch.setattr(boundary_keys.KeyGate, "admits", lambda *_: True)


RULES = {
    "host": (
        without_rule("ORIGIN_RULES", boundary_rules.host_rule),
        b"GET /recall HTTP/1.1\r\nHost: rebound.example\r\n\r\n",
    ),
    "origin": (
        without_rule("ORIGIN_RULES", boundary_rules.origin_rule),
        b"POST /recall HTTP/1.1\r\nOrigin: http://rebound.example\r\n" + HOST + JSON + ONE_BODY,
    ),
    "fetch site": (
        without_rule("ORIGIN_RULES", boundary_rules.fetch_site_rule),
        b"GET /recall HTTP/1.1\r\nSec-Fetch-Site: cross-site\r\n" + HOST + b"\r\n",
    ),
    "method": (
        without_rule("FORM_RULES", boundary_rules.method_rule),
        b"OPTIONS /recall HTTP/1.1\r\n" + HOST + b"\r\n",
    ),
    "encoding": (
        without_rule("FORM_RULES", boundary_rules.encoding_rule),
        b"POST /recall HTTP/1.1\r\nContent-Encoding: gzip\r\n" + HOST + JSON + ONE_BODY,
    ),
    "content type": (
        without_rule("FORM_RULES", boundary_rules.content_type_rule),
        b"POST /recall HTTP/1.1\r\nContent-Type: text/plain\r\n" + HOST + ONE_BODY,
    ),
    "key": (without_key, b"GET /recall HTTP/1.1\r\n" + HOST + b"\r\n"),
    "origin form": (
        base_method("on_url"),
        b"GET http://rebound.example/recall HTTP/1.1\r\n" + HOST + b"\r\n",
    ),
    "header lines": (
        base_method("on_header"),
        b"GET /recall HTTP/1.1\r\n" + HOST + b"X: 1\r\n" * 200 + b"\r\n",
    ),
}


@pytest.mark.parametrize(("remove", "attack"), RULES.values(), ids=RULES)
def test_a_rule_is_what_stops_its_attack(monkeypatch, remove, attack, request):
    key = KEY if "[key]" in request.node.name else None
    app = Echo()
    with running(app, api_key=key) as live:
        assert live.send(attack).status in (400, 401, 403, 405, 415, 421, 431)
        assert app.reached == []
        remove(monkeypatch)
        assert live.send(attack).status == 200
        assert len(app.reached) == 1


def test_without_the_header_rule_a_permission_gets_out(monkeypatch):
    raw = b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n"
    with running(Echo()) as live:
        assert "access-control-allow-origin" not in live.send(raw).headers
        assert "x-content-type-options" in live.send(raw).headers
        monkeypatch.setattr(boundary, "secure_headers", list)
        assert "access-control-allow-origin" in live.send(raw).headers
        assert "x-content-type-options" not in live.send(raw).headers


def test_without_the_trailer_rule_a_header_slips_in_after_the_judgement(monkeypatch):
    raw = b"POST /recall HTTP/1.1\r\n" + HOST + JSON + b"Transfer-Encoding: chunked\r\n\r\n"
    raw += b"2\r\n{}\r\n0\r\nX-Late: 1\r\n\r\n"
    app = Echo()
    with running(app) as live:
        live.send(raw)
        base_method("on_header")(monkeypatch)
        live.send(raw)
    assert [b"x-late" in names for *_, names in app.reached] == [False, True]


def test_without_the_length_rule_the_body_is_waited_for(monkeypatch):
    raw = b"POST /recall HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 99999999\r\n\r\n"
    with running(Echo(), body_seconds=0.3) as live:
        assert live.send(raw).status == 413
        without_rule("SIZE_RULES", boundary_rules.length_rule)(monkeypatch)
        assert live.send(raw).status == 408


def test_without_the_size_limit_a_chunked_body_arrives():
    raw = b"POST /recall HTTP/1.1\r\n" + HOST + JSON + b"Transfer-Encoding: chunked\r\n\r\n"
    raw += (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 48 + b"0\r\n\r\n"
    with running(Echo()) as live:
        assert live.send(raw).status == 413
    with running(Echo(), max_unsized_body=10**9) as live:
        assert live.send(raw).status == 200


@pytest.mark.parametrize("start", [b"", b"GET /health HTTP/1.1\r\n"])
def test_without_the_head_timer_a_half_open_connection_stays(monkeypatch, start):
    with running(Echo(), head_seconds=0.3) as live:
        with live.connect() as sock:
            sock.sendall(start)
            assert is_closed(sock)
        monkeypatch.setattr(protocol.BoundedProtocol, "_start_head_timer", lambda _: None)
        with live.connect() as sock:
            sock.sendall(start)
            assert not is_closed(sock, 1.5)


def test_without_the_body_deadline_a_slow_body_stays():
    raw = b"POST /recall HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 9\r\n\r\nx"
    for seconds, patience, closed in ((0.3, PATIENCE, True), (PATIENCE, 1.5, False)):
        with running(Echo(), body_seconds=seconds) as live, live.connect() as sock:
            sock.sendall(live.fill(raw))
            assert is_closed(sock, patience) is closed


def test_without_the_byte_count_a_header_grows_for_ever(monkeypatch):
    def status(patience):
        with live.connect() as sock:
            sock.sendall(live.fill(b"GET /recall HTTP/1.1\r\n" + HOST + b"X: "))
            with contextlib.suppress(OSError):
                for _ in range(20):
                    sock.sendall(b"a" * 4096)
                    time.sleep(0.001)
            sock.settimeout(patience)
            with contextlib.suppress(TimeoutError):
                return read_answer(sock).status
        return None

    with running(Echo()) as live:
        assert status(PATIENCE) == 431
        base_method("data_received")(monkeypatch)
        assert status(0.8) is None


def test_without_the_back_off_guessing_goes_on(monkeypatch):
    raw = b"GET /recall HTTP/1.1\r\nX-API-Key: guess\r\n" + HOST + b"\r\n"
    with running(Echo(), api_key=KEY) as live:
        assert [live.send(raw).status for _ in range(40)][-1] == 429
        monkeypatch.setattr(boundary_keys, "FREE_FAILURES", 10**9)
        assert live.send(raw).status == 401


def test_without_the_exposure_rule_an_open_server_is_configured(monkeypatch):
    policy = BoundaryPolicy("0.0.0.0", 9055, None)
    with pytest.raises(ExposureError, match="refusing to listen"):
        server.server_config(Echo(), policy)
    monkeypatch.setattr(server, "check_exposure", lambda *_: None)
    assert server.server_config(Echo(), policy).host == "0.0.0.0"
