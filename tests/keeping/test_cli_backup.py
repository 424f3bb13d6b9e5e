"""`cloxy backup`: on real files, with a real server and without."""

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest
from keeping_kit import contents, dump
from process.cli_runner import PROGRAM, child_environment
from server.live_server import LiveServer

from cloxy_hookspecs.errors import (
    InputError,
    IntegrityError,
    NotFoundError,
    StoreFullError,
)

pytestmark = pytest.mark.process


def refused(keeper, error, words, *arguments):
    done = keeper.run("backup", *arguments)
    assert done.returncode == error.exit_code, done
    assert words in done.stderr.decode()


def test_every_row_is_in_it_and_comes_back(keeper):
    before = dump(keeper.database)
    kept = keeper.backup(keeper.kept)
    assert dump(keeper.kept) == before
    assert kept["path"] == str(keeper.kept)
    assert kept["bytes"] == keeper.kept.stat().st_size
    assert kept["memories"] == len(keeper.contents())
    assert kept["messages"] == 4 * 12
    with keeper.server() as server:
        server.remember("this is not in the backup, and goes away with the restore")
    assert dump(keeper.database) != before
    keeper.restore()
    assert dump(keeper.database) == before
    with keeper.server() as server:
        server.check(bounded=False)


def test_in_words_and_in_the_folder_of_backups(keeper):
    done = keeper.run("backup")
    assert done.returncode == 0, done.stderr
    words = done.stdout.decode()
    (path,) = (keeper.data / "backups").glob("memory-*-by-hand.db")
    assert f"backup: {path}" in words
    assert "not encrypted" in words
    key = path.with_name(f"{path.name}.key")
    assert key.read_bytes() == (keeper.data / "tombstones.key").read_bytes()
    for file in (path, key):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(path.parent.iterdir()) == [path, key]
    assert done.stderr == b""


def test_automatic_backups_never_push_it_out(keeper):
    place = keeper.data / "backups"
    by_hand = Path(keeper.backup()["path"])
    named = place / "memory-20200101T000000000Z-mine.db"
    other = place / "memory-of-spring.db"
    for path in (named, other):
        keeper.backup(path)
    with keeper.server() as server:
        made = [server.do(server.engine.store.back_up()) for _ in range(7)]
    for path in (by_hand, named, other):
        assert contents(path) == keeper.contents()
    assert [path.exists() for path in made] == [False] * 2 + [True] * 5


def test_what_is_there_is_replaced_only_by_force(keeper):
    keeper.kept.write_bytes(b"precious")
    refused(keeper, InputError, "is there already", keeper.kept)
    assert keeper.kept.read_bytes() == b"precious"
    keeper.backup(keeper.kept, "--force")
    assert contents(keeper.kept) == keeper.contents()


def test_a_place_where_it_cannot_be(keeper):
    refused(keeper, NotFoundError, "there is no folder", keeper.folder / "none" / "a.db")
    before = keeper.bytes()
    refused(keeper, InputError, "among the files of the memory", keeper.database, "--force")
    refused(keeper, InputError, "is a folder", keeper.folder, "--force")
    assert keeper.bytes() == before


def test_without_a_memory(keeper):
    shutil.rmtree(keeper.data)
    refused(keeper, NotFoundError, "there is no memory")
    assert not keeper.data.exists()


def test_a_copy_that_does_not_pass_its_check_gets_no_name(keeper):
    keeper.sql("UPDATE memories SET content = content || '!' WHERE id = 2")
    refused(keeper, IntegrityError, "no backup was made: the text of 1 memory", keeper.kept)
    assert not [path for path in keeper.folder.iterdir() if "kept" in path.name]


def test_a_full_disk_is_told_and_nothing_is_left(keeper):
    resource = pytest.importorskip("resource")
    limit = keeper.database.stat().st_size // 2
    done = subprocess.run(
        [PROGRAM, "backup", keeper.kept],
        env=child_environment(None, keeper.environment),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
    )
    assert done.returncode == StoreFullError.exit_code
    assert f"{keeper.kept} cannot grow" in done.stderr.decode()
    assert not [path for path in keeper.folder.iterdir() if "kept" in path.name]


