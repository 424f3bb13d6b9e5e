"""Sessions that nobody ended: the ones that were quiet longest make room for new ones."""

import asyncio
import functools
import json

import pytest

from cloxy_core.surfaces.mcp.sdk import running
from cloxy_core.surfaces.mcp.sdk.running import RunningServer
from cloxy_core.surfaces.mcp.sdk.sessions import Sessions


def in_a_loop(test):
    """A test that is a coroutine."""

    @functools.wraps(test)
    def run(*arguments, **named):
        asyncio.run(test(*arguments, **named))

    return run


class Library:
    """What the library does with requests of sessions; `slow` requests wait for `released`."""

    def __init__(self):
        self.open = set()
        self.count = 0
        self.released = asyncio.Event()

    async def __call__(self, scope, receive, send):
        headers = dict(scope["headers"])
        session = headers.get(b"mcp-session-id")
        status, sent = 200, []
        if session is None and scope["method"] != "POST":
            status = 400
        elif session is None:
            self.count += 1
            session = b"s%d" % self.count
            self.open.add(session)
            sent = [(b"Mcp-Session-Id", session)]
        elif session not in self.open:
            status = 404
        elif scope["method"] == "DELETE":
            self.open.discard(session)
        await send({"type": "http.response.start", "status": status, "headers": sent})
        if b"slow" in headers:
            await self.released.wait()
        await send({"type": "http.response.body", "body": b""})


async def ask(app, method="POST", session=None, *, slow=False):
    """The status of an answer."""
    told = []

    async def send(message):
        told.append(message)

    headers = [] if session is None else [(b"mcp-session-id", session)]
    headers += [(b"slow", b"1")] if slow else []
    await app({"type": "http", "method": method, "headers": headers}, None, send)
    return told[0]["status"]


@in_a_loop
async def test_who_was_quiet_longest_makes_room():
    library = Library()
    app = Sessions(library, 3)
    for _ in range(3):
        assert await ask(app) == 200
    assert await ask(app, session=b"s1") == 200
    assert await ask(app) == 200
    assert library.open == {b"s1", b"s3", b"s4"}
    assert await ask(app, session=b"s2") == 404


@in_a_loop
async def test_a_session_in_use_stays():
    library = Library()
    app = Sessions(library, 2)
    await ask(app)
    stream = asyncio.create_task(ask(app, "GET", b"s1", slow=True))
    await asyncio.sleep(0)
    for _ in range(5):
        assert await ask(app) == 200
    assert library.open == {b"s1", b"s6"}
    library.released.set()
    assert await stream == 200
    # Now it is a session like others, and the one that was heard of last.
    await ask(app)
    assert library.open == {b"s1", b"s7"}


@in_a_loop
async def test_when_all_are_in_use_the_library_decides():
    library = Library()
    app = Sessions(library, 1)
    await ask(app)
    stream = asyncio.create_task(ask(app, "GET", b"s1", slow=True))
    await asyncio.sleep(0)
    await ask(app)
    assert library.open == {b"s1", b"s2"}
    library.released.set()
    await stream


@pytest.mark.parametrize("ended", ["deleted", "by the library"])
@in_a_loop
async def test_an_ended_session_takes_no_place(ended):
    library = Library()
    app = Sessions(library, 2)
    await ask(app)
    await ask(app)
    if ended == "deleted":
        assert await ask(app, "DELETE", b"s2") == 200
    else:
        library.open.discard(b"s1")
    await ask(app)
    assert len(library.open) == 2
    assert await ask(app, "GET") == 400  # opens nothing, and is not counted
    assert b"s3" in library.open


class NoCalls:
    """A server without doors."""

    class catalogue:
        tools = {}  # noqa: RUF012 - never changed


@in_a_loop
async def test_the_real_server_takes_new_clients_for_ever(monkeypatch):
    monkeypatch.setattr(running, "MOST_SESSIONS", 3)
    monkeypatch.setattr(running, "SPARE_SESSIONS", 1)
    server = RunningServer(NoCalls, 100_000)
    await server.start()
    try:
        sessions = [await handshake(server) for _ in range(10)]
        assert len(set(sessions)) == 10
        assert await ping(server, sessions[-1]) == 200
        assert await ping(server, sessions[0]) == 404
    finally:
        await server.close()


async def handshake(server):
    """The name of a new session."""
    client = {"name": "x", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    body = json.dumps(message).encode()
    status, headers = await post(server, body)
    assert status == 200
    return headers[b"mcp-session-id"]


async def ping(server, session):
    body = b'{"jsonrpc":"2.0","id":2,"method":"ping"}'
    return (await post(server, body, (b"mcp-session-id", session)))[0]


async def post(server, body, *more):
    told = []
    given = [{"type": "http.request", "body": body, "more_body": False}]
    never = asyncio.Event()

    async def receive():
        if given:
            return given.pop()
        await never.wait()
        return None

    async def send(message):
        told.append(message)

    headers = [
        (b"content-type", b"application/json"),
        (b"accept", b"application/json, text/event-stream"),
        (b"content-length", b"%d" % len(body)),
        *more,
    ]
    scope = {
        "type": "http", "method": "POST", "path": "/mcp", "raw_path": b"/mcp", "root_path": "",
        "scheme": "http", "query_string": b"", "headers": headers, "http_version": "1.1",
    }  # fmt: skip
    await server(scope, receive, send)
    return told[0]["status"], {name.lower(): value for name, value in told[0]["headers"]}
