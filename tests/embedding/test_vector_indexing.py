"""An index of vectors: built behind the start, fed from the outbox, and made good when it fails."""

import asyncio
import threading

import pytest
from embedding_support import Place, Shelf
from session_lines import line, lines, said, title, turns

from cloxy_core.services import indexing as module
from cloxy_core.services import outbox
from cloxy_hookspecs import AfterIndexProvider, Draft, ModelError


def log_file(place, name="a.jsonl"):
    path = place.folder / "logs" / "-srv-demo-app" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture
def running(place):
    place.start()
    place.settled()
    return place


def entries(place):
    return place.value("SELECT count(*) FROM index_outbox")


def test_everything_that_changes_reaches_it(running):
    place = running
    path = log_file(place)
    records = turns(60)
    path.write_bytes(lines(*records))
    place.ingest()
    place.settled()
    place.check()
    records += [title("A late title"), *turns(3, first=60)]
    path.write_bytes(lines(*records))
    place.ingest()
    place.settled()
    place.check()
    (note,) = place.remember("a note that is remembered")
    place.settled()
    place.check()
    place.forget(note)
    place.check()
    place.forget(place.value("SELECT memory_id FROM passages WHERE id = 30"))
    place.check()
    records[55] = said("edited words", "s1-turn-55")
    path.write_bytes(lines(*records))
    place.ingest()
    place.settled()
    place.check()
    place.do(place.engine.memories.forget_source("convo:s1"))
    assert place.shelf.rows == {}
    assert place.shelf.rebuilt == 1
    assert entries(place) == 0


def test_an_edited_text_has_no_row_until_it_has_its_vector(running):
    place = running
    records = turns(5)
    path = log_file(place)
    path.write_bytes(lines(*records))
    place.ingest()
    place.settled()
    place.words.gate.clear()
    records[2] = said("edited words", "s1-turn-2")
    path.write_bytes(lines(*records))
    place.ingest()
    assert sorted(place.shelf.rows) == [1, 2, 4, 5]
    assert place.status().backlog == 1
    place.words.gate.set()
    place.settled()
    place.check()


def test_neighbours_are_named_whether_they_have_vectors_or_not(running):
    place = running
    place.words.refused = "turn 1 "
    log_file(place).write_bytes(
        b"".join(line(said(f"turn {n} of it", f"u{n}", session="s1")) for n in range(3))
    )
    place.ingest()
    place.settled()
    place.until(lambda: len(place.shelf.rows) == 2)
    assert (place.shelf.rows[1].previous, place.shelf.rows[1].following) == (None, 2)
    assert (place.shelf.rows[3].previous, place.shelf.rows[3].following) == (2, None)
    place.restart(place.words, Shelf())
    place.settled()
    assert (place.shelf.rows[1].following, place.shelf.rows[3].previous) == (2, 2)


def test_the_rows_of_a_rebuild_are_those_of_the_outbox(running):
    place = running
    for name in ("a", "b"):
        path = log_file(place, f"{name}.jsonl")
        path.write_bytes(lines(*turns(20, session=name)))
    place.ingest()
    place.remember("one note", "another note")
    log_file(place).write_bytes(lines(*turns(25, session="a")))
    place.ingest()
    place.settled()
    place.check()
    fed = dict(place.shelf.rows)
    place.do(place.engine.memories.reindex())
    assert place.shelf.rows == fed
    assert place.shelf.rebuilt == 2


def test_the_start_does_not_wait_for_it(place):
    place.remember("one note")
    place.shelf.gate.clear()
    place.start()
    assert not place.indexing.ready("dense")
    assert "built" in place.indexing.trouble("dense")
    assert place.indexing.ready("keyword")
    assert not place.indexing.ready("nothing")
    place.remember("another note")
    place.until(lambda: len(place.words.passages) == 2)
    place.shelf.gate.set()
    place.settled()
    place.check()
    assert place.shelf.rebuilt == 1
    assert place.indexing.ready("dense")
    assert place.indexing.trouble("dense") is None