@pytest.fixture
def elsewhere(tmp_path):
    """A folder on another file system."""
    place = tmp_path / "mounted"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(place)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a file system cannot be mounted here (that takes root)")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_on_another_file_system_and_back(keeper, elsewhere):
    before = dump(keeper.database)
    assert elsewhere.stat().st_dev != keeper.folder.stat().st_dev
    keeper.backup(elsewhere / "kept.db")
    with keeper.server() as server:
        server.forget_source("convo:s1")
        server.remember("something else altogether that is not kept")
    keeper.restore(elsewhere / "kept.db")
    after = dump(keeper.database)
    assert len(after["memories"]) < len(before["memories"])
    (elsewhere / "kept.db").unlink()
    with (
        (elsewhere / "ballast").open("wb", buffering=0) as file,
        pytest.raises(OSError, match="space"),
    ):
        while True:
            file.write(bytes(1 << 16))
    refused(keeper, StoreFullError, "cannot grow", elsewhere / "more.db")
    assert sorted(path.name for path in elsewhere.iterdir()) == ["ballast", "kept.db.key"]


def test_while_a_server_writes(keeper):
    settings = {**keeper.environment, "CLOXY_DATA_DIR": str(keeper.data)}
    stop, stored = threading.Event(), []

    def write(live):
        while not stop.is_set():
            text = f"note number {len(stored):05} about the harbour and the crane beside it"
            status, _ = live.ask("POST", "/ingest_text", {"text": text, "source": "note"})
            assert status == 200
            stored.append(text)

    with LiveServer(keeper.folder, **settings) as live:
        writer = threading.Thread(target=write, args=(live,))
        writer.start()
        try:
            for number in range(3):
                before = len(stored)
                path = keeper.folder / f"{number}.db"
                keeper.backup(path)
                found = [text for text in contents(path) if text.startswith("note number")]
                # One moment: no note is missing before the last one.
                assert found == [found_text(i) for i in range(len(found))]
                assert before <= len(found)
                assert len(stored) > before
        finally:
            stop.set()
            writer.join()
        # What is in the log beside the file alone is kept, too.
        keeper.backup(keeper.kept)
        found = [text for text in contents(keeper.kept) if text.startswith("note number")]
        assert found == stored
    kept = [text for text in keeper.contents() if text.startswith("note number")]
    assert kept == stored


def found_text(number):
    return f"note number {number:05} about the harbour and the crane beside it"


def test_through_a_linked_folder(keeper, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(keeper.folder)
    through = {"CLOXY_DATA_DIR": str(link / "data")}
    before = dump(keeper.database)
    keeper.backup(link / "kept.db", **through)
    with keeper.server() as server:
        server.remember("something else altogether that is not kept")
    keeper.restore(link / "kept.db", **through)
    assert dump(keeper.database) == before
    data = tmp_path / "linked-data"
    data.symlink_to(keeper.data)
    done = keeper.run("restore", keeper.kept, "--yes", CLOXY_DATA_DIR=str(data))
    assert done.returncode == 2
    assert "is a link" in done.stderr.decode()
    assert dump(keeper.database) == before


def test_a_key_that_does_not_fit_is_told(forgetful):
    (forgetful.data / "tombstones.key").write_bytes(bytes(32))
    done = forgetful.run("backup", forgetful.folder / "b.db")
    assert done.returncode == 0
    assert "is missing or another than before" in done.stderr.decode()
    with closing(sqlite3.connect(forgetful.folder / "b.db")) as connection:
        assert connection.execute("SELECT count(*) FROM tombstones").fetchone()[0] > 1
    shown = json.loads(forgetful.run("backup", forgetful.folder / "c.db", "--json").stdout)
    assert "tombstones.key" in shown["warning"]
