"""Forgetting that breaks off after its commit is brought to its end behind."""

import asyncio
import time
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from server.live_server import PATIENCE

from cloxy_core.app import application
from cloxy_core.services.retention import service as retention
from cloxy_core.services.write import service as memory_service
from cloxy_core.services.write.erasing import BEHIND
from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy
from cloxy_core.surfaces.mcp.pages import Kept
from cloxy_hookspecs import StoreFullError

INGEST = Path(__file__).parent.parent / "ingest"
CANARY = "quetzalmondkalb"
PROJECT = "/srv/demo/app"
TURNS = 400


@pytest.fixture
def lines(monkeypatch):
    monkeypatch.syspath_prepend(str(INGEST))
    return __import__("session_lines")


@pytest.fixture
def told(tmp_path, lines):
    """A server without HTTP that read two sessions, one of them with the canary as its title."""
    with __import__("ingest_support").Server(tmp_path) as server:
        said = f"{CANARY} walks 0 of s1"
        title = {"type": "custom-title", "customTitle": said, "sessionId": "s1"}
        records = [*lines.turns(TURNS, session="s1", stem=f"{CANARY} walks"), title]
        server.write(lines.lines(*records), "s1.jsonl")
        server.write(lines.lines(*lines.turns(TURNS, session="s2", stem="harbours")), "s2.jsonl")
        server.ingest()
        yield server


def erased(server):
    """Wait until no file holds it; what is done behind goes on meanwhile."""
    deadline = time.monotonic() + PATIENCE
    while found := server.holders(CANARY):
        assert time.monotonic() < deadline, found
        server.do(asyncio.sleep(0.1))


def full(*_arguments, **_more):
    raise StoreFullError("the disk is full")


def failing_once(monkeypatch, owner, name):
    """Have a method fail the first time."""
    real, calls = getattr(owner, name), []

    async def method(*arguments, **more):
        calls.append(1)
        return full() if len(calls) == 1 else await real(*arguments, **more)

    monkeypatch.setattr(owner, name, method)
    return calls


def test_whoever_asked_goes_away(told):
    memories = told.engine.memories
    settle, asked = memories.settle, asyncio.Event()

    async def hang():
        asked.set()
        await asyncio.Event().wait()

    async def leave():
        memories.settle = hang
        task = asyncio.create_task(memories.forget_session("s1"))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        memories.settle = settle

    told.do(leave())
    assert told.rows("SELECT key FROM sessions") == [("s2",)]
    erased(told)


@pytest.mark.parametrize("what", ["drain", "retitle"])
def test_the_disk_is_full_after_the_commit(told, monkeypatch, what):
    if what == "drain":
        calls = failing_once(monkeypatch, told.engine.indexing, "drain")
    else:
        calls = failing_once(monkeypatch, memory_service, "retitle")
    (first,) = told.rows(
        "SELECT min(memories.id) FROM memories JOIN sessions ON sessions.id = session_id"
        " WHERE key = 's1'"
    )[0]
    done = told.forget(first)
    assert done.messages > 0
    assert calls
    assert "the disk is full" in done.pending
    # Of the rest of the session only the title quotes what is gone.
    deadline = time.monotonic() + PATIENCE
    while told.engine.store.unerased or told.holders(f"{CANARY} walks 0 of"):
        assert time.monotonic() < deadline
        told.do(asyncio.sleep(0.1))


def test_a_rule_that_breaks_off_is_erased_behind(told, monkeypatch):
    told.do(told.engine.rules.keep_for(PROJECT, 1))
    monkeypatch.setattr(retention, "PASSAGES", 40)
    some, calls = told.engine.rules._expire_some, []

    async def fail_later(project):
        calls.append(1)
        return full() if len(calls) == 2 else await some(project)

    monkeypatch.setattr(retention.RuleService, "_expire_some", lambda _self, p: fail_later(p))
    heard = []
    told.engine.memories.eraser.listeners.append(lambda: heard.append(1))

    async def expire():
        with pytest.raises(StoreFullError):
            await told.engine.rules.expire()
        return told.engine.store.facts().warnings

    # Said from the first moment, not only when it is begun.
    assert BEHIND in told.do(expire())
    deadline = time.monotonic() + PATIENCE
    while told.engine.store.unerased:
        assert time.monotonic() < deadline
        told.do(asyncio.sleep(0.1))
    assert heard
    assert 0 < told.value("SELECT count(*) FROM passages") < 2 * TURNS
    stems = ((f"{CANARY} walks", "s1"), ("harbours", "s2"))
    words = [f"{stem} {n} of {key}" for stem, key in stems for n in range(TURNS)]
    kept = " ".join(row[0] for row in told.rows("SELECT content FROM memories"))
    gone = [word for word in words if word not in kept]
    assert gone
    assert told.holders(*gone) == []


def test_a_rule_drops_the_answers_that_are_kept_for_clients(told, monkeypatch):
    @asynccontextmanager
    async def nothing(_app):
        yield

    policy = BoundaryPolicy("127.0.0.1", 9055, None, owner_token="0" * 64)
    app = application(told.engine, policy, nothing, lambda: None)
    shelf = app.state.mcp._shelf
    shelf.put(Kept("id", "recall", {}, None, {}, []), shelf.cleared)
    assert shelf._kept
    told.do(told.engine.rules.expire())
    assert shelf._kept, "nothing was removed"
    told.do(told.engine.rules.keep_for(PROJECT, 1))
    shelf.put(Kept("id", "recall", {}, None, {}, []), shelf.cleared)
    told.do(told.engine.rules.expire())
    assert not shelf._kept
    erased(told)


def test_what_is_forgotten_while_something_is_erased_is_not_done_with_it(told, monkeypatch):
    """Whoever forgot it may be gone before its turn, and the process after that."""
    store, memories = told.engine.store, told.engine.memories
    erase, forgotten = store.erase, []

    async def slow():
        done = await erase()
        if not forgotten:
            forgotten.append(1)
            # Its text was not among what has just been erased.
            await store.write(memories.eraser.note, durable=True)
        return done

    monkeypatch.setattr(store, "erase", slow)

    async def settle():
        pending = await memories.settle()
        return pending, store.facts().warnings

    pending, warnings = told.do(settle())
    assert pending is None  # of what this one had to erase
    assert BEHIND in warnings
    noted = "SELECT count(*) FROM counters WHERE key = 'forget.pending'"
    assert told.value(noted) == 1
    deadline = time.monotonic() + PATIENCE
    while store.unerased:
        assert time.monotonic() < deadline
        told.do(asyncio.sleep(0.1))
    assert told.value(noted) == 0
