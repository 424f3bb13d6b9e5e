"""A real uvicorn server behind the boundary, and raw requests to it."""

import contextlib
import http.client
import json
import socket
import threading
import time
from dataclasses import dataclass, replace

import uvicorn
from fastapi import FastAPI, Request
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Mount, Route

from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy
from cloxy_core.surfaces.http.server import server_config

KEY = "Zr8-unit-Kq4wXv9-mBt2"
MEMORY = "the launch code is heron"
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self):
        return json.loads(self.body)["error"]["code"]


@dataclass(frozen=True, slots=True)
class Running:
    port: int
    calls: list
    boundary: object
    connections: set

    def send(self, raw, timeout=PATIENCE):
        """Send bytes as they are (`{port}` filled in) and read one answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as sock:
            with contextlib.suppress(ConnectionError):
                sock.sendall(self.fill(raw))
            return read_answer(sock, raw[:4].decode("latin-1").strip())

    def fill(self, raw):
        return raw.replace(b"{port}", str(self.port).encode())

    def request(self, method, path, headers=(), body=b""):
        """Send a request with a good Host unless the headers bring their own."""
        headers = list(headers)
        if not any(name.lower() == "host" for name, _ in headers):
            headers.insert(0, ("Host", "127.0.0.1:{port}"))
        if body and not any(name.lower() == "transfer-encoding" for name, _ in headers):
            headers.append(("Content-Length", str(len(body))))
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
        return self.send("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def connect(self, timeout=PATIENCE):
        return socket.create_connection(("127.0.0.1", self.port), timeout)


def read_answer(sock, method="GET"):
    response = http.client.HTTPResponse(sock, method=method)
    response.begin()
    headers = {}
    for name, value in response.getheaders():
        headers[name.lower()] = value
    return Answer(response.status, headers, response.read())


def until(condition):
    """Wait for something that the server does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.01)


def is_closed(sock, timeout=PATIENCE):
    """Read until the server ends the connection; False when it stays open."""
    sock.settimeout(timeout)
    try:
        while sock.recv(65536):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def make_app(calls):
    app = FastAPI()

    async def note(request: Request):
        body = await request.body()
        calls.append((request.method, request.url.path, len(body), request.state.authenticated))
        return JSONResponse({"memory": MEMORY, "length": len(body)})

    async def minimal(request: Request):
        calls.append((request.method, request.url.path, 0, request.state.authenticated))
        shown = {"status": "OK"}
        if request.state.authenticated:
            shown["memory"] = MEMORY
        return JSONResponse(shown)

    async def lax(request: Request):
        return PlainTextResponse(
            "open",
            headers={
                "Access-Control-Allow-Origin": "*",
                "Content-Security-Policy": "default-src *",
                "Cache-Control": "max-age=60",
                "Server": "leaky",
            },
        )

    async def explode(request: Request):
        raise RuntimeError(f"{MEMORY}\nforged line {request.url.query}")

    async def large(request: Request):
        async def pieces():
            for _ in range(400):
                yield b"x" * 65536

        return StreamingResponse(pieces())

    for path in ("/", "/health"):
        app.add_api_route(path, minimal, methods=["GET", "HEAD"])
    for path in ("/recall", "/ingest_text", "/reindex"):
        app.add_api_route(path, note, methods=["GET", "POST"])
    app.add_api_route("/memory/{number}", note, methods=["GET", "DELETE", "PUT", "PATCH"])
    for path, endpoint in (("/lax", lax), ("/explode", explode), ("/large", large)):
        app.add_api_route(path, endpoint, methods=["GET"])
    inner = Starlette(routes=[Route("/{rest:path}", note, methods=["GET", "POST"])])
    app.router.routes.append(Mount("/mcp", inner))
    app.router.routes.append(Mount("/static", inner))
    return app


@contextlib.contextmanager
def running(app=None, *, by_descriptor=False, **changes):
    """Run the server in a thread for the time of the block."""
    calls = []
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    policy = BoundaryPolicy(host="127.0.0.1", port=listener.getsockname()[1], api_key=None)
    policy = replace(policy, **changes)
    fd = listener.fileno() if by_descriptor else None
    config = server_config(app or make_app(calls), policy, fd=fd)
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    sockets = None if by_descriptor else [listener]
    thread = threading.Thread(target=server.run, kwargs={"sockets": sockets}, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.005)
    assert server.started, "the server did not start"
    try:
        yield Running(policy.port, calls, config.app, server.server_state.connections)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listener.close()
