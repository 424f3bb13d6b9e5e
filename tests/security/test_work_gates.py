"""Operations share their places, whatever door they are called by; open streams have their own."""

import asyncio

import pytest
from pydantic import BaseModel
from security.boundary_server import running

from cloxy_core.surfaces.http.limits import DEFAULT_WORK, PathGates
from cloxy_core.surfaces.operations import Operation
from cloxy_core.surfaces.work import BusyError, Gates, WorkClass, WorkGate
from cloxy_hookspecs import OperationProvider, Route, Tool


class Nothing(BaseModel):
    """No fields."""


class Stalled:
    """An operation whose calls stay until they are let go."""

    def __init__(self, *, running=2, waiting=1):
        tool = Tool(name="stall", title="Stall", description="Stalls.")
        record = OperationProvider(
            name="stall",
            summary="Stall",
            input=Nothing,
            output=Nothing,
            create=lambda _context: self.call,
            effect="read",
            doors=(tool, Route("POST", "/stall")),
        )
        classes = (WorkClass(frozenset({"/stall"}), running=running, waiting=waiting),)
        self.operation = Operation(record, self.call, Gates(classes).of(record))
        self.now = self.most = 0
        self.release = asyncio.Event()

    async def call(self, _given):
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.release.wait()
        finally:
            self.now -= 1
        return Nothing()


def test_an_operation_has_its_places_at_every_door():
    async def scenario():
        work = Stalled(running=2, waiting=1)
        calls = [asyncio.create_task(work.operation.run({})) for _ in range(3)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with pytest.raises(BusyError) as refused:
            await work.operation.run({})
        work.release.set()
        await asyncio.gather(*calls)
        return work, refused.value

    work, error = asyncio.run(scenario())
    assert work.most == 2
    assert (error.code, error.http_status, error.retryable) == ("busy", 503, True)
    assert "try again" in error.hint


def test_a_cancelled_call_gives_its_place_back():
    async def scenario():
        work = Stalled(running=1, waiting=1)
        held = asyncio.create_task(work.operation.run({}))
        waiting = asyncio.create_task(work.operation.run({}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for task in (waiting, held):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        work.release.set()
        await work.operation.run({})

    asyncio.run(scenario())


def test_who_waits_too_long_is_told_to_return():
    async def scenario():
        gate = WorkGate(WorkClass(frozenset(), running=1, waiting=1), wait_seconds=0.01)
        assert await gate.enter()
        assert not await gate.enter()
        gate.leave()
        assert await gate.enter()

    asyncio.run(scenario())


def test_an_operation_of_no_class_is_not_bounded():
    record = Stalled().operation.record
    assert Gates(()).of(record) is None


def test_streams_and_calls_of_mcp_do_not_take_each_others_places():
    gates = PathGates(DEFAULT_WORK)
    streams, calls = gates.of("GET", "/mcp"), gates.of("POST", "/mcp")
    assert streams is not None
    assert calls is not None
    assert streams is not calls
    assert gates.of("DELETE", "/mcp") is calls
    assert gates.of("GET", "/health") is None
    assert gates.of("POST", "/recall") is None


async def endless(scope, receive, send):
    """Streams an event, and then stays until the client leaves."""
    if scope["type"] != "http":
        return
    kind = b"text/event-stream" if scope["path"] == "/mcp" else b"application/json"
    headers = [(b"content-type", kind)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    if scope["path"] == "/mcp":
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
    else:
        await send({"type": "http.response.body", "body": b"{}"})


def test_open_streams_are_bounded_outlive_every_limit_and_delay_nobody():
    get = b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
    short = {"head_seconds": 1.0, "body_seconds": 0.2, "idle_seconds": 1, "write_seconds": 0.2}
    work = (WorkClass(frozenset({"/mcp"}), running=3, waiting=0, methods=frozenset({"GET"})),)
    with running(endless, work=work, **short) as server:
        streams = []
        try:
            for _ in range(3):
                streams.append(server.connect())
                streams[-1].sendall(server.fill(get))
                assert b"data: 1" in _read_until(streams[-1], b"data: 1")
            assert server.send(get).status == 503
            # Looking at all lasts several times as long as any limit: none may have been cut.
            for _ in range(60):
                assert server.request("GET", "/health").status == 200
            for stream in streams:
                stream.settimeout(1.0)
                with pytest.raises(TimeoutError):
                    stream.recv(1)
        finally:
            for stream in streams:
                stream.close()


def _read_until(stream, wanted):
    seen = b""
    while wanted not in seen and (piece := stream.recv(4096)):
        seen += piece
    return seen
