"""The SQLite library: its floor, and the whole of these tests once with the interpreter's own."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from store_kit import HERE, with_store

from cloxy_core.store import library
from cloxy_core.store.library import driver, is_safe, library_facts
from cloxy_hookspecs.errors import StoreError


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 0), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 52, 0), False),
        ((3, 53, 4), True),
        ((4, 0, 0), True),
    ],
)
def test_the_floor(version, safe):
    assert is_safe(version) is safe


def pretend(version):
    return SimpleNamespace(
        __name__="pretended",
        sqlite_version_info=version,
        connect=driver.connect,
        OperationalError=driver.OperationalError,
    )


def test_an_old_library_is_told_in_words():
    facts = library_facts(pretend((3, 40, 1)))
    assert facts.version_text == "3.40.1"
    assert not facts.safe
    (warning,) = facts.warnings()
    for words in ("3.40.1", "WAL-reset", "safe mode", "keyword index", "pysqlite3"):
        assert words in warning


def test_a_good_library_gives_no_warning_and_knows_what_it_lacks():
    facts = library_facts(pretend((3, 53, 4)))
    assert facts.warnings() == ()
    assert not facts.fts5_secure_delete
    assert library_facts(pretend((3, 54, 0))).fts5_secure_delete


def test_a_library_without_full_text_search_is_told():
    class Bare:
        def execute(self, statement):
            raise driver.OperationalError("no such module: fts5")

        def close(self):
            pass

    bare = pretend((3, 54, 0))
    bare.connect = lambda name: Bare()
    facts = library_facts(bare)
    assert not facts.fts5
    assert not facts.fts5_secure_delete
    assert "FTS5" in facts.warnings()[0]


def test_safe_mode_is_shown_in_the_facts(tmp_path, monkeypatch):
    from cloxy_core.store import engine

    monkeypatch.setattr(engine, "library_facts", lambda: library_facts(pretend((3, 40, 1))))

    async def facts(store):
        return store.facts()

    found = with_store(tmp_path / "d", facts)
    assert found.safe_mode
    assert "safe mode" in " ".join(found.warnings)


def test_readers_can_neither_write_nor_checkpoint(tmp_path):
    """What safe mode rests on: the writer is the only connection that can do either."""

    def checkpoint(connection):
        return connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    async def work(store):
        await store.write(lambda c: c.exec_driver_sql("INSERT INTO counters VALUES ('a', 1)"))
        before = store.facts().log_size
        with pytest.raises(StoreError):
            await store.read(checkpoint)
        assert store.facts().log_size == before > 0

    with_store(tmp_path / "d", work)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(300)
@pytest.mark.skipif(library.driver.__name__ != "pysqlite3.dbapi2", reason="this is that run")
def test_the_store_works_with_the_interpreters_own_library(tmp_path):
    hidden = tmp_path / "pysqlite3"
    hidden.mkdir()
    (hidden / "__init__.py").write_text("raise ImportError('hidden by a test')\n")
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        cwd=HERE.parent.parent,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-4000:]
    assert "1 skipped" in run.stdout
