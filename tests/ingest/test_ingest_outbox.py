"""An index outside of SQL is fed from the outbox in order, and made good when it lost track."""

import asyncio

import pytest
from ingest_support import append
from session_lines import line, lines, said, title, turns

from cloxy_core.services.indexing import AfterChannel
from cloxy_core.services.passage_rows import index_rows
from cloxy_hookspecs import AfterIndexProvider, Found


class Shelf:
    """Rows by passage, in memory; `saved` is what would survive a crash."""

    def __init__(self):
        self.rows = {}
        self.position = 0
        self.applied = []
        self.rebuilt = 0

    def search(self, connection, probe, limit):
        return Found()

    def count(self, connection):
        return len(self.rows)

    def apply(self, changes, sequence):
        for change in changes:
            self.applied.append((change.passage_id, change.row is not None))
            if change.row is None:
                self.rows.pop(change.passage_id, None)
            else:
                self.rows[change.passage_id] = change.row
        assert sequence >= self.position, "the outbox went backwards"
        self.position = sequence

    def checkpoint(self):
        return self.position

    def rebuild(self, rows, sequence):
        self.rows = {row.passage_id: row for row in rows}
        self.position = sequence
        self.rebuilt += 1


def attach(server, shelf, name="shelf"):
    """Put a further index into a running server, as a plugin's record would."""
    record = AfterIndexProvider(
        name=name, summary="A shelf", channel=name, weight=1.0, create=lambda _context: shelf
    )
    indexing = server.engine.indexing
    channel = AfterChannel(record, shelf)
    indexing.channels = (*indexing.channels, channel)
    indexing._after = (*indexing._after, channel)
    server.do(indexing.catch_up())


def in_step(server, shelf):
    return shelf.rows == {row.passage_id: row for row in server.read(index_rows)}


@pytest.fixture
def shelf(server):
    made = Shelf()
    attach(server, made)
    return made


def test_everything_that_changes_reaches_it(server, shelf):
    path = server.write(lines(*turns(130)))
    server.ingest()
    assert in_step(server, shelf)
    append(path, line(title("A late title")) + lines(*turns(3, first=130)))
    server.ingest()
    assert in_step(server, shelf)
    (note,) = server.remember("a note that is remembered")
    assert in_step(server, shelf)
    server.forget(note)
    server.forget(server.parts()[0].memory)
    assert in_step(server, shelf)
    edited = turns(133)
    edited[125] = said("edited words", "s1-turn-125")
    path.write_bytes(lines(*edited))
    server.ingest()
    assert in_step(server, shelf)
    server.forget_source("convo:s1")
    assert shelf.rows == {}
    assert shelf.rebuilt == 1
    assert server.value("SELECT count(*) FROM index_outbox") == 0
    server.check()


def test_puts_and_deletes_come_in_order(server, shelf):
    (note,) = server.remember("one")
    server.forget(note)
    server.remember("two")
    ids = [identifier for identifier, _put in shelf.applied]
    assert shelf.applied == [(ids[0], True), (ids[0], False), (ids[2], True)]


def test_a_crash_between_commit_and_feed_is_made_good(server, shelf, monkeypatch):
    server.remember("a note before it")
    rows = dict(shelf.rows)
    server.write(lines(*turns(130)))
    indexing = server.engine.indexing

    async def crash():
        raise KeyboardInterrupt

    monkeypatch.setattr(indexing, "drain", crash)
    with pytest.raises(KeyboardInterrupt):
        server.ingest()
    monkeypatch.undo()
    assert shelf.rows == rows
    server.do(server.engine.indexing.catch_up())
    assert in_step(server, shelf)
    assert shelf.rebuilt == 1


def test_a_crash_between_feed_and_checkpoint_is_made_good(server, shelf, monkeypatch):
    from cloxy_core.services import indexing as module

    def crash(*_arguments, **_more):
        raise KeyboardInterrupt

    server.write(lines(*turns(30)))
    monkeypatch.setattr(module, "_note_checkpoint", crash)
    with pytest.raises(KeyboardInterrupt):
        server.ingest()
    monkeypatch.undo()
    server.do(server.engine.indexing.catch_up())
    server.remember("a note after it")
    assert in_step(server, shelf)
    assert shelf.rebuilt == 1


def test_one_that_lost_its_state_is_rebuilt(server, shelf):
    server.write(lines(*turns(130)))
    server.ingest()
    server.restart()
    fresh = Shelf()
    attach(server, fresh)
    assert fresh.rebuilt == 1
    assert in_step(server, fresh)


def test_one_that_went_back_behind_the_trimmed_outbox_is_rebuilt(server, shelf):
    path = server.write(lines(*turns(30)))
    server.ingest()
    rows, position = dict(shelf.rows), shelf.position
    append(path, lines(*turns(30, first=30)))
    server.ingest()
    server.restart()
    shelf.rows, shelf.position = rows, position
    attach(server, shelf)
    assert in_step(server, shelf)


def test_one_that_was_switched_off_for_a_while_is_rebuilt(server, shelf):
    path = server.write(lines(*turns(30)))
    server.ingest()
    server.restart()
    append(path, lines(*turns(30, first=30)))
    server.ingest()
    server.restart()
    attach(server, shelf)
    assert in_step(server, shelf)


def test_one_that_is_ahead_of_the_database_is_rebuilt(server, shelf):
    server.write(lines(*turns(30)))
    server.ingest()
    shelf.position += 1000
    server.do(server.engine.indexing.catch_up())
    server.remember("a note after it")
    assert in_step(server, shelf)


def test_two_of_them_are_fed_alike(server, shelf):
    second = Shelf()
    attach(server, second, "second")
    server.write(lines(*turns(1300)))
    server.ingest()
    assert in_step(server, shelf)
    assert in_step(server, second)
    assert server.value("SELECT count(*) FROM index_outbox") == 0


def test_feeds_at_once_never_bring_an_older_state_back(server, shelf):
    from cloxy_hookspecs import Draft

    async def together():
        memories = server.engine.memories

        async def one(number):
            done = await memories.remember(Draft(f"note {number}", "note", "manual"))
            if number % 2:
                await memories.forget(done.ids[0])

        await asyncio.gather(*(one(number) for number in range(30)))

    server.do(together())
    assert in_step(server, shelf)
    assert len(shelf.rows) == 15


def test_it_is_fed_off_the_event_loop(server, shelf):
    import threading

    threads = set()
    original = shelf.apply

    def noting(changes, sequence):
        threads.add(threading.current_thread())
        original(changes, sequence)

    shelf.apply = noting
    server.remember("a note")
    assert threads and threading.main_thread() not in threads


def test_a_full_rebuild_serves_every_index(server, shelf):
    server.write(lines(*turns(450)))
    server.ingest()
    shelf.rows = {}
    counts = server.do(server.engine.memories.reindex())
    assert counts == {"keyword": 450, "shelf": 450}
    assert in_step(server, shelf)
    server.check()
