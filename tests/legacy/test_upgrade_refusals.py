"""What cannot be converted is refused in words, and the old file stays as it was."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from legacy.legacy_kit import backups, build, is_ours, old_rows, rows, upgrade

from cloxy_core.store.legacy import upgrade as module
from cloxy_core.store.legacy.building import NewDatabase
from cloxy_hookspecs.errors import (
    ConfigError,
    ForeignDatabaseError,
    IntegrityError,
    MigrationError,
    StoreBusyError,
    StoreError,
    StoreFullError,
)

CHILD = Path(__file__).with_name("old_child.py")


def refused(folder, error, words):
    """The old database is there as before, and nothing was left beside it."""
    path = folder / "memory.db"
    before = old_rows(path, "*")
    with pytest.raises(error, match=words) as caught:
        upgrade(folder)
    assert caught.value.hint
    assert old_rows(path, "*") == before
    assert not is_ours(path)
    assert not backups(folder)
    assert not list(folder.glob("memory.db.*"))
    return caught.value


def test_a_file_that_is_read_only(tmp_path, monkeypatch):
    build(tmp_path / "d")
    # As it is for everybody but root, who may run the tests.
    monkeypatch.setattr(module.os, "access", lambda path, mode: False)
    refused(tmp_path / "d", StoreError, "read-only")


@pytest.fixture
def immutable():
    """Makes a file read-only even for root."""
    done = []

    def make(path):
        if subprocess.run(["chattr", "+i", str(path)], capture_output=True).returncode:
            pytest.skip("there is no chattr here")
        done.append(path)

    yield make
    for path in done:
        subprocess.run(["chattr", "-i", str(path)], check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="modes and flags are POSIX's")
@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_file_that_cannot_be_changed_at_all(tmp_path, immutable, mode):
    path = build(tmp_path / "d")
    path.chmod(mode)
    before = path.read_bytes()
    immutable(path)
    with pytest.raises((StoreError, ConfigError), match=r"read-only|permissions cannot be changed"):
        upgrade(tmp_path / "d")
    assert path.read_bytes() == before
    assert not is_ours(path)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 24 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(place)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here (that takes root)")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill_up(path):
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 65_536)


def test_too_little_room_is_seen_before_anything_is_done(small_disk):
    folder = small_disk / "d"
    build(folder)
    fill_up(small_disk / "ballast")
    # Enough to look at the old database, for which SQLite itself needs a file.
    os.truncate(small_disk / "ballast", (small_disk / "ballast").stat().st_size - 2_000_000)
    error = refused(folder, StoreFullError, r"MiB must be free, and \d+ MiB are")
    assert "nothing was changed" in error.hint
    (small_disk / "ballast").unlink()
    assert is_ours(upgrade(folder))


def test_a_disk_that_becomes_full_on_the_way(small_disk, monkeypatch):
    folder = small_disk / "d"
    build(folder)
    begin = NewDatabase.begin

    def then_full(self, *arguments):
        begin(self, *arguments)
        fill_up(small_disk / "ballast")

    monkeypatch.setattr(NewDatabase, "begin", then_full)
    refused(folder, StoreFullError, "cannot grow")
    monkeypatch.undo()
    (small_disk / "ballast").unlink()
    assert is_ours(upgrade(folder))


def test_a_newer_number(tmp_path):
    def numbered(old):
        old.fill()
        old.connection.execute("PRAGMA user_version=7")

    build(tmp_path / "d", "5.1", numbered)
    refused(tmp_path / "d", MigrationError, "has the number 7")


def test_our_own_newer_one(tmp_path):
    build(tmp_path / "d")
    path = upgrade(tmp_path / "d")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=999")
    with pytest.raises(MigrationError, match="newer Cloxy"):
        upgrade(tmp_path / "d")


def test_a_table_of_that_name_in_another_program(tmp_path):
    (tmp_path / "d").mkdir()
    with contextlib.closing(sqlite3.connect(tmp_path / "d" / "memory.db")) as connection:
        connection.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, text TEXT)")
    with pytest.raises(ForeignDatabaseError, match="another program"):
        upgrade(tmp_path / "d")
    assert rows(tmp_path / "d" / "memory.db", "SELECT count(*) FROM chunks") == [(0,)]


def test_a_program_of_another_mark_with_such_a_table(tmp_path):
    def marked(old):
        old.fill()
        old.connection.execute("PRAGMA application_id=77")

    build(tmp_path / "d", "5.1", marked)
    with pytest.raises(ForeignDatabaseError, match="left untouched"):
        upgrade(tmp_path / "d")


def test_damage_among_the_rows(tmp_path):
    path = build(tmp_path / "d", "3", lambda old: [old.add(f"row {n} " * 40) for n in range(200)])
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2 // 4096 * 4096)
        file.write(b"\xde\xad" * 2048)
    with pytest.raises(IntegrityError, match="damaged"):
        upgrade(tmp_path / "d")
    assert not is_ours(path)
    assert not backups(tmp_path / "d")


def test_a_broken_index_of_words_does_not_matter(tmp_path):
    path = build(tmp_path / "d")
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE chunks_fts_data SET block = x'00' WHERE id > 1")
    assert is_ours(upgrade(tmp_path / "d"))


def child(*arguments, **more):
    """Another process; see `old_child.py`."""
    return subprocess.Popen(
        [sys.executable, str(CHILD), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        **more,
    )


def test_an_original_that_still_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("cloxy_core.store.connections.BUSY_SECONDS", 0.1)
    path = build(tmp_path / "d")
    running = child("hold", path)
    assert running.stdout.readline() == "open\n"
    refused(tmp_path / "d", StoreBusyError, "still has .* open")
    # It goes on as if nothing had been.
    running.communicate(timeout=30)
    assert running.returncode == 0
    assert is_ours(upgrade(tmp_path / "d"))
    found = rows(path, "SELECT count(*) FROM memories WHERE content = 'written late'")
    assert found == [(1,)]


def test_nobody_can_write_to_the_old_one_while_it_is_converted(tmp_path, monkeypatch):
    path = build(tmp_path / "d")
    added = NewDatabase.add
    tried = []

    def try_to_write(self, some):
        added(self, some)
        tried.append(child("write", path).communicate(timeout=30)[0])

    monkeypatch.setattr(NewDatabase, "add", try_to_write)
    upgrade(tmp_path / "d")
    assert tried
    assert all("locked" in words for words in tried)


def test_a_second_server_at_the_same_moment(tmp_path):
    build(tmp_path / "d")
    said = []

    def second(_words):
        said.append(child("upgrade", tmp_path / "d").communicate(timeout=60)[0])

    upgrade(tmp_path / "d", second)
    assert set(said) == {"DataDirectoryInUseError\n"}
    assert is_ours(tmp_path / "d" / "memory.db")
    assert len(backups(tmp_path / "d")) == 1


def test_a_copy_of_the_old_one_put_back_is_converted_again(tmp_path):
    path = build(tmp_path / "d")
    before = old_rows(path, "id, content")
    upgrade(tmp_path / "d")
    (kept,) = backups(tmp_path / "d")
    for beside in (tmp_path / "d").glob("memory.db*"):
        beside.unlink()
    shutil.copy(kept, path)
    upgrade(tmp_path / "d")
    assert rows(path, "SELECT id, content FROM memories ORDER BY id") == before