def test_what_comes_while_it_is_built_is_not_lost(running):
    place = running
    place.remember("one note")
    place.settled()
    place.shelf.gate.clear()

    async def together():
        building = asyncio.create_task(place.indexing.rebuild())
        while not any(feed.building for feed in place.indexing._vectors):
            await asyncio.sleep(0.002)
        await place.engine.memories.remember(Draft("another note", "note", "manual"))
        while len(place.words.passages) < 2:
            await asyncio.sleep(0.002)
        place.shelf.gate.set()
        return await building

    counts = place.do(together())
    assert counts["dense"] == 2
    place.settled()
    place.check()
    assert entries(place) == 0


def test_it_is_fed_off_the_event_loop(running):
    place = running
    threads = set()
    original = place.shelf.apply

    def noting(changes, sequence):
        threads.add(threading.current_thread())
        original(changes, sequence)

    place.shelf.apply = noting
    place.remember("a note")
    place.settled()
    assert threads
    assert threading.main_thread() not in threads


def test_one_that_fails_harms_nobody_and_is_built_anew(running):
    place = running
    place.remember("one note")
    place.settled()
    place.shelf.error = ValueError("broken")
    place.remember("another note")
    place.until(lambda: not place.indexing.ready("dense"))
    assert "the index shelf failed (ValueError)" in place.indexing.trouble("dense")
    place.remember("a third note")
    place.until(lambda: len(place.words.passages) == 3)
    place.shelf.error = None
    place.settled()
    place.check()
    assert place.shelf.rebuilt >= 2
    assert entries(place) == 0


def test_one_that_fails_in_words_of_cloxy_is_built_anew_too(running):
    place = running
    place.shelf.error = ModelError("broken")
    place.remember("one note")
    place.until(lambda: not place.indexing.ready("dense"))
    place.shelf.error = None
    place.settled()
    place.check()


def test_while_one_fails_the_outbox_does_not_grow(place):
    place.shelf.error = ValueError("broken")
    place.start()
    place.until(lambda: "failed" in place.indexing.trouble("dense"))
    place.remember(*(f"note {number}" for number in range(5)))

    async def is_empty():
        # A new try holds the outbox for a moment.
        return not await place.engine.store.read(
            lambda c: c.exec_driver_sql("SELECT count(*) FROM index_outbox").scalar()
        )

    place.until(is_empty)
    place.shelf.error = None
    place.settled()
    place.check()


def test_a_crash_between_commit_and_feed_is_made_good(running, monkeypatch):
    place = running
    place.remember("a note before it")
    place.settled()

    async def crash():
        raise KeyboardInterrupt

    monkeypatch.setattr(place.indexing, "drain", crash)
    with pytest.raises(KeyboardInterrupt):
        place.remember("a note that was not fed")
    monkeypatch.undo()
    place.remember("a note after it")
    place.settled()
    place.check()


def test_one_that_keeps_its_state_is_not_built_anew(running):
    place = running
    place.remember("one note", "another note")
    place.settled()
    kept = place.shelf
    place.restart(place.words, kept)
    place.settled()
    assert kept.rebuilt == 1
    place.remember("a third note")
    place.settled()
    place.check()


def test_one_that_missed_something_while_it_was_off_is_built_anew(running):
    place = running
    place.remember("one note")
    place.settled()
    kept = place.shelf
    place.stop()
    bare = Place(place.folder, place.words, providers__disabled="shelf")
    with bare:
        bare.remember("another note")
        bare.start()
        bare.until(lambda: len(bare.words.passages) == 2)
    place.restart(place.words, kept)
    place.settled()
    assert kept.rebuilt == 2
    place.check()


def test_one_that_keeps_nothing_does_not_hold_the_outbox(running):
    place = running
    place.shelf.checkpoint = lambda: 0
    place.remember("one note", "another note")
    place.settled()
    place.check()
    applied = [identifier for identifier, _put in place.shelf.applied]
    assert len(applied) <= 6, "it was fed the same again and again"


