"""`cloxy restore`: what comes back, what stays forgotten, and what is refused."""

import os
import pty
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from ingest.session_lines import lines, turns
from keeping_kit import LATER, NOTES, Keeper, assert_forgotten, contents, dump
from process.cli_runner import PROGRAM, child_environment
from server.live_server import LiveServer

from cloxy_core.services.write.tombstones import key_mark
from cloxy_core.store.library import driver
from cloxy_hookspecs import StoreError
from cloxy_hookspecs.errors import (
    DataDirectoryInUseError,
    ForeignDatabaseError,
    InputError,
    IntegrityError,
    MigrationError,
    NotFoundError,
    StoreBusyError,
    StoreFullError,
)

pytestmark = pytest.mark.process


def assert_held_back(keeper):
    """No log is read."""
    with (
        keeper.server() as server,
        pytest.raises(StoreError, match="forgotten text would come back"),
    ):
        server.ingest(force=True)


def marks(database):
    with closing(sqlite3.connect(database)) as connection:
        query = "SELECT key_hmac FROM tombstones WHERE scope = 'key'"
        return {row[0] for row in connection.execute(query)}


def test_what_was_forgotten_since_does_not_come_back(forgetful):
    old = forgetful.contents()
    assert any(NOTES[0] in content for content in contents(forgetful.kept))
    done = forgetful.restore()
    assert done["forgotten_passages"] >= 12 + 1
    assert done["warnings"] == []
    assert contents(done["before"]) == old
    assert "before-restore" in done["before"]
    assert LATER not in forgetful.contents()
    for path in forgetful.data.glob("memory.db*"):
        assert NOTES[0].encode() not in path.read_bytes()
        assert b"number 2" not in path.read_bytes()
    assert_forgotten(forgetful)
    assert not list(forgetful.data.glob("doctor-*"))


def test_no_index_finds_it_and_all_find_the_rest(forgetful):
    forgetful.restore()
    with forgetful.server() as server:
        assert not any("staging" in hit.content for hit in server.recall("blue lantern staging"))
        assert any("kettle" in hit.content for hit in server.recall("green kettle production"))
    done = forgetful.run("doctor")
    assert b"ERROR" not in done.stdout, done.stdout


def test_indexes_outside_of_the_database_are_built_anew(forgetful):
    with closing(sqlite3.connect(forgetful.kept)) as connection, connection:
        connection.execute("INSERT INTO index_checkpoints VALUES ('exact_index', 3)")
    forgetful.restore()
    with closing(sqlite3.connect(forgetful.database)) as connection:
        assert connection.execute("SELECT * FROM index_checkpoints").fetchall() == []


def test_logs_that_grew_are_read_and_known_messages_recognised(keeper, tmp_path):
    watched = tmp_path / "logs"
    shutil.copytree(keeper.watched, watched)
    grown = Keeper(tmp_path, watched=watched)
    with grown.server() as server:
        server.ingest()
    grown.backup(grown.kept)
    longer = lines(*turns(20, session="s1", stem="lantern queue number 1"))
    with grown.server() as server:
        server.write(longer, name="s1.jsonl")
        server.ingest()
        want = server.sessions()
    grown.restore()
    with grown.server() as server:
        assert len(server.messages("s1")) < len(want["s1"])
        server.ingest()
        assert server.sessions() == want
        server.check(bounded=False)


def test_the_restored_file_stays_whatever_its_age(keeper):
    with keeper.server() as server:
        made = [server.do(server.engine.store.back_up()) for _ in range(5)]
    keeper.restore(made[0])
    assert all(path.exists() for path in made)


def test_a_running_server_is_named(forgetful):
    settings = {**forgetful.environment}
    with LiveServer(forgetful.folder, **settings) as live:
        done = forgetful.run("restore", forgetful.kept, "--yes")
        assert done.returncode == DataDirectoryInUseError.exit_code
        words = done.stderr.decode()
        assert f"process {live.process.pid}" in words
        assert "stop it, then run `cloxy restore` again" in words
    assert LATER in forgetful.contents()


