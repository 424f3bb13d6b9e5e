"""Work at the same time: how much of each kind runs, waits, and is held in memory."""

import asyncio
import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from security.boundary_server import MEMORY, make_app, running, until

from cloxy_core.surfaces.work import WorkClass

HOST = b"Host: 127.0.0.1:{port}\r\n"
POST = b"POST /ingest_text HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
GET = b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n"


class Counter:
    """An application whose requests stay until they are let go."""

    def __init__(self):
        self.now = 0
        self.most = 0
        self.release = threading.Event()
        self.entered = threading.Semaphore(0)

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        if scope["path"] != "/health":
            self.now += 1
            self.most = max(self.most, self.now)
            self.entered.release()
            while not self.release.is_set():
                await asyncio.sleep(0.01)
            self.now -= 1
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
        )
        await send({"type": "http.response.body", "body": b"ok"})


def test_a_class_of_work_is_bounded_and_the_rest_is_told_to_return():
    app = Counter()
    work = (WorkClass(frozenset({"/fetch", "/verify"}), running=2, waiting=3, retry_seconds=7),)
    with running(app, work=work) as server, ThreadPoolExecutor(12) as pool:
        raw = [GET.replace(b"/health", path) for path in (b"/fetch", b"/verify")] * 6
        answers = [pool.submit(server.send, one) for one in raw]
        early = [next_done(answers, seen) for seen in [set()] for _ in range(7)]
        assert {answer.status for answer in early} == {503}
        assert {answer.headers["retry-after"] for answer in early} == {"7"}
        assert server.send(GET).status == 200
        app.release.set()
        statuses = sorted(answer.result().status for answer in answers)
    assert statuses == [200] * 5 + [503] * 7
    assert app.most == 2


def next_done(futures, seen):
    while True:
        for future in futures:
            if future.done() and future not in seen:
                seen.add(future)
                return future.result()
        time.sleep(0.01)


def test_five_hundred_recalls_at_once_are_answered_or_told_to_return():
    calls = []
    with running(make_app(calls)) as server, ThreadPoolExecutor(64) as pool:
        raw = POST.replace(b"/ingest_text", b"/recall") + b"Content-Length: 2\r\n\r\n{}"
        answers = list(pool.map(lambda _: server.send(raw), range(500)))
    assert {answer.status for answer in answers} <= {200, 503}
    assert all("retry-after" in a.headers for a in answers if a.status == 503)
    assert MEMORY.encode() in answers[0].body


def test_bodies_held_together_have_a_budget():
    with running(body_seconds=600.0) as server, contextlib.ExitStack() as stack:
        server.boundary._bodies._budget = 100_000
        for _ in range(3):
            sock = stack.enter_context(server.connect())
            sock.sendall(server.fill(POST + b"Content-Length: 60000\r\n\r\n") + b"x" * 30_000)
        until(lambda: server.boundary._bodies.held >= 90_000)
        big = POST + b"Content-Length: 20000\r\n\r\n" + b"x" * 20_000
        answer = server.send(big)
        assert (answer.status, answer.code) == (503, "busy")
        stack.close()
        until(lambda: not server.boundary._bodies.held)
        assert server.send(big).status == 200
