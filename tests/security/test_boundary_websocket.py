"""WebSockets pass the same rules; a refused one is closed before it is accepted."""

import asyncio

import pytest
from security.boundary_server import KEY, running

from cloxy_core.surfaces.http.boundary import Boundary
from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy


def open_websocket(headers, api_key=None):
    """Run a handshake through the layer; return what was sent and whether the app ran."""
    reached, sent = [], []

    async def app(scope, receive, send):
        reached.append(scope["state"]["authenticated"])
        await send({"type": "websocket.accept"})

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message["type"])

    scope = {"type": "websocket", "path": "/events", "headers": headers, "query_string": b""}
    boundary = Boundary(app, BoundaryPolicy("127.0.0.1", 9055, api_key))
    asyncio.run(boundary(scope, receive, send))
    return sent, reached


HOST = (b"host", b"127.0.0.1:9055")


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"host", b"rebound.example")],
        [HOST, HOST],
        [HOST, (b"origin", b"http://rebound.example")],
        [HOST, (b"origin", b"null")],
        [HOST, (b"sec-fetch-site", b"cross-site")],
        [HOST, (b"sec-fetch-site", b"cross-site"), (b"sec-fetch-mode", b"navigate")],
    ],
)
def test_foreign_handshakes_are_closed_before_they_are_accepted(headers):
    assert open_websocket(headers) == (["websocket.close"], [])


@pytest.mark.parametrize("extra", [[], [(b"origin", b"http://localhost:9055")]])
def test_own_handshakes_reach_the_application(extra):
    assert open_websocket([HOST, *extra]) == (["websocket.accept"], [True])


@pytest.mark.parametrize("key", [b"", b"wrong", None])
def test_a_handshake_needs_the_key(key):
    headers = [HOST] if key is None else [HOST, (b"x-api-key", key)]
    assert open_websocket(headers, KEY) == (["websocket.close"], [])


def test_the_right_key_opens():
    assert open_websocket([HOST, (b"x-api-key", KEY.encode())], KEY)[1] == [True]


def test_no_upgrade_happens_over_the_wire():
    upgrade = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]
    with running() as server:
        answer = server.request("GET", "/ws", [*upgrade, ("Origin", "http://rebound.example")])
        assert (answer.status, answer.code) == (403, "bad_origin")
        assert server.request("GET", "/ws", upgrade).status == 404
        assert server.calls == []


def test_other_scopes_are_not_passed_on():
    async def app(scope, receive, send):
        raise AssertionError("reached")

    boundary = Boundary(app, BoundaryPolicy("127.0.0.1", 9055, None))
    with pytest.raises(ValueError, match="http, websocket and lifespan"):
        asyncio.run(boundary({"type": "telepathy"}, None, None))