def test_an_index_of_text_is_not_told_of_vectors(place):
    class Texts(Shelf):
        def rebuild(self, rows, sequence):
            self.position = sequence

    texts = Texts()
    record = AfterIndexProvider(
        name="texts", summary="", channel="texts", weight=1.0, create=lambda _context: texts
    )
    channel = module.AfterChannel(record, texts)
    place.indexing.channels = (*place.indexing.channels, channel)
    place.indexing._after = (channel,)
    place.start()
    place.settled()
    place.remember("one note")
    place.settled()
    assert texts.applied == [(1, True)]
    assert (1, True) in place.shelf.applied
    assert entries(place) == 0


class Needs:
    """Notes what the embedding is told."""

    def __init__(self):
        self.told = []

    def wake(self):
        self.told.append("wake")

    def missing(self, passage_ids):
        self.told.extend(passage_ids)

    def look_again(self):
        self.told.append("again")


def edit(place, records, *numbers):
    for number in numbers:
        records[number] = said("edited words", f"s1-turn-{number}")
    log_file(place).write_bytes(lines(*records))
    place.ingest()


@pytest.fixture
def edited(running):
    """A session whose passages all have a vector, ready to be edited."""
    records = turns(5)
    log_file(running).write_bytes(lines(*records))
    running.ingest()
    running.settled()
    running.indexing.needs = Needs()
    return records


def test_passages_that_lost_their_vector_are_told(running, edited, monkeypatch):
    monkeypatch.setattr(outbox, "DRAIN", 2)
    edit(running, edited, 1, 2, 3)
    told = running.indexing.needs.told
    assert {each for each in told if isinstance(each, int)} == {2, 3, 4}
    assert "wake" in told
    assert "again" not in told


def test_a_rebuild_tells_what_the_outbox_would_have_told(running, edited, monkeypatch):
    monkeypatch.setattr(outbox, "DRAIN", 2)

    async def nothing():
        return 0

    monkeypatch.setattr(running.indexing, "drain", nothing)
    edit(running, edited, 1, 2, 3)
    monkeypatch.undo()
    assert running.indexing.needs.told == []
    running.do(running.indexing.rebuild())
    told = running.indexing.needs.told
    assert {each for each in told if isinstance(each, int)} == {2, 3, 4}
    assert "again" not in told
    assert entries(running) == 0


def test_after_a_failure_everything_is_to_be_looked_at(running, edited):
    running.shelf.error = ValueError("broken")
    edit(running, edited, 1)
    running.until(lambda: not running.indexing.ready("dense"))
    edit(running, edited, 2)
    running.shelf.error = None
    running.until(lambda: running.indexing.ready("dense"))
    running.until(lambda: "again" in running.indexing.needs.told)


def test_new_passages_are_no_business_of_it(running):
    place = running
    place.words.gate.clear()
    records = turns(5)
    log_file(place).write_bytes(lines(*records))
    place.ingest()
    assert place.shelf.applied == []
    assert entries(place) == 0
    place.words.gate.set()
    place.settled()
    place.shelf.applied.clear()
    place.words.gate.clear()
    log_file(place).write_bytes(lines(*records, *turns(2, first=5)))
    place.ingest()
    assert place.shelf.applied == [(5, True)], "only the one that has got a neighbour"
    assert place.shelf.rows[5].following == 6
    place.words.gate.set()
    place.settled()
    place.check()


@pytest.mark.parametrize(
    ("position", "noted", "left", "lost"),
    [
        (5, 5, [], False),
        (3, 3, [4, 5], False),
        (3, 3, [], True),
        (3, 3, [5], True),
        (3, 4, [4, 5], True),
        (3, None, [4, 5], True),
        (0, 0, [1, 2, 3, 4, 5], True),
        (6, 5, [], True),
    ],
)
def test_what_an_index_has_missed(place, position, noted, left, lost):
    def prepare(connection):
        outbox.add_entries(connection, [(number, outbox.PUT) for number in range(5)], at=0)
        kept = ", ".join(map(str, left)) or "0"
        connection.exec_driver_sql(f"DELETE FROM index_outbox WHERE seq NOT IN ({kept})")
        if noted is not None:
            outbox.note_checkpoint(connection, "some", noted)
        return outbox.is_lost(connection, "some", position)

    assert place.write(prepare) is lost
