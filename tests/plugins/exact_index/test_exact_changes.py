"""However the rows came in, the index is that of the rows that are there."""

import logging
import threading
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
from exact_shelf import Shelf, clustered, sessions, unit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine

from cloxy_core.store.library import driver
from cloxy_hookspecs import VectorChange, VectorRow
from cloxy_hookspecs.tables import CORE_METADATA
from cloxy_plugins.exact_index import index, matrix, snapshot

DIM = 16
NUMBERS = st.integers(1, 12)
NEIGHBOUR = st.none() | NUMBERS
PUT = st.tuples(NUMBERS, st.integers(0, 3), NEIGHBOUR, NEIGHBOUR)
REMOVE = st.tuples(NUMBERS)
BATCH = st.lists(PUT | REMOVE, min_size=1, max_size=6)


def rows_of(changes):
    """Changes as the index takes them."""
    made = []
    for number, *rest in changes:
        row = None
        if rest:
            vector = np.random.default_rng([number, rest[0]]).standard_normal(DIM)
            row = VectorRow(number, unit(vector).astype("<f4").tobytes(), rest[1], rest[2])
        made.append(VectorChange(number, row))
    return made


def state(made):
    """Scores of all passages by codes alone, and whether the parts of the index agree."""
    seen = made._snapshot
    scores, _margin = seen.scores(unit(np.arange(seen.dim) - 3.5).astype(np.float32))
    live = np.setdiff1d(np.arange(len(seen.ids)), seen.dead)
    assert len(set(seen.ids[live].tolist())) == len(live) == seen.live == made.count(None)
    assert list(made.ids()) == sorted(seen.ids[live].tolist())
    assert (scores[seen.dead] == snapshot.NOTHING).all()
    return dict(zip(seen.ids[live].tolist(), scores[live].tolist(), strict=True))