def test_a_reader_is_not_cut_off(forgetful):
    with forgetful.server() as server:
        before = server.contents()
    with closing(sqlite3.connect(forgetful.database, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memories").fetchone()
        forgetful.sql("UPDATE memories SET updated_at = updated_at + 1")
        done = forgetful.run("restore", forgetful.kept, "--yes")
        assert done.returncode == StoreBusyError.exit_code
        assert "another program reads" in done.stderr.decode()
    assert forgetful.contents() == before


def garbled(path):
    with path.open("r+b") as file:
        file.seek(3 * 4096)
        file.write(os.urandom(4096 * 4))


def changed(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE memories SET content = content || '!' WHERE id = 2")


def foreign(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA application_id = 7")


def newer(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")


def newer_plugin(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        (last,) = connection.execute(
            "SELECT max(number) FROM schema_migrations WHERE owner = 'core'"
        ).fetchone()
        connection.execute("INSERT INTO schema_migrations VALUES ('core', ?, 1)", (last + 1,))


def acting(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TRIGGER more AFTER INSERT ON memories BEGIN DELETE FROM tombstones; END"
        )


def seeing(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE VIEW more AS SELECT * FROM memories")


def in_use(path):
    Path(f"{path}-wal").write_bytes(b"changes")


@pytest.mark.parametrize(
    ("harm", "error", "words"),
    [
        (garbled, IntegrityError, "is damaged"),
        (changed, IntegrityError, "is not what was stored"),
        (lambda path: path.write_bytes(b"words" * 999), IntegrityError, "not a database"),
        (lambda path: path.write_bytes(b""), IntegrityError, "not a database"),
        (foreign, ForeignDatabaseError, "not a backup of this Cloxy"),
        (newer, MigrationError, "newer Cloxy"),
        (newer_plugin, MigrationError, "newer version"),
        (acting, ForeignDatabaseError, "holds a trigger"),
        (seeing, ForeignDatabaseError, "holds a view"),
        (in_use, InputError, "no finished backup"),
        (Path.unlink, NotFoundError, "there is no file"),
    ],
)
def test_what_is_no_sound_backup_is_refused_and_nothing_changes(forgetful, harm, error, words):
    harm(forgetful.kept)
    before = forgetful.bytes()
    done = forgetful.run("restore", forgetful.kept, "--yes")
    assert done.returncode == error.exit_code, done.stderr
    assert words in done.stderr.decode()
    assert forgetful.bytes() == before


def test_nothing_of_its_index_of_words_is_trusted(forgetful):
    with closing(driver.connect(str(forgetful.kept))) as connection, connection:
        connection.execute(
            "UPDATE fts_passages SET body = 'sawfishbone' WHERE passage_id ="
            " (SELECT min(passage_id) FROM fts_passages)"
        )
        connection.execute("INSERT INTO passages_fts(passages_fts) VALUES('rebuild')")
        connection.execute("UPDATE passages_fts_data SET block = x'ff' WHERE id > 10")
    done = forgetful.run("restore", forgetful.kept, "--yes", "--json")
    if done.returncode:
        # Libraries that look into the index say that it is damaged.
        assert b"is damaged" in done.stderr
        with closing(driver.connect(str(forgetful.kept))) as connection, connection:
            connection.execute("INSERT INTO passages_fts(passages_fts) VALUES('rebuild')")
        forgetful.restore()
    with forgetful.server() as server:
        assert server.recall("sawfishbone") == []
        assert server.recall("lantern queue number")
        server.check()


def test_the_live_memory_is_no_backup(forgetful):
    before = forgetful.bytes()
    done = forgetful.run("restore", forgetful.database, "--yes")
    assert done.returncode == InputError.exit_code
    assert "is the memory itself" in done.stderr.decode()
    assert forgetful.bytes() == before


def test_a_full_disk_leaves_everything_as_it_was(forgetful):
    resource = pytest.importorskip("resource")
    before = forgetful.contents()
    limit = forgetful.kept.stat().st_size // 2
    done = subprocess.run(
        [PROGRAM, "restore", forgetful.kept, "--yes"],
        env=child_environment(None, forgetful.environment),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
    )
    assert done.returncode == StoreFullError.exit_code, done.stderr
    assert "cannot grow" in done.stderr.decode()
    assert forgetful.contents() == before
    assert not list(forgetful.data.glob("doctor-*"))


def test_where_nobody_can_be_asked_it_takes_yes(forgetful):
    before = forgetful.bytes()
    done = forgetful.run("restore", forgetful.kept)
    assert done.returncode == 2
    assert "--yes" in done.stderr.decode()
    assert forgetful.bytes() == before


@pytest.mark.parametrize(("answer", "code"), [("n", 130), ("y", 0)])
def test_on_a_terminal_it_asks(forgetful, answer, code):
    old = forgetful.contents()
    main, other = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, "restore", forgetful.kept],
        env=child_environment(None, forgetful.environment),
        stdin=other,
        stdout=subprocess.DEVNULL,
        stderr=other,
    )
    os.close(other)
    said = b""
    while b"?" not in said:
        said += os.read(main, 4096)
    os.write(main, f"{answer}\n".encode())
    while True:
        try:
            said += os.read(main, 4096)
        except OSError:
            break
    os.close(main)
    assert process.wait(60) == code, said
    assert (forgetful.contents() == old) == bool(code)


def other_machine(keeper, *, with_key):
    """The same logs, and the backup of a memory that has forgotten, on a machine without any."""
    keeper.backup(keeper.folder / "after.db")
    new = Keeper(keeper.folder / "new", watched=keeper.watched)
    new.folder.mkdir()
    shutil.copy(keeper.folder / "after.db", new.kept)
    if with_key:
        shutil.copy(keeper.folder / "after.db.key", f"{new.kept}.key")
    return new


def test_on_another_machine_its_key_keeps_forgotten_what_was_forgotten(forgetful):
    new = other_machine(forgetful, with_key=True)
    done = new.restore()
    assert done["before"] is None
    assert done["warnings"] == []
    key = (new.data / "tombstones.key").read_bytes()
    assert key == (forgetful.data / "tombstones.key").read_bytes()
    assert_forgotten(new)
    assert new.contents() == forgetful.contents()


def test_on_another_machine_without_its_key_no_log_is_read(forgetful):
    new = other_machine(forgetful, with_key=False)
    done = new.restore()
    assert any("not recognised" in words for words in done["warnings"])
    assert any("ingest.hold" in words for words in done["warnings"])
    with new.server() as server:
        with pytest.raises(StoreError, match="forgotten text would come back"):
            server.ingest(force=True)
        assert "s2" not in server.sessions()


def test_its_key_takes_the_place_of_one_that_nothing_was_forgotten_with(forgetful):
    new = other_machine(forgetful, with_key=True)
    with new.server() as server:
        server.remember("a memory of another machine that has forgotten nothing yet")
    former = (new.data / "tombstones.key").read_bytes()
    done = new.restore()
    assert any("took the place" in words for words in done["warnings"])
    assert Path(done["former_key"]).read_bytes() == former
    assert_forgotten(new)


def test_the_key_that_is_here_wins_when_things_were_forgotten_with_it(forgetful):
    new = other_machine(forgetful, with_key=True)
    with new.server() as server:
        server.ingest()
        (note,) = server.remember("a note of this machine that is to be forgotten in a moment")
        server.forget(note)
    own = (new.data / "tombstones.key").read_bytes()
    done = new.restore()
    assert any("that is here stays" in words for words in done["warnings"])
    assert (new.data / "tombstones.key").read_bytes() == own
    assert key_mark(own) in marks(new.database)
    assert len(marks(new.database)) == 2
    assert_held_back(new)


def test_a_consent_of_before_does_not_count_for_a_key_that_does_not_fit(forgetful):
    key = forgetful.data / "tombstones.key"
    key.write_bytes(bytes(range(32)))
    Path(f"{forgetful.kept}.key").unlink()
    with closing(sqlite3.connect(forgetful.kept)) as connection, connection:
        mark = key_mark(key.read_bytes()).hex()
        connection.execute(
            "INSERT INTO counters (key, value) VALUES (?, 1)", (f"ingest.held-for-key.{mark}",)
        )
    forgetful.restore()
    assert (forgetful.data / "ingest.hold").exists()
    assert_held_back(forgetful)


def test_a_damaged_memory_is_replaced_and_kept(forgetful):
    forgetful.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(forgetful.database.read_bytes())
    data[:100] = bytes(100)
    forgetful.database.write_bytes(data)
    log = Path(f"{forgetful.database}-wal")
    log.write_bytes(b"no log of the new file")
    done = forgetful.restore()
    assert not log.exists()
    assert Path(f"{done['before']}-wal").read_bytes() == b"no log of the new file"
    assert Path(done["before"]).read_bytes() == bytes(data)
    assert "quarantine" in done["before"]
    assert any("may be short" in words for words in done["warnings"])
    assert contents(forgetful.kept) == forgetful.contents()
    assert_held_back(forgetful)


def test_ids_that_were_given_are_not_given_again(forgetful):
    with closing(sqlite3.connect(forgetful.database)) as connection:
        (last,) = connection.execute("SELECT max(id) FROM memories").fetchone()
    forgetful.restore()
    with forgetful.server() as server:
        (new,) = server.remember("a note from after the restore about nothing in particular")
    assert new > last


def test_twice_gives_the_same(forgetful):
    forgetful.restore()
    first = forgetful.contents()
    done = forgetful.restore()
    assert forgetful.contents() == first
    assert done["forgotten_passages"] >= 13
    assert "memories" in dump(forgetful.database)
