"""Every place of the application, asked of the application itself, and a real server to attack."""

import asyncio
import json
import re
import sqlite3
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from security.boundary_server import Running
from starlette.routing import Mount, Route, WebSocketRoute

from cloxy_core.app import application, open_host
from cloxy_core.core_settings import load_settings
from cloxy_core.engine import Engine
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy

MEMORY = "the harbour master keeps the heron in crate 17"
_FIELD = re.compile(r"\{[^}]*\}")


@cache
def every_place():
    """(method, path) of all that the application answers, mounted applications included."""
    with TemporaryDirectory() as folder:
        environment = {"CLOXY_DATA_DIR": folder, "CLOXY_WATCH_DIRS": folder, "CLOXY_WATCH": "0"}
        host = open_host(load_settings(environment))
        engine = Engine(host, DataDirectory.open(Path(folder) / "data"))
        try:
            policy = BoundaryPolicy("127.0.0.1", 9055, None, owner_token="0" * 64)
            app = application(engine, policy, _nothing, lambda: None)
            return tuple(sorted(set(places_of(app.routes))))
        finally:
            asyncio.run(engine.close())


@asynccontextmanager
async def _nothing(_app):
    yield


def places_of(routes, above=""):
    """(method, path) of routes, with `1` for each field of a path."""
    for route in routes:
        path = above + _FIELD.sub("1", route.path)
        if isinstance(route, Mount):
            # What is mounted decides itself what lies below: the place, and one below it.
            yield from [("GET", path), ("POST", path), ("GET", f"{path}/1"), ("POST", f"{path}/1")]
            yield from places_of(route.routes, path)
        elif isinstance(route, WebSocketRoute):
            yield "WEBSOCKET", path
        elif isinstance(route, Route):
            yield from ((method, path) for method in route.methods or ("GET", "POST"))
        else:
            raise AssertionError(f"a route of a kind that nobody looks at: {route!r}")


def attacked(live):
    """Raw requests to a live server."""
    return Running(urlsplit(live.url).port, [], None, set())


def rows(live):
    """All rows of the database but what indexes note by themselves, to see what was changed."""
    database = sqlite3.connect(f"file:{live.data / 'memory.db'}?mode=ro", uri=True)
    try:
        tables = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            " AND name != 'index_checkpoints'"
        ).fetchall()
        return {
            name: sorted(map(repr, database.execute(f'SELECT * FROM "{name}"').fetchall()))
            for (name,) in tables
        }
    finally:
        database.close()


def send(server, method, path, headers=(), body=None):
    """One request as a program would send it, with more headers; the answer."""
    headers = list(headers)
    if method == "WEBSOCKET":
        method = "GET"
        headers += [
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
        ]
    if body is None:
        body = b"{}" if method in {"POST", "PUT", "PATCH"} else b""
    if body and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", "application/json"))
    return server.request(method, path, headers, body)


def is_error(answer, method):
    """Whether an answer is one of our refusals, in JSON, with nothing stored in it."""
    assert MEMORY.encode() not in answer.body
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"
    if method != "HEAD":
        error = json.loads(answer.body)["error"]
        assert error["code"]
        assert error["message"]
    return True