@contextmanager
def small_parts():
    """Pieces of memory, blocks and heaps of dead rows so small that all of them come up."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (matrix, snapshot):
            patch.setattr(module, "SEGMENT", 4)
        patch.setattr(matrix, "_BLOCK", 3)
        patch.setattr(index, "_BLOCK", 5)
        patch.setattr(index, "_FEWEST_DEAD", 3)
        yield


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(batches=st.lists(BATCH, max_size=8))
def test_any_changes_equal_a_rebuild(batches):
    with small_parts():
        compare_with_rebuilt(batches)


def compare_with_rebuilt(batches):
    log = logging.getLogger("exact")
    grown, rebuilt, latest = index.ExactIndex(None, log), index.ExactIndex(None, log), {}
    for number, batch in enumerate(batches, 1):
        changes = rows_of(batch)
        before = grown._snapshot
        copies = [np.copy(part) for part in (before.ids, before.before, before.weights)]
        grown.apply(changes, number)
        latest |= {change.passage_id: change.row for change in changes}
        # What a reader holds is not written to.
        for copy, part in zip(copies, (before.ids, before.before, before.weights), strict=True):
            assert np.array_equal(copy, part)
        rebuilt.rebuild([row for row in latest.values() if row is not None], number)
        if rebuilt.count(None):
            assert state(grown) == pytest.approx(state(rebuilt), abs=1e-6)
        assert grown.count(None) == rebuilt.count(None)
        assert grown.checkpoint() == rebuilt.checkpoint() == number


def test_rows_of_a_rebuild_may_repeat():
    made = index.ExactIndex(None, logging.getLogger("exact"))
    rows = [change.row for change in rows_of([(1, 0, None, 2), (2, 0, 1, None), (1, 1, None, 2)])]
    made.rebuild(rows, 4)
    other = index.ExactIndex(None, logging.getLogger("exact"))
    other.rebuild(rows[1:], 4)
    assert state(made) == pytest.approx(state(other))


def test_rebuild_that_fails_leaves_what_was_there(many, chance):
    def rows():
        yield from (many.row(number) for number in list(many.vectors)[:2000])
        raise OSError("the disk is gone")

    asked = unit(chance.standard_normal(64))
    before = many.ask(asked)
    with pytest.raises(OSError, match="the disk is gone"):
        many.index.rebuild(rows(), 99)
    assert many.ask(asked) == before
    assert many.index.checkpoint() == 1


def test_rows_that_come_again_take_no_room(many):
    """Most changes say only that a passage has another neighbour."""
    held = many.index._snapshot
    numbers = list(many.vectors)[:500]
    many.links |= dict.fromkeys(numbers, (None, None))
    many.apply(*numbers)
    now = many.index._snapshot
    assert (len(now.ids), len(now.dead)) == (len(held.ids), 0)
    assert not np.array_equal(now.weights, held.weights)


def test_passage_that_went_can_come_again(many):
    number = next(n for n, (before, after) in many.links.items() if before and after)
    before, vector, links = many.links[number][0], many.vectors[number], {**many.links}
    beside = dict(many.ask(many.vectors[before], 1))
    many.remove([number])
    assert number not in many.index.ids()
    assert dict(many.ask(many.vectors[before], 1)) != beside
    many.apply(before)
    many.put({number: vector}, links=links)
    assert number in many.index.ids()
    assert dict(many.ask(many.vectors[before], 1)) == beside
    assert number in dict(many.ask(vector, 3))


def test_dead_rows_are_cleared_away(many, chance):
    asked = unit(chance.standard_normal(64))
    numbers = list(many.vectors)
    many.put(dict(zip(numbers, clustered(chance, 3000), strict=True)), links=many.links)
    assert len(many.index._snapshot.ids) == 3000
    many.remove(numbers[:1000])
    assert len(many.index._snapshot.dead) == 1000
    many.remove(numbers[1000:2000])
    assert len(many.index._snapshot.dead) == 0
    assert [n for n, _ in many.ask(asked)] == [n for n, _ in many.scan(asked)]


def test_adding_copies_no_codes(many, chance):
    before = many.index._snapshot.segments
    many.put(dict(enumerate(clustered(chance, 100), 10_000)))
    assert many.index._snapshot.segments[0] is before[0]


def test_damaged_vectors_are_told_once(shelf, chance, caplog):
    vectors = dict(enumerate(clustered(chance, 10), 1))
    shelf.put(vectors)
    for number in (3, 4):
        short = VectorRow(number, b"\0" * 12)
        shelf.index.apply([VectorChange(number, short), VectorChange(5, shelf.row(5))], number)
    shelf.index.rebuild([shelf.row(1), VectorRow(2, b""), shelf.row(5)], 9)
    assert sorted(shelf.index.ids()) == [1, 5]
    (record,) = caplog.records
    assert "passage 3" in record.message
    assert "cloxy reembed" in record.message


def test_dimension_is_that_of_most_rows_and_changes_with_a_rebuild(shelf, chance):
    vectors = [v.astype("<f4").tobytes() for v in clustered(chance, 6, 32)]
    rows = [VectorRow(number, vector) for number, vector in enumerate(vectors, 1)]
    shelf.put(dict(enumerate(clustered(chance, 10), 1)))
    shelf.index.rebuild([VectorRow(9, b"\0\0\0\0"), *rows], 3)
    assert sorted(shelf.index.ids()) == [1, 2, 3, 4, 5, 6]
    assert shelf.ask(np.ones(64)) == []
    shelf.index.apply([VectorChange(n, None) for n in range(1, 7)], 4)
    shelf.apply(7, 8)
    assert sorted(dict(shelf.ask(np.ones(64)))) == [7, 8]


@pytest.mark.parametrize("numbers", [(), (1,)])
def test_index_that_was_emptied_finds_nothing(shelf, chance, numbers):
    shelf.put(dict(zip(numbers, clustered(chance, len(numbers)), strict=True)))
    shelf.remove(numbers)
    assert shelf.ask(np.ones(64)) == []
    assert list(shelf.index.ids()) == []


def test_rebuild_never_holds_all_vectors_with_all_their_digits(chance):
    count, dim = 40_000, 384
    blobs = [vector.astype("<f4").tobytes() for vector in clustered(chance, 500, dim)]
    made = index.ExactIndex(None, logging.getLogger("exact"))
    made.apply([VectorChange(1, VectorRow(1, blobs[0]))], 1)
    tracemalloc.start()
    try:
        made.rebuild((VectorRow(n, blobs[n % 500], n - 1, n + 1) for n in range(count)), 2)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert made.count(None) == count
    codes = -(-count // snapshot.SEGMENT) * snapshot.SEGMENT * dim
    assert held < codes + 100 * count
    assert peak < codes + 100 * count + 16_000_000 < 4 * count * dim


def test_searches_go_on_while_rows_change(tmp_path, chance):
    """Whatever a search sees is a state that the index once had."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    engine = create_engine(url, module=driver)
    CORE_METADATA.create_all(engine)
    shelf = Shelf(engine)
    stable = range(1, 401)
    moving = range(1001, 2601)
    vectors = clustered(chance, 2000)
    links = sessions([*stable]) | sessions([*moving])
    shelf.store(dict(zip([*stable, *moving], vectors, strict=True)), links=links)
    shelf.apply(*stable)
    asked = unit(vectors[7]).astype(np.float32)
    wanted = {n: s for n, s in shelf.scan(asked, 5000) if n in stable}
    stop, troubles = threading.Event(), []

    def look():
        try:
            while not stop.is_set():
                found = shelf.ask(asked, 3000)
                scores = [score for _, score in found]
                assert scores == sorted(scores, reverse=True)
                assert len(dict(found)) == len(found)
                assert {n: s for n, s in found if n in wanted} == pytest.approx(wanted, abs=1e-5)
        except BaseException as error:
            troubles.append(error)

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    for turn in range(6):
        for start in range(0, len(moving), 200):
            shelf.apply(*moving[start : start + 200])
        if turn == 3:
            shelf.rebuild()
        gone = moving[:: 1 + turn % 2]
        shelf.index.apply([VectorChange(number, None) for number in gone], turn)
    stop.set()
    for reader in readers:
        reader.join()
    engine.dispose()
    assert troubles == []
