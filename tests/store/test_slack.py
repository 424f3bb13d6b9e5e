"""The unused middle of pages holds nothing of what was deleted, and nothing else is touched."""

import os
import random
import subprocess
import sys
import uuid

import pytest
from store_kit import with_store

from cloxy_core.store.connections import connect
from cloxy_core.store.slack import SlackEraser, find_slack

HITS = """
import sys
data = open(sys.argv[1], "rb").read()
print(sum(word.encode() in data for word in sys.stdin.read().split()))
"""


def hits(path, words):
    """How many words are in a file; another process reads, so that no lock is dropped here."""
    command = [sys.executable, "-c", HITS, str(path)]
    said = subprocess.run(
        command, input=" ".join(words), capture_output=True, text=True, check=True
    )
    return int(said.stdout)


def fill(connection, count, chance):
    """Rows that move between pages as they come and grow; the ids by row."""
    for pragma in ("page_size=1024", "journal_mode=WAL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    connection.execute("BEGIN")
    connection.execute("CREATE TABLE said (id INTEGER PRIMARY KEY, text TEXT, uid TEXT)")
    connection.execute("CREATE INDEX by_uid ON said (uid)")
    ids = {}
    for number in range(1, count):
        ids[number] = str(uuid.UUID(int=chance.getrandbits(128)))
        text = f"word{number:05d}x " * chance.randint(1, 4)
        connection.execute("INSERT INTO said VALUES (?, ?, ?)", (number, text, ids[number]))
        if number % 3 == 0:
            grown = chance.randrange(1, number)
            connection.execute("UPDATE said SET text = text || text WHERE id = ?", (grown,))
    connection.execute("COMMIT")
    return ids


def checkpoint(connection):
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert not busy
    connection.execute("PRAGMA shrink_memory")


@pytest.fixture
def moved(tmp_path):
    """A database of which rows were deleted after many had moved: connection, path, words."""
    chance = random.Random(11)
    path = tmp_path / "a.db"
    path.touch()
    connection = connect(path, "mode=rw")
    ids = fill(connection, 3000, chance)
    gone = chance.sample(sorted(ids), 1500)
    connection.execute("BEGIN")
    connection.executemany("DELETE FROM said WHERE id = ?", [(number,) for number in gone])
    connection.execute("COMMIT")
    checkpoint(connection)
    yield connection, path, [word for n in gone for word in (f"word{n:05d}x", ids[n])]
    connection.close()


def test_what_was_deleted_after_it_had_moved_is_erased(moved):
    connection, path, words = moved
    assert hits(path, words) > 0, "SQLite left nothing, so that this tests nothing"
    before = connection.execute("SELECT * FROM said").fetchall()
    eraser = SlackEraser(path)
    connection.execute("PRAGMA shrink_memory")
    assert eraser.erase() > 0
    assert hits(path, words) == 0
    assert eraser.erase() == 0
    assert connection.execute("SELECT * FROM said").fetchall() == before
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    # It can be written as before, and what was erased is not written again.
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO said(text, uid) VALUES (?, ?)", [("later " * 30, f"l{n}") for n in range(999)]
    )
    connection.execute("DELETE FROM said WHERE id % 3 = 0")
    connection.execute("COMMIT")
    checkpoint(connection)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert hits(path, words) == 0
    connection.close()
    eraser.close()


@pytest.mark.parametrize("data", [b"", b"x" * 50, b"SQLite format 3\0" + b"\xff" * 8176])
def test_a_file_that_is_no_database_is_left_alone(tmp_path, data):
    path = tmp_path / "other"
    path.write_bytes(data)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        assert list(find_slack(descriptor)) == []
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("mode", [1, 2])
def test_pages_that_say_where_others_belong_are_left_alone(tmp_path, mode):
    """A database that vacuums itself has such pages; they look like pages of rows."""
    path = tmp_path / "a.db"
    path.touch()
    connection = connect(path, "mode=rw")
    for pragma in (f"auto_vacuum={mode}", "journal_mode=WAL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    connection.execute("CREATE TABLE said (id INTEGER PRIMARY KEY, text TEXT)")
    connection.execute("BEGIN")
    rows = [(n, f"word{n:05d}x " * 250) for n in range(3000)]
    connection.executemany("INSERT INTO said VALUES (?, ?)", rows)
    connection.execute("COMMIT")
    assert connection.execute("PRAGMA auto_vacuum").fetchone() == (mode,)
    checkpoint(connection)
    eraser = SlackEraser(path)
    eraser.erase()
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    eraser.close()


OTHER_WRITER = """
import sys
from cloxy_core.store.library import driver
connection = driver.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    connection.execute("INSERT INTO counters VALUES ('other', 1)")
except driver.OperationalError as error:
    print(error)
else:
    print("written")
    if sys.argv[2] == "stay":
        sys.stdin.read()
"""


def other_writer(path, how):
    command = [sys.executable, "-c", OTHER_WRITER, str(path), how]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_no_other_process_writes_while_it_is_erased(tmp_path):
    said = []

    async def work(store):
        erase = store._slack.erase

        def watched():
            process = other_writer(store.facts().path, "go")
            said.append(process.communicate(timeout=60)[0].strip())
            return erase()

        store._slack.erase = watched
        assert await store.erase()

    with_store(tmp_path / "d", work)
    assert said == ["database is locked"]


def test_what_another_process_wrote_in_between_makes_it_wait(tmp_path):
    async def work(store):
        truncate = store._truncate_log
        others = []

        def truncated():
            done = truncate()
            if not others:
                others.append(other_writer(store.facts().path, "stay"))
                assert others[0].stdout.readline() == "written\n"
            return done

        erased = []
        erase = store._slack.erase
        store._truncate_log = truncated
        store._slack.erase = lambda: erased.append(erase())
        assert not await store.erase()
        assert erased == []
        others[0].communicate("", timeout=60)
        assert await store.erase()
        assert len(erased) == 1

    with_store(tmp_path / "d", work)
