"""The watcher on real folders, with and without file events; patience, but no measure of time."""

import asyncio
import shutil
from pathlib import Path

import pytest
from ingest_support import Server, append
from session_lines import lines, pairs, turns

from cloxy_core.services.ingest.watcher import Watcher

PATIENCE = 120


class Watching:
    """A server with a watcher that looks often."""

    def __init__(self, server, **more):
        self.server = server
        self.more = {"interval": 0.05, "sweep": 0.3} | more

    async def __aenter__(self):
        engine = self.server.engine
        log = engine.ingest._log
        self.watcher = Watcher(engine.ingest, log=log, **self.more)
        self.task = asyncio.create_task(self.watcher.run())
        return self

    async def __aexit__(self, *_error):
        self.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await self.task

    async def until(self, condition, nudge=None):
        """Wait for something that the watcher does; what makes an event may be done meanwhile."""
        async with asyncio.timeout(PATIENCE):
            while not await condition():
                assert not self.task.done(), self.task
                if nudge is not None:
                    nudge()
                await asyncio.sleep(0.02 if nudge is None else 0.5)

    async def count(self):
        """Messages stored."""
        return await self.server.engine.store.read(
            lambda c: c.exec_driver_sql("SELECT count(*) FROM passages").scalar()
        )

    async def until_stored(self, count, nudge=None):
        """Wait until so many messages are stored."""

        async def reached():
            return await self.count() >= count

        await self.until(reached, nudge)

    async def until_events(self):
        """Wait until file events are followed."""

        async def followed():
            return self.server.engine.ingest.events

        await self.until(followed)


# A sweep that never comes leaves the events alone to bring what is new.
@pytest.mark.parametrize("more", [{"sweep": 3000.0, "interval": 3000.0}, {"use_events": False}])
def test_what_is_written_is_stored_soon(server, more):
    path = server.write(lines(*turns(2)))

    async def story():
        async with Watching(server, **more) as watching:
            await watching.until_stored(2)
            if "sweep" in more:
                await watching.until_events()
            append(path, lines(*turns(1, first=2)))
            await watching.until_stored(3)
            nested = server.file("agent-9.jsonl", "-srv-new.folder/s1/subagents")
            nested.write_bytes(lines(*turns(2, session="s2")))
            await watching.until_stored(5)
            append(nested, lines(*turns(1, session="s2", first=2)))
            # A new folder may be told of before what comes into it is followed.
            await watching.until_stored(6, nudge=nested.touch)

    server.do(story())
    assert server.messages() == pairs(*turns(3))
    server.check()


def test_a_file_that_is_watched_alone_is_followed(server, monkeypatch):
    path = server.write(lines(*turns(2)))
    forbidden = Path("/\0/not-a-path")
    monkeypatch.setattr(server.engine.ingest, "roots", lambda: [forbidden, path])

    async def story():
        # A sweep that never comes leaves the events alone to bring what is new.
        async with Watching(server, interval=0.05, sweep=3000.0) as watching:
            server.engine.ingest.progress.sweep_seconds = 3000.0
            await watching.until_stored(2)
            await watching.until_events()
            append(path, lines(*turns(1, first=2)))
            await watching.until_stored(3)

    server.do(story())
    assert server.messages() == pairs(*turns(3))


def test_a_folder_that_does_not_exist_yet_is_waited_for(tmp_path, monkeypatch):
    """What is in it by the time that it is found has made no event, and is read all the same."""
    monkeypatch.setattr(Watcher, "_pause", lambda _self: 3000.0)  # no sweep after the first
    with Server(tmp_path, watch=tmp_path / "later" / "projects") as server:

        async def swept():
            return server.engine.ingest.progress.scans

        async def story():
            async with Watching(server, sweep=3000.0) as watching:
                await watching.until(swept)
                assert await watching.count() == 0
                server.write(lines(*turns(2)))
                await watching.until_stored(2)

        server.do(story())
        server.check()


def test_a_watched_folder_that_is_replaced_is_followed(server):
    server.write(lines(*turns(2)))

    async def story():
        async with Watching(server, interval=0.05, sweep=0.3) as watching:
            await watching.until_stored(2)
            await watching.until_events()
            shutil.rmtree(server.watched)
            await asyncio.sleep(0.2)  # it is found gone, or not: both must end well
            server.write(lines(*turns(2), *turns(3, stem="other")))
            await watching.until_stored(5)
            await watching.until_events()
            append(server.file(), lines(*turns(1, stem="last")))
            await watching.until_stored(6)

    server.do(story())
    assert server.messages() == pairs(*turns(2), *turns(3, stem="other"), *turns(1, stem="last"))
    server.check()


