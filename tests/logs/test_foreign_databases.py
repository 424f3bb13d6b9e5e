"""Databases of other programs are read, and nothing of theirs is made or changed."""

import hashlib
import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from cloxy_core.services.logs import beside, copies, databases, foreign
from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs import ForeignDatabaseError

CHILD = Path(__file__).with_name("database_child.py")
COUNT = "SELECT count(*) FROM said"
PATIENCE = 120.0


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "a#b %20 ü?x"
    made.mkdir()
    return made


@pytest.fixture
def path(folder):
    return folder / "store.db"


@pytest.fixture
def logs(tmp_path):
    return Logs(tmp_path / "own" / "copies")


class Program:
    """Another program, at work on a database."""

    def __init__(self, path, doing):
        self.process = subprocess.Popen(
            [sys.executable, str(CHILD), str(path), doing],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.line() == "ready"

    def line(self):
        return self.process.stdout.readline().strip()

    def ask(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        return self.line()

    def kill(self):
        self.process.kill()
        self.process.wait()


@contextmanager
def program(path, doing):
    made = Program(path, doing)
    try:
        yield made
    finally:
        made.kill()
        made.process.stdin.close()
        made.process.stdout.close()


def state(folder):
    """Names in a folder, and the bytes of each file but the index that users of a log share."""
    return {
        each.name: hashlib.sha256(each.read_bytes()).hexdigest()
        for each in folder.iterdir()
        if not each.name.endswith("-shm")
    } | {each.name: "" for each in folder.iterdir() if each.name.endswith("-shm")}


def count(logs, path):
    with logs.database(path) as database:
        return next(database.rows(COUNT))[0]


def made_database(path, mode="DELETE", rows=100):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode={mode}")
    connection.execute("CREATE TABLE said (id INTEGER PRIMARY KEY, text TEXT)")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO said (text) VALUES (?)", [("x" * 300,)] * rows)
    connection.execute("COMMIT")
    connection.close()


def busily(counts):
    """Turns for a moment, and until there are some counts."""
    begun = time.monotonic()
    while time.monotonic() < begun + 1.5 or len(counts) <= 3:
        assert time.monotonic() < begun + PATIENCE
        yield


def leave(path, doing, *without):
    """Let a program be killed, and take files away that would lie beside."""
    with program(path, doing):
        pass
    for ending in without:
        beside.beside(path, ending).unlink()


@pytest.mark.process
def test_live_log_is_read_and_left_alone(logs, path, folder):
    with program(path, "idle") as other:
        before = state(folder)
        assert set(before) == {"store.db", "store.db-wal", "store.db-shm"}
        assert count(logs, path) == 100
        assert state(folder) == before

        other.ask("insert")
        assert count(logs, path) == 200


@pytest.mark.process
def test_open_write_transaction_is_not_waited_for(logs, path, folder):
    with program(path, "open") as other:
        before = state(folder)
        assert count(logs, path) == 100
        assert state(folder) == before
        other.ask("commit")
        assert count(logs, path) == 400


@pytest.mark.process
def test_exclusive_lock_without_index_is_read_from_a_copy(logs, path, folder, tmp_path):
    with program(path, "exclusive"):
        # Begun while it was shared, the index stays; one that was made for one alone has none.
        beside.beside(path, "-shm").unlink(missing_ok=True)
        before = state(folder)
        with logs.database(path) as database:
            (copy,) = (tmp_path / "own" / "copies").iterdir()
            assert {each.stat().st_mode & 0o777 for each in copy.iterdir()} == {0o600}
            assert copy.stat().st_mode & 0o777 == 0o700
            assert list(database.rows(COUNT)) == [(100,)]
        assert state(folder) == before
        assert not list((tmp_path / "own" / "copies").iterdir())


@pytest.mark.process
def test_exclusive_lock_on_a_shared_log_is_told_soon(logs, path, folder):
    leave(path, "idle")
    with locked_by_another(path):
        before = state(folder)
        began = time.monotonic()
        with pytest.raises(ForeignDatabaseError, match="locked by another program"):
            count(logs, path)
        assert time.monotonic() - began < 60
        assert state(folder) == before
    assert count(logs, path) == 100


@contextmanager
def locked_by_another(path):
    """Hold the lock of one who has a database for himself, from another process."""
    script = (
        "import fcntl,sys,struct\n"
        "f=open(sys.argv[1],'rb+')\n"
        "fcntl.lockf(f, fcntl.LOCK_EX, 510, 0x40000002)\n"
        "print('ready',flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.mark.process
@pytest.mark.parametrize("without", [(), ("-shm",)], ids=["stale index", "no index"])
def test_log_of_a_killed_program_is_read(logs, path, folder, without):
    leave(path, "idle", *without)
    before = state(folder)
    assert ("store.db-shm" in before) == (not without)

    assert count(logs, path) == 100
    assert state(folder) == before
    index = folder / "store.db-shm"
    if index.exists():
        index.write_bytes(b"\x5a" * 32768)
        assert count(logs, path) == 100
        assert index.read_bytes() == b"\x5a" * 32768


@pytest.mark.process
def test_change_that_did_not_end_is_undone_in_a_copy_only(logs, path, folder):
    leave(path, "delete-spilled")
    before = state(folder)
    assert set(before) == {"store.db", "store.db-journal"}

    with logs.database(path) as database:
        rows = list(database.rows("SELECT id, text FROM said"))

    assert len(rows) == 100
    assert not [text for _id, text in rows if text == "changed"]
    assert state(folder) == before


def test_journal_that_was_kept_but_is_over_is_no_matter(logs, path, folder):
    made_database(path, "PERSIST")
    assert beside.beside(path, "-journal").stat().st_size > 0
    before = state(folder)

    assert count(logs, path) == 100
    assert state(folder) == before


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_closed_database_is_read_as_unchanging(logs, path, folder, mode):
    made_database(path, mode)
    before = state(folder)
    assert set(before) == {"store.db"}

    assert count(logs, path) == 100
    assert state(folder) == before


@pytest.mark.skipif(os.name == "nt", reason="modes of folders are another matter there")
@pytest.mark.process
@pytest.mark.parametrize("without", [(), ("-shm",), ("-shm", "-wal")])
def test_folder_that_may_not_be_written(logs, path, folder, without):
    leave(path, "idle", *without)
    before = state(folder)
    for each in folder.iterdir():
        each.chmod(0o400)
    folder.chmod(0o500)
    try:
        if "-wal" in without:
            with pytest.raises(ForeignDatabaseError, match="no such table"):
                count(logs, path)
        else:
            assert count(logs, path) == 100
        assert state(folder) == before
    finally:
        folder.chmod(0o700)


def test_change_during_an_unchanging_read_is_noticed(logs, path):
    made_database(path)
    with (
        pytest.raises(ForeignDatabaseError, match="changed while it was read"),
        logs.database(path) as database,
    ):
        assert list(database.rows(COUNT)) == [(100,)]
        writer = sqlite3.connect(path)
        writer.execute("UPDATE said SET text = 'y' WHERE id = 1")
        writer.commit()
        writer.close()


def test_change_while_an_unchanging_read_begins_is_no_damage(logs, path, monkeypatch):
    made_database(path)
    sound = path.read_bytes()
    real = databases.ForeignConnection

    def amid_a_change(name, uri):
        path.write_bytes(sound[:100] + b"\xff" * (len(sound) - 100))
        return real(name, uri)

    monkeypatch.setattr(databases, "ForeignConnection", amid_a_change)
    with (
        pytest.raises(ForeignDatabaseError, match="changed while it was read"),
        logs.database(path),
    ):
        pass


def test_counter_of_changes_is_compared_too(logs, path):
    made_database(path)
    with (
        pytest.raises(ForeignDatabaseError, match="changed while it was read"),
        logs.database(path),
    ):
        facts = path.stat()
        writer = sqlite3.connect(path)
        writer.execute("UPDATE said SET text = 'y' WHERE id = 1")
        writer.commit()
        writer.close()
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        assert path.stat().st_size == facts.st_size


def test_log_begun_meanwhile_changes_nothing_of_what_was_read(logs, path):
    made_database(path, "WAL")
    with logs.database(path) as database:
        writer = sqlite3.connect(path)
        writer.execute("INSERT INTO said (text) VALUES ('y')")
        writer.commit()
        assert list(database.rows(COUNT)) == [(100,)]
    assert count(logs, path) == 101
    writer.close()


@pytest.mark.process
@pytest.mark.parametrize("doing", ["reopen", "rollback"])
def test_program_that_writes_without_end_is_not_disturbed(logs, path, folder, doing):
    seen, failures = [], []
    with program(path, doing) as other:
        counts = []
        for _ in busily(counts):
            try:
                counts.append(count(logs, path))
            except ForeignDatabaseError as error:
                failures.append(str(error))
        seen.append(other.ask("stop"))
    assert seen == ["0"], "errors of the other program"
    assert counts == sorted(counts)
    assert all("damaged" not in each for each in failures)
    assert set(state(folder)) - {"store.db-journal", "store.db-wal", "store.db-shm"} == {"store.db"}


@pytest.mark.process
def test_log_of_a_program_that_writes_without_end_can_be_emptied(logs, path):
    with program(path, "loop") as other:
        counts = []
        for _ in busily(counts):
            counts.append(count(logs, path))
            time.sleep(0.01)  # as between two polls
        other.process.stdin.write("stop\n")
        other.process.stdin.flush()
        # It goes on, and is read, until the log was emptied several times.
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(other.line()))
        waiting.start()
        while waiting.is_alive():
            counts.append(count(logs, path))
            time.sleep(0.01)
        waiting.join()
        assert int(answers[0]) > 3
        assert other.process.wait(PATIENCE) == 0
    assert counts == sorted(counts)


@pytest.mark.process
def test_log_can_be_emptied_between_two_reads(logs, path):
    with program(path, "idle") as other:
        for number in range(1, 4):
            with logs.database(path) as database:
                rows = database.rows("SELECT id FROM said")
                next(rows)
                assert other.ask("truncate").startswith("(1,"), "a read in progress holds it"
                rows.close()
            assert other.ask("truncate") == "(0, 0, 0)"
            other.ask("insert")
            assert count(logs, path) == 100 * (number + 1)


def test_log_that_went_after_our_look_is_not_made_anew(logs, path, folder, monkeypatch):
    made_database(path, "WAL")
    real, looks = beside.look_at, []

    def look(place):
        looks.append(real(place))
        return replace(looks[0], wal=(0, 0), shared=True) if len(looks) == 1 else looks[-1]

    monkeypatch.setattr(databases, "look_at", look)

    assert count(logs, path) == 100
    assert set(state(folder)) == {"store.db"}


def test_too_large_to_be_copied_says_so(logs, path, monkeypatch):
    leave(path, "idle", "-shm")
    monkeypatch.setattr(copies, "COPY_LIMIT", 10_000)

    with pytest.raises(ForeignDatabaseError, match=r"too large.*limit") as caught:
        count(logs, path)
    assert caught.value.hint


def test_no_room_for_a_copy_says_so(logs, path, monkeypatch):
    leave(path, "idle", "-shm")
    monkeypatch.setattr(copies, "_ROOM", 1 << 50)

    with pytest.raises(ForeignDatabaseError, match="No space left"):
        count(logs, path)


def test_database_that_changes_while_it_is_copied_is_tried_again(logs, path, monkeypatch, tmp_path):
    leave(path, "idle", "-shm")
    real, times = copies._copy_file, []

    def copying(source, target):
        real(source, target)
        if len(times) < 2 and source == path:
            times.append(1)
            os.utime(path, ns=(len(times), len(times)))

    monkeypatch.setattr(copies, "_copy_file", copying)
    assert count(logs, path) == 100
    assert not list((tmp_path / "own" / "copies").iterdir())

    def never(source, target):
        real(source, target)
        times.append(1)
        os.utime(path, ns=(len(times), len(times)))

    monkeypatch.setattr(copies, "_copy_file", never)
    with pytest.raises(ForeignDatabaseError, match="changed while it was copied"):
        count(logs, path)
    assert not list((tmp_path / "own" / "copies").iterdir())


@pytest.mark.process
def test_copies_of_a_killed_process_are_removed_at_start(path, cloxy_app):
    app = cloxy_app()
    app.stop()
    left = app.data / "foreign-copies" / "copy-1"
    left.mkdir(parents=True)
    (left / "copy.db").write_text("words")

    app.start()

    assert not left.exists()


def test_nothing_but_reading_is_possible(logs, path, folder):
    made_database(path)
    before = state(folder)
    with logs.database(path) as database:
        for statement in (
            "DELETE FROM said",
            "CREATE TABLE other (a)",
            "ATTACH '/tmp/x' AS x",
            "PRAGMA journal_mode=WAL",
            "PRAGMA writable_schema=ON",
            "SELECT load_extension('x')",
            "VACUUM INTO '/tmp/x'",
        ):
            with pytest.raises(ForeignDatabaseError):
                list(database.rows(statement))
    assert state(folder) == before


def test_views_and_triggers_of_others_do_no_harm(logs, path):
    made_database(path)
    connection = sqlite3.connect(path)
    connection.execute("CREATE VIEW bad AS SELECT load_extension('x') AS a")
    connection.commit()
    connection.close()

    with logs.database(path) as database:
        assert database.tables() == {"said", "bad"}
        with pytest.raises(ForeignDatabaseError):
            list(database.rows("SELECT * FROM bad"))
        assert list(database.rows(COUNT)) == [(100,)]


def test_statement_that_does_not_end_is_broken_off(path):
    made_database(path)
    connection = foreign.ForeignConnection("it", path.as_uri() + "?mode=ro", seconds=0.3)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with pytest.raises(foreign.Interrupted, match=r"more than 0\.3 s"):
        list(connection.rows(endless))
    with pytest.raises(foreign.Interrupted):
        connection.tables()
    connection.close()


def test_slow_caller_holds_no_log_for_ever(path):
    made_database(path, rows=2000)
    connection = foreign.ForeignConnection("it", path.as_uri() + "?mode=ro", seconds=1.0)
    rows = connection.rows("SELECT id FROM said")
    next(rows)
    time.sleep(1.2)
    with pytest.raises(foreign.Interrupted):
        list(rows)
    connection.close()


def test_text_that_is_no_utf8_is_repaired(logs, path):
    made_database(path, rows=0)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO said (text) VALUES (CAST(x'61ff62eda080' AS TEXT))")
    connection.execute("INSERT INTO said (text) VALUES (x'00ff')")
    connection.execute("INSERT INTO said (text) VALUES (NULL)")
    connection.commit()
    connection.close()

    with logs.database(path) as database:
        texts = [text for (text,) in database.rows("SELECT text FROM said ORDER BY id")]

    assert texts[0].startswith("a\ufffdb")
    texts[0].encode()
    assert texts[1:] == [b"\x00\xff", None]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"no database at all, but some words" * 100, "no SQLite database"),
        (b"SQLite format 3\x00" + b"\x10\x00" + b"\xff" * 4000, "cannot be read"),
    ],
)
def test_what_is_no_database_says_so(logs, path, data, words):
    path.write_bytes(data)
    with pytest.raises(ForeignDatabaseError, match=words):
        count(logs, path)


