"""Passages get their vectors: which first, which not at all, and what gets in between."""

import asyncio
import contextlib
import os
import subprocess
import sys

import numpy as np
import pytest
from embedding_support import REFUSED, Place, Words
from session_lines import line, lines, said, turns

from cloxy_core.services.embedding import backlog, filling, service
from cloxy_core.store.engine import Store
from cloxy_hookspecs import ModelError
from cloxy_hookspecs.errors import StoreBusyError, StoreFullError


def log_file(place, name="a.jsonl"):
    path = place.folder / "logs" / "-srv-demo-app" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def test_everything_gets_the_vector_of_its_text(place):
    place.remember("one note", "another note")
    log_file(place).write_bytes(lines(*turns(150)))
    place.ingest()
    place.start()
    status = place.settled()
    assert (status.embedded, status.backlog, status.failed) == (152, 0, 0)
    place.check()
    log_file(place).write_bytes(lines(*turns(155)))
    place.ingest()
    place.remember("a third note")
    place.settled()
    place.check()
    assert len(place.vectors()) == 158


def test_the_newest_come_first(place, monkeypatch):
    monkeypatch.setattr(backlog, "MOST_TEXTS", 3)
    place.remember(*(f"note {number}" for number in range(10)))
    place.start()
    place.settled()
    assert place.words.passages == [f"note {number}" for number in reversed(range(10))]


def test_what_comes_while_it_fills_goes_before_what_waits(place, monkeypatch):
    monkeypatch.setattr(backlog, "MOST_TEXTS", 2)
    place.remember(*(f"old {number}" for number in range(8)))
    place.words.gate.clear()
    place.start()
    place.until(place.words.entered.is_set)
    place.words.gate.set()
    place.until(lambda: len(place.words.passages) >= 2)
    before = len(place.words.passages)
    place.remember("new 0", "new 1")
    place.settled()
    came = place.words.passages.index("new 1")
    assert came <= before + 6, "it waited for all of the old ones"
    assert place.words.passages[-1] == "old 0"
    place.check()


def test_a_long_text_is_cut_to_what_matters(place):
    place.remember("x" * 39 + "yz and more that does not matter")
    place.start()
    place.settled()
    assert place.words.passages == ["x" * 39 + "y"]


def test_equal_texts_are_embedded_once(place, monkeypatch):
    monkeypatch.setattr(backlog, "MOST_ROWS", 7)
    for name in ("a", "b", "c"):
        path = log_file(place, f"{name}.jsonl")
        path.write_bytes(
            b"".join(line(said(f"text {n % 5}", f"{name}{n}", session=name)) for n in range(20))
        )
    place.ingest()
    place.start()
    place.settled()
    assert sorted(place.words.passages) == [f"text {n}" for n in range(5)]
    place.check()
    assert len(place.vectors()) == 60


def test_a_copy_whose_original_is_forgotten_meanwhile_is_not_lost(place, monkeypatch):
    place.start()
    place.remember("the same words", "something else")
    place.settled()
    store = place.engine.store
    original, gone = store.write, []

    async def write(work, **more):
        if not gone and getattr(work, "__qualname__", "").startswith("Filling._write"):
            gone.append(
                await original(
                    lambda c: c.exec_driver_sql("DELETE FROM embeddings WHERE passage_id = 1")
                )
            )
        return await original(work, **more)

    monkeypatch.setattr(store, "write", write)
    log_file(place).write_bytes(line(said("the same words", "u1")))
    place.ingest()
    place.until(lambda: place.words.passages.count("the same words") == 2)
    place.until(lambda: 3 in place.shelf.rows)
    assert gone


def test_an_edited_text_is_embedded_again(place):
    records = turns(20)
    path = log_file(place)
    path.write_bytes(lines(*records))
    place.ingest()
    place.start()
    place.settled()
    records[7] = said("something else altogether", "s1-turn-7")
    path.write_bytes(lines(*records))
    place.ingest()
    place.until(lambda: "something else altogether" in place.words.passages)
    place.settled()
    place.check()


