"""Backups: consistent under load, checked, private, pruned."""

import asyncio
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from store_kit import add_memories, memory_row, query, sound, with_store

from cloxy_core.store.backup import back_up, backups, verify
from cloxy_core.store.connections import connect
from cloxy_hookspecs.errors import IntegrityError

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


def test_a_backup_under_load_is_one_snapshot(tmp_path):
    async def work(store):
        stop, written = asyncio.Event(), 0

        async def load():
            nonlocal written
            while not stop.is_set():
                pair = [memory_row(written), memory_row(written + 1)]
                await store.write(add_memories(*pair))
                written += 2

        loading = asyncio.ensure_future(load())
        copies = []
        for _ in range(4):
            before = written
            copies.append((before, await store.back_up(keep=10)))
        stop.set()
        await loading
        return written, copies

    written, copies = with_store(tmp_path / "d", work)
    assert len({copy for _, copy in copies}) == 4
    for before, copy in copies:
        assert sound(copy)
        ((rows,),) = query(copy, "SELECT count(*) FROM memories")
        assert before <= rows <= written
        assert rows % 2 == 0


def test_a_backup_in_the_databases_place_is_a_working_database(tmp_path):
    async def work(store):
        await store.write(add_memories(memory_row(1, "kept")))
        copy = await store.back_up()
        await store.write(add_memories(memory_row(2, "later")))
        return copy

    copy = with_store(tmp_path / "d", work)
    (tmp_path / "restored").mkdir()
    shutil.copy(copy, tmp_path / "restored" / "memory.db")

    async def contents(store):
        await store.write(add_memories(memory_row(3, "new")))
        select = text("SELECT content FROM memories ORDER BY id")
        return await store.read(lambda c: c.execute(select).scalars().all())

    assert with_store(tmp_path / "restored", contents, fresh_ok=False) == ["kept", "new"]


@pytest.fixture
def source(tmp_path):
    with_store(tmp_path / "d", lambda store: store.write(add_memories(memory_row(1))))
    connection = connect(tmp_path / "d" / "memory.db", "mode=rw")
    yield connection
    connection.close()


def test_the_newest_stay_and_leftovers_go(tmp_path, source):
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / "memory-20200101T000000000Z-x.db.partial").write_text("left by a dead process")
    (folder / "mine.db").write_text("not a backup of ours")
    made = [
        back_up(source, folder, now=NOW + timedelta(minutes=n), reason="test", keep=3)
        for n in range(5)
    ]
    assert list(backups(folder)) == made[-3:]
    assert sorted(path.name for path in folder.iterdir())[-1] == "mine.db"
    assert len(list(folder.iterdir())) == 4


def test_a_clock_that_went_back_does_not_make_the_new_backup_the_first_to_go(tmp_path, source):
    folder = tmp_path / "backups"
    folder.mkdir()
    for n in range(3):
        back_up(source, folder, now=NOW + timedelta(days=n), reason="test", keep=3)
    made = back_up(source, folder, now=NOW - timedelta(days=9), reason="test", keep=3)
    assert made.exists()


def test_a_damaged_copy_is_no_backup(tmp_path, source):
    folder = tmp_path / "backups"
    folder.mkdir()
    copy = back_up(source, folder, now=NOW, reason="test")
    verify(copy)
    damaged = bytearray(copy.read_bytes())
    damaged[4096 * 3 : 4096 * 4] = b"\xff" * 4096
    copy.write_bytes(damaged)
    with pytest.raises(IntegrityError, match="did not pass its check"):
        verify(copy)


def test_a_failure_keeps_the_older_backups_and_leaves_no_rest(tmp_path, source, monkeypatch):
    folder = tmp_path / "backups"
    folder.mkdir()
    first = back_up(source, folder, now=NOW, reason="test", keep=1)
    monkeypatch.setattr("cloxy_core.store.backup.verify", lambda copy: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        back_up(source, folder, now=NOW + timedelta(days=1), reason="test", keep=1)
    assert list(folder.iterdir()) == [first]