def test_missing_file_link_and_folder_say_so(logs, path, folder, tmp_path):
    with pytest.raises(ForeignDatabaseError, match="No such file"):
        count(logs, path)
    assert not list(folder.iterdir())
    made_database(tmp_path / "outside.db")
    path.symlink_to(tmp_path / "outside.db")
    with pytest.raises(ForeignDatabaseError, match="link"):
        count(logs, path)
    with pytest.raises(ForeignDatabaseError, match="regular"):
        count(logs, folder)


def test_damaged_pages_say_so(logs, path):
    made_database(path, rows=2000)
    data = bytearray(path.read_bytes())
    data[4096 * 3 :] = b"\xa5" * (len(data) - 4096 * 3)
    path.write_bytes(data)
    with (
        pytest.raises(ForeignDatabaseError, match="damaged"),
        logs.database(path) as database,
    ):
        list(database.rows("SELECT * FROM said"))


def test_missing_tables_and_columns(logs, path):
    made_database(path)
    with logs.database(path) as database:
        assert database.tables() == {"said"}
        assert database.columns("said") == {"id", "text"}
        assert database.columns("none; DROP TABLE said") == frozenset()
        with pytest.raises(ForeignDatabaseError, match="no such table: none"):
            list(database.rows("SELECT * FROM none"))
        with pytest.raises(ForeignDatabaseError, match="no such column: none"):
            list(database.rows("SELECT none FROM said"))
        assert list(database.rows("SELECT id FROM said WHERE id < ?", (3,))) == [(1,), (2,)]
    with pytest.raises(ForeignDatabaseError, match="closed"):
        database.tables()


def test_signature_differs_with_every_write(logs, path):
    assert logs.signature(path) == (0, 0)
    made_database(path, "WAL")
    seen = [logs.signature(path)]
    connection = sqlite3.connect(path, isolation_level=None)
    for number in range(5):
        time.sleep(0.02)
        connection.execute("UPDATE said SET text = ? WHERE id = 1", (str(number),))
        seen.append(logs.signature(path))
    connection.close()
    assert len(set(seen)) == len(seen)
    assert seen[0] == (path.stat().st_size, seen[0][1])


def test_two_readers_take_turns(logs, path, monkeypatch):
    made_database(path)
    monkeypatch.setattr(databases, "_TURN_SECONDS", 0.2)
    with (
        logs.database(path),
        pytest.raises(ForeignDatabaseError, match="being read already"),
        logs.database(path),
    ):
        pass
    assert count(logs, path) == 100


def test_error_of_the_caller_stays_his(logs, path):
    made_database(path)
    with pytest.raises(OSError, match="mine"), logs.database(path):
        raise OSError("mine")
    assert count(logs, path) == 100