def test_a_storm_of_events_is_taken_in_whole(server):
    async def story():
        async with Watching(server) as watching:
            await watching.until_events()
            for step in range(10):
                for number in range(40):
                    path = server.file(f"{number}.jsonl")
                    append(path, lines(*turns(5, session=f"s{number}", first=5 * step)))
                await asyncio.sleep(0)
            await watching.until_stored(2000)

    server.do(story())
    assert all(len(messages) == 50 for messages in server.sessions().values())
    server.check()


def test_a_pass_that_fails_does_not_end_the_watcher(server, monkeypatch, caplog):
    ingest = server.engine.ingest
    original, failures = ingest._pass, [OSError(5, "no"), ZeroDivisionError("no")]

    async def failing(readers, under, *, force, **more):
        if failures:
            raise failures.pop()
        return await original(readers, under, force=force)

    monkeypatch.setattr(ingest, "_pass", failing)
    server.write(lines(*turns(2)))

    async def story():
        async with Watching(server) as watching:
            await watching.until_stored(2)

    server.do(story())
    assert not failures
    assert "failed" in caplog.text


def test_file_events_that_cannot_be_had_are_replaced_by_sweeps(server, monkeypatch, caplog):
    from cloxy_core.services.ingest import watcher

    original = watcher.awatch

    def refusing(*paths, ignore_permission_denied, **more):
        # Told to pass over forbidden folders, the library says nothing of a limit either.
        if ignore_permission_denied:
            return original(*paths, **more)
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr(watcher, "awatch", refusing)

    async def story():
        async with Watching(server) as watching:
            await watching.until_stored(0)
            server.write(lines(*turns(2)))
            await watching.until_stored(2)
            assert not server.engine.ingest.events

    server.do(story())
    assert "sweeping instead" in caplog.text


def test_a_forbidden_folder_does_not_end_the_events(server, monkeypatch):
    from cloxy_core.services.ingest import watcher

    original, refused, followed = watcher.awatch, [], []

    def choosy(*paths, ignore_permission_denied, **more):
        if not ignore_permission_denied:
            refused.append(paths)
            raise PermissionError("Permission denied (os error 13)")
        followed.append(paths)
        return original(*paths, **more)

    monkeypatch.setattr(watcher, "awatch", choosy)

    async def story():
        async with Watching(server, sweep=3000.0, interval=3000.0) as watching:

            async def follows():
                return followed

            await watching.until(follows)
            server.write(lines(*turns(2)))
            await watching.until_stored(2)
            assert server.engine.ingest.events

    server.do(story())
    assert len(refused) == 1


def test_cancelling_leaves_no_task_and_no_lock_behind(server):
    server.write(lines(*turns(900)))

    async def story():
        before = asyncio.all_tasks()
        for delay in (0, 0.005, 0.02, 0.1, 0.4):
            async with Watching(server):
                await asyncio.sleep(delay)
        return asyncio.all_tasks() - before

    assert server.do(story()) == set()
    assert not server.engine.ingest.running
    server.ingest()
    assert server.messages() == pairs(*turns(900))
    server.check()


def test_an_idle_watcher_sweeps_in_proportion_to_the_cost(server, monkeypatch):
    ingest, naps = server.engine.ingest, []

    async def story():
        watcher = Watcher(ingest, interval=5.0, sweep=60.0, log=ingest._log, use_events=False)

        async def nap(seconds):
            naps.append(seconds)
            if len(naps) == 9:
                raise asyncio.CancelledError
            return False

        async def costing(_under):
            ingest.progress.sweep_seconds = [0.001, 0.2, 3.0][len(naps) % 3]

        monkeypatch.setattr(watcher, "_sleep", nap)
        monkeypatch.setattr(watcher, "_attempt", costing)
        with pytest.raises(asyncio.CancelledError):
            await watcher.run()

    server.do(story())
    assert sorted({round(nap) for nap in naps}) == [5, 20, 60]


@pytest.mark.parametrize("events", [True, False])
def test_the_engine_watches_when_it_is_told_to(tmp_path, monkeypatch, events):
    from cloxy_core.services.ingest import watcher

    followed = []
    original = watcher.awatch
    monkeypatch.setattr(watcher, "awatch", lambda *a, **k: followed.append(a) or original(*a, **k))
    environ = {"CLOXY_WATCH": "1", "CLOXY_WATCH_INTERVAL": "0.1"}
    environ |= {} if events else {"CLOXY_WATCH_EVENTS": "0"}
    with Server(tmp_path, environ=environ) as server:
        server.write(lines(*turns(2)))

        async def story():
            async with asyncio.timeout(PATIENCE):
                while not server.engine.ingest.progress.memories_total or events > len(followed):
                    await asyncio.sleep(0.02)

        server.do(story())
        assert server.status().running
        assert bool(followed) is events
        assert server.messages() == pairs(*turns(2))
    assert server.engine is None