def test_an_edit_that_a_stop_left_behind_is_found_at_the_next_start(place):
    records = turns(20)
    path = log_file(place)
    path.write_bytes(lines(*records))
    place.ingest()
    place.start()
    place.settled()
    place.stop()
    records[7] = said("something else altogether", "s1-turn-7")
    path.write_bytes(lines(*records))
    place.ingest()
    place.restart()
    place.until(lambda: "something else altogether" in place.words.passages)
    place.settled()
    place.check()


def test_what_is_forgotten_leaves_no_vector(place):
    place.start()
    kept, gone = place.remember("a note that stays", "a canary that must go")
    place.settled()
    (vector,) = [v for i, v in place.vectors().items() if place.texts()[i].startswith("a canary")]
    assert holders(place, vector)
    place.forget(gone)
    assert len(place.vectors()) == len(place.shelf.rows) == 1
    place.check()
    assert holders(place, vector) == []
    place.stop()
    assert holders(place, vector) == []
    assert kept


def holders(place, canary):
    """Files of the data directory that hold some bytes; another process reads them."""
    code = (
        "import pathlib, sys\n"
        "for path in pathlib.Path(sys.argv[1]).rglob('*'):\n"
        "    if path.is_file() and bytes.fromhex(sys.argv[2]) in path.read_bytes():\n"
        "        print(path.name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(place.data), canary.hex()],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_a_passage_that_went_while_it_was_embedded_gets_no_vector(place):
    (note,) = place.remember("soon gone")
    place.remember("stays")
    place.words.gate.clear()
    place.start()
    place.words.gate.set()
    place.until(lambda: place.embedding.trouble() is None)
    place.words.gate.clear()
    place.words.entered.clear()
    place.remember("a third")
    place.forget(note)
    place.words.gate.set()
    place.settled()
    place.check()
    assert len(place.vectors()) == 2


def test_a_text_that_cannot_be_embedded_is_set_aside(place):
    place.remember("before", f"{REFUSED} words", "after")
    place.start()
    place.settled()
    status = place.status()
    assert (status.embedded, status.failed, status.backlog) == (2, 1, 0)
    assert "1 passages cannot be embedded" in status.reason
    assert "unembeddable" not in status.reason
    assert sum(REFUSED in text for text in place.words.passages) <= 4
    place.remember("later")
    place.settled()
    assert place.status().failed == 1
    place.words.refused = "something else"
    place.restart(place.words)
    place.settled()
    assert place.status().failed == 0
    place.check()


def test_an_embedder_that_fails_at_everything_sets_nothing_aside(place):
    place.start()
    place.until(lambda: place.embedding.trouble() is None)
    place.words.refused = " "
    place.remember("one note", "another note")
    place.until(lambda: "failed" in (place.embedding.trouble() or ""))
    status = place.status()
    assert (status.failed, status.backlog) == (0, 2)
    place.words.refused = REFUSED
    place.settled()
    place.check()


@pytest.mark.parametrize(
    "change",
    [
        lambda matrix: matrix * 1.01,
        lambda matrix: matrix * np.float32("nan"),
        lambda matrix: matrix[:, :8],
        lambda matrix: matrix[:-1],
    ],
    ids=["too long", "not finite", "too short a vector", "too few"],
)
def test_wrong_vectors_are_refused(place, change):
    place.words.change = change
    place.remember("one note", "another note")
    place.start()
    place.until(lambda: place.words.passages.count("one note") >= 3)
    place.settled()
    assert place.vectors() == {}
    assert place.status().failed == 2


def test_vectors_of_nearly_unit_length_are_made_exact(place):
    place.words.change = lambda matrix: matrix * np.float32(1.0005)
    place.remember("one note")
    place.start()
    place.settled()
    (vector,) = place.vectors().values()
    assert abs(np.linalg.norm(np.frombuffer(vector, "<f4")) - 1) < 1e-6


@pytest.mark.parametrize("error", [StoreFullError, StoreBusyError])
def test_a_store_that_cannot_be_written_pauses_it(place, monkeypatch, error):
    refusing = {"on": True}
    original = Store.write

    async def write(self, work, *, durable=False):
        if refusing["on"] and getattr(work, "__qualname__", "").startswith("Filling._write"):
            raise error("no room at all")
        return await original(self, work, durable=durable)

    monkeypatch.setattr(Store, "write", write)
    place.remember("one note", "another note")
    place.start()
    place.until(lambda: place.embedding.trouble() is None and place.words.passages)

    async def is_paused():
        status = await place.embedding.status()
        return status if status.state == "paused" else None

    status = place.until(is_paused)
    assert "no room at all" in status.reason
    assert place.do(place.embedding.query_vector("a question")) is not None
    refusing["on"] = False
    place.settled()
    place.check()
    assert len(place.words.passages) == 2, "what was embedded was thrown away"


def test_too_little_room_pauses_it(place):
    room = {"reason": "only 3 MiB are free"}

    async def has_room():
        return room["reason"]

    place.remember("one note")
    place.embedding.has_room = has_room
    place.start()

    async def is_paused():
        return (await place.embedding.status()).state == "paused"

    place.until(is_paused)
    assert place.status().reason == "only 3 MiB are free"
    assert place.vectors() == {}
    room["reason"] = None
    place.settled()
    place.check()


def test_a_pause_keeps_passages_waiting_and_answers_questions(place):
    class Pauses:
        known = False
        words = "the machine runs on battery"

        def reason(self):
            return self.words

    held = Pauses()
    place.remember("one note")
    place.embedding._pauses = held
    place.start()
    place.until(lambda: place.embedding.trouble() is None)

    async def is_paused():
        return (await place.embedding.status()).state == "paused"

    place.until(is_paused)
    status = place.status()
    assert (status.reason, status.backlog) == ("the machine runs on battery", 1)
    assert place.do(place.embedding.query_vector("a question")) is not None
    assert place.words.passages == []
    held.words = None
    place.settled()
    place.check()


def test_figures_of_a_fill(place):
    place.remember(*(f"note {number}" for number in range(6)))
    place.words.gate.clear()
    place.start()
    status = place.status()
    assert (status.provider, status.model, status.state) == ("words", "fake/words", "loading")
    assert status.reason == service.LOADING
    assert status.space == place.words.info.space.fingerprint
    assert (status.embedded, status.backlog, status.eta_seconds) == (0, 6, None)
    place.words.gate.set()
    status = place.settled()
    assert (status.embedded, status.backlog) == (6, 0)
    assert status.rate_per_second > 0
    assert status.eta_seconds is None
    assert status.reason is None


def test_a_fill_in_the_foreground_tells_how_far_it_is(place, monkeypatch):
    monkeypatch.setattr(backlog, "MOST_TEXTS", 2)
    place.remember(*(f"note {number}" for number in range(5)))
    told = []
    done = place.do(place.embedding.fill(lambda count, total: told.append((count, total))))
    assert done == 5
    assert told == [(2, 5), (4, 5), (5, 5)]
    assert len(place.vectors()) == 5
    assert place.do(place.embedding.fill()) == 0


def test_a_fill_in_the_foreground_needs_a_model(place):
    place.words.missing = "no file"
    place.remember("one note")
    with pytest.raises(ModelError, match="no file"):
        place.do(place.embedding.fill())


def test_idle_it_reads_next_to_nothing(place, monkeypatch):
    place.remember(*(f"note {number}" for number in range(30)))
    place.start()
    place.settled()
    looked = []
    original = backlog.find
    monkeypatch.setattr(
        "cloxy_core.services.embedding.filling.find",
        lambda connection, **more: looked.append(more["window"]) or original(connection, **more),
    )

    async def wake():
        for _ in range(20):
            place.embedding.wake()
            await asyncio.sleep(0.002)

    place.do(wake())
    assert looked == []
    place.remember("one more")
    place.settled()
    assert [(window.low, window.high) for window in looked] == [(30, 31)]


def test_a_second_start_embeds_nothing(place):
    place.remember("one note", "another note")
    place.start()
    place.settled()
    place.words.passages.clear()
    place.restart()
    place.settled()
    assert place.words.passages == []
    place.check()


def test_without_an_embedder_all_is_off(tmp_path, words):
    with Place(tmp_path, words, embed__provider="none") as place:
        place.remember("one note")
        place.start()
        status = place.status()
        assert (status.state, status.provider, status.model) == ("off", "", "")
        assert status.reason == "embed.provider is none"
        assert place.embedding.trouble() == status.reason
        assert place.embedding.info is None
        assert place.do(place.embedding.query_vector("a question")) is None
        assert words.questions == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 12 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here (that takes root)")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("is_new", [False, True])
def test_on_a_disk_that_is_full_it_waits_and_goes_on_by_itself(small_disk, is_new):
    words = Words(dim=2048)
    ballast = small_disk / "ballast"
    with Place(small_disk, words) as place:
        place.remember(*(f"note {number}" for number in range(200)))
        place.embedding.has_room = None
        if not is_new:
            place.do(place.embedding.settle())
        place.do(place.engine.store.checkpoint())
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
        place.start()

        async def is_paused():
            status = await place.embedding.status()
            return status if status.state == "paused" else None

        status = place.until(is_paused)
        assert "cannot grow" in status.reason
        assert is_new or status.backlog > 0
        ballast.unlink()
        place.settled()
        place.check()


async def set_aside(place):
    return (await place.embedding.status()).failed == 1


async def waits_alone(place):
    status = await place.embedding.status()
    return (status.backlog, status.failed, status.reason) == (1, 0, None)


def test_what_was_set_aside_and_is_edited_gets_its_vector(place):
    place.start()
    records = turns(5)
    records[2] = said(f"{REFUSED} words", "s1-turn-2")
    path = log_file(place)
    path.write_bytes(lines(*records))
    place.ingest()
    place.until(lambda: set_aside(place))
    records[2] = said("edited words", "s1-turn-2")
    path.write_bytes(lines(*records))
    place.ingest()
    place.until(lambda: len(place.shelf.rows) == 5)
    assert place.settled().failed == 0
    place.check()


def test_what_was_set_aside_and_is_forgotten_is_not_counted(place):
    place.start()
    (bad,) = place.remember(f"{REFUSED} words")
    place.until(lambda: set_aside(place))
    place.forget(bad)
    place.words.gate.clear()
    place.remember("a good one")
    place.until(lambda: waits_alone(place))
    place.words.gate.set()
    place.settled()


def test_a_text_that_is_edited_to_one_that_is_set_aside_leaves_no_vector(place):
    place.start()
    records = turns(5)
    path = log_file(place)
    path.write_bytes(lines(*records))
    place.ingest()
    place.settled()
    records[2] = said(f"{REFUSED} words", "s1-turn-2")
    path.write_bytes(lines(*records))
    place.ingest()
    place.until(lambda: set_aside(place))
    status = place.status()
    assert (status.embedded, status.failed, status.backlog) == (4, 1, 0)
    assert len(place.vectors()) == 4
    place.check_index()


def test_who_fills_while_another_one_looks_fills_all(place, monkeypatch):
    place.remember("one note", "another note")
    look_around = filling.Filling._look_around
    looking, fill = asyncio.Event(), place.embedding.fill

    async def slow(self):
        looking.set()
        await asyncio.sleep(0)
        for _ in range(20):  # as long as the other one has turns
            await asyncio.sleep(0.005)
        await look_around(self)

    async def both():
        await place.embedding._settle()
        first = asyncio.create_task(place.embedding.filling.look())
        await looking.wait()
        done = await fill()
        await first
        return done

    monkeypatch.setattr(filling.Filling, "_look_around", slow)
    assert place.do(both()) == 2
