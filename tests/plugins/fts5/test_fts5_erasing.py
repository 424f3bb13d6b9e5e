"""Removed words leave the index's bytes: at once where the library can, by a merge elsewhere."""

import random
import sqlite3

import pytest
from sqlalchemy import create_engine

from cloxy_core.store.library import driver
from cloxy_hookspecs import IndexChange, IndexRow
from cloxy_plugins.fts5 import erasing

needs_new = pytest.mark.skipif(
    driver.sqlite_version_info < erasing.ERASES_SINCE, reason="this SQLite cannot erase at once"
)


def blocks(shelf):
    return b"".join(block for (block,) in shelf.sql("SELECT block FROM passages_fts_data"))


def scrub(shelf):
    with shelf.engine.begin() as connection:
        shelf.index.scrub_in(connection)


def merges(shelf, monkeypatch):
    """How often everything was merged."""
    done = []
    merge = erasing._merge
    monkeypatch.setattr(erasing, "_merge", lambda c: (done.append(1), merge(c)))
    return done


@needs_new
def test_only_the_first_scrub_merges_and_later_removals_erase(shelf, monkeypatch):
    done = merges(shelf, monkeypatch)
    shelf.put("keep this", "zebralantern secret", "quaggalantern secret")
    shelf.apply(IndexChange(2, None))
    scrub(shelf)
    assert (len(done), b"zebralantern" in blocks(shelf)) == (1, False)
    shelf.put("a word of a later day")
    shelf.apply(IndexChange(3, None))
    scrub(shelf)
    assert (len(done), b"quaggalantern" in blocks(shelf)) == (1, False)


def test_a_library_that_cannot_erase_merges_every_time(shelf, monkeypatch):
    monkeypatch.setattr(erasing, "can_erase", lambda _connection: False)
    done = merges(shelf, monkeypatch)
    shelf.put("keep this", "zebralantern secret", "quaggalantern secret")
    for number, word in ((2, b"zebralantern"), (3, b"quaggalantern")):
        shelf.apply(IndexChange(number, None))
        scrub(shelf)
        assert word not in blocks(shelf)
    assert len(done) == 2


@needs_new
@pytest.mark.parametrize("seed", range(4))
def test_an_index_that_erases_stays_true_to_its_text(shelf, seed):
    chance = random.Random(seed)
    words = [f"word{number}" for number in range(200)]
    shelf.put("first")
    scrub(shelf)
    alive = {}
    for step in range(400):
        number = chance.randrange(2, 80)
        text = None if chance.random() < 0.4 else " ".join(chance.choices(words, k=30))
        row = None if text is None else IndexRow(number, "", f"{text} only{step}x", "", "")
        shelf.apply(IndexChange(number, row))
        alive[number] = None if text is None else f"only{step}x"
    shelf.sql("INSERT INTO passages_fts(passages_fts, rank) VALUES('integrity-check', 1)")
    gone = {f"only{step}x" for step in range(400)} - set(alive.values())
    held = blocks(shelf)
    shown = shelf.sql("SELECT body FROM fts_passages")
    assert {word for word in gone if f"{word}".encode() in held} == set()
    assert len(shown) == 1 + sum(word is not None for word in alive.values())


@needs_new
@pytest.mark.skipif(
    driver is sqlite3 or sqlite3.sqlite_version_info >= (3, 42), reason="no old SQLite at hand"
)
def test_an_old_library_can_rebuild_such_an_index(shelf, tmp_path):
    shelf.put("keep this", "zebralantern secret")
    scrub(shelf)
    shelf.apply(IndexChange(2, None))
    shelf.engine.dispose()
    old = create_engine(f"sqlite:///{tmp_path / 'index.db'}", module=sqlite3)
    with old.begin() as connection:
        shelf.index.clear_in(connection)
        shelf.index.apply_in(connection, [IndexChange(1, IndexRow(1, "", "keep this", "", ""))])
        found = "SELECT rowid FROM passages_fts WHERE passages_fts MATCH 'keep'"
        assert connection.exec_driver_sql(found).fetchall() == [(1,)]
    old.dispose()
