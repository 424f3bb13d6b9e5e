"""A store that is full, busy or slow, and a pass that is cut off."""

import asyncio

import pytest
from ingest_support import append
from session_lines import lines, pairs, turns

from cloxy_hookspecs.errors import StoreBusyError, StoreFullError


def test_without_room_the_pass_fails_in_words_and_the_next_makes_it_whole(server):
    async def reason():
        return "only 3 MiB are free"

    has_room = server.engine.ingest.has_room
    path = server.write(lines(*turns(5)))
    server.engine.ingest.has_room = reason
    with pytest.raises(StoreFullError, match="only 3 MiB"):
        server.ingest()
    assert "only 3 MiB" in server.status().last_error
    assert server.sessions() == {}
    server.engine.ingest.has_room = has_room
    assert server.ingest().messages_added == 5
    assert server.status().last_error is None
    server.engine.ingest.has_room = reason
    moved = path.rename(path.with_name("moved.jsonl"))
    append(moved, lines(*turns(1, first=5)))
    with pytest.raises(StoreFullError):
        server.ingest()
    server.engine.ingest.has_room = has_room
    server.ingest()
    assert server.value("SELECT count(*) FROM sources") == 1
    assert server.messages() == pairs(*turns(6))
    server.check()


@pytest.mark.parametrize("error", [StoreBusyError, StoreFullError])
@pytest.mark.parametrize("failing", range(4))
def test_a_write_that_fails_leaves_nothing_half_done(server, monkeypatch, error, failing):
    server.write(lines(*turns(900)))
    server.write(lines(*turns(300, session="s2")), "b.jsonl")
    store, calls = server.engine.store, []
    original = store.write

    async def refusing(work, **more):
        calls.append(work)
        if len(calls) == failing + 1:
            raise error("no", hint="later")
        return await original(work, **more)

    monkeypatch.setattr(store, "write", refusing)
    with pytest.raises(error):
        server.ingest()
    assert server.status().last_error.startswith("no")
    monkeypatch.undo()
    server.check()
    server.ingest()
    assert server.sessions() == {
        "s1": pairs(*turns(900)),
        "s2": pairs(*turns(300, session="s2")),
    }
    server.check()
    assert server.ingest().files_skipped == 2


@pytest.mark.parametrize("failing", range(4))
def test_a_crash_after_any_commit_loses_and_doubles_nothing(server, monkeypatch, failing):
    server.write(lines(*turns(1300)))
    store, calls = server.engine.store, []
    original = store.write

    async def crashing(work, **more):
        value = await original(work, **more)
        calls.append(work)
        if len(calls) == failing + 1:
            raise KeyboardInterrupt
        return value

    monkeypatch.setattr(store, "write", crashing)
    with pytest.raises(KeyboardInterrupt):
        server.ingest()
    monkeypatch.undo()
    server.restart()
    server.ingest()
    assert server.messages() == pairs(*turns(1300))
    server.check()


def test_a_crash_in_a_second_reading_forgets_no_edit(server, monkeypatch):
    records = turns(1300)
    path = server.write(lines(*records))
    server.ingest()
    for number in (5, 700, 1250):
        changed = {"message": {"role": "user", "content": f"edited to {number}"}}
        records[number] = records[number] | changed
    path.write_bytes(lines(*records))
    store = server.engine.store
    original = store.write

    async def crashing(work, **more):
        await original(work, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "write", crashing)
    with pytest.raises(KeyboardInterrupt):
        server.ingest()
    monkeypatch.undo()
    server.restart()
    server.ingest()
    assert server.messages() == pairs(*records)
    server.check()


@pytest.mark.parametrize("steps", [1, 3, 6, 10, 20, 40])
def test_a_pass_that_is_cancelled_is_made_whole_by_the_next(server, steps):
    server.write(lines(*turns(1300)))

    async def cancelled():
        task = asyncio.create_task(server.engine.ingest.run())
        for _ in range(steps):
            await asyncio.sleep(0.002)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    server.do(cancelled())
    server.ingest()
    assert server.messages() == pairs(*turns(1300))
    server.check()


def test_two_passes_at_once_take_everything_once(server):
    server.write(lines(*turns(700)))

    async def twice():
        run = server.engine.ingest.run
        return await asyncio.gather(run(), run(force=True), run(server.watched))

    reports = server.do(twice())
    assert sum(report.messages_added for report in reports) == 700
    assert server.messages() == pairs(*turns(700))
    server.check()


def test_forgetting_and_remembering_while_a_pass_runs_keep_all_in_step(server):
    for number in range(8):
        server.write(lines(*turns(200, session=f"s{number}")), f"{number}.jsonl")

    async def together():
        task = asyncio.create_task(server.engine.ingest.run())
        memories = server.engine.memories
        from cloxy_hookspecs import Draft

        for number in range(12):
            done = await memories.remember(Draft(f"note number {number}", "note", "manual"))
            if number % 2:
                await memories.forget(done.ids[0])
            await memories.forget_source("convo:s3")
        await task
        await memories.forget_source("convo:s3")

    server.do(together())
    assert sorted(server.sessions()) == [f"s{n}" for n in range(8) if n != 3]
    assert server.notes() == [f"note number {n}" for n in range(0, 12, 2)]
    server.check()
    server.ingest(force=True)
    assert "s3" not in server.sessions()
    server.check()
