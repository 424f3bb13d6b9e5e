"""No room: a small file system where one can be mounted, a size limit everywhere."""

import contextlib
import os
import subprocess
import sys

import pytest
from sqlalchemy import text
from store_kit import add_memories, child, memory_row, query, sound, with_store

from cloxy_core.store import reserve
from cloxy_core.store.reserve import MEBIBYTE, Reserve, room
from cloxy_hookspecs.errors import StoreFullError


def count(connection):
    return connection.execute(text("SELECT count(*) FROM memories")).scalar()


def forget_some(connection):
    return connection.execute(text("DELETE FROM memories WHERE id % 8 = 0")).rowcount


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 12 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(place)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here (that takes root)")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def use_small_reserve(monkeypatch):
    original = Reserve.__init__

    def small(self, path, **_):
        original(self, path, size=3 * MEBIBYTE, spare=MEBIBYTE)

    monkeypatch.setattr(Reserve, "__init__", small)


def test_a_full_disk_refuses_ingest_keeps_reads_and_lets_forget(small_disk, monkeypatch):
    use_small_reserve(monkeypatch)
    folder = small_disk / "d"

    async def work(store):
        assert store.facts().reserve
        acknowledged = 0
        with pytest.raises(StoreFullError, match="cannot grow"):
            while acknowledged < 10_000:
                await store.write(add_memories(memory_row(acknowledged, "x" * 20_000)))
                acknowledged += 1
        assert await store.read(count) == acknowledged
        with pytest.raises(StoreFullError):
            await store.back_up()
        assert not list((folder / "backups").iterdir())
        with pytest.raises(StoreFullError):
            await store.write(forget_some)
        forgotten = await store.write(forget_some, durable=True)
        assert not store.facts().reserve
        assert (await store.checkpoint()).emptied
        assert await store.read(count) == acknowledged - forgotten
        assert forgotten > 20
        return await store.write(add_memories(memory_row("again", "x" * 20_000)))

    assert with_store(folder, work) == 1
    assert sound(folder / "memory.db")


def test_it_goes_on_by_itself_when_there_is_room_again(small_disk):
    folder = small_disk / "d"
    ballast = small_disk / "ballast"

    async def work(store):
        await store.write(add_memories(memory_row(0)))
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 65536)
        for number in range(1, 200):
            try:
                await store.write(add_memories(memory_row(number, "x" * 20_000)))
            except StoreFullError:
                break
        else:
            pytest.fail("the disk was not full")
        stored = await store.read(count)
        ballast.unlink()
        await store.write(add_memories(memory_row("again", "x" * 20_000)))
        return number, stored, await store.read(count)

    number, stored, after = with_store(folder, work)
    assert stored == number
    assert after == number + 1
    assert sound(folder / "memory.db")


def test_no_room_for_a_new_database(small_disk):
    with contextlib.suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)

    async def nothing(store):
        return None

    with pytest.raises((StoreFullError, OSError)):
        with_store(small_disk / "d", nothing)
    (small_disk / "ballast").unlink()
    with_store(small_disk / "d", nothing)


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="resource limits are POSIX's")
def test_a_file_size_limit_at_every_size(tmp_path):
    """The n-th write fails, for growing n, and everything acknowledged is there."""
    process = child("limited_child.py", tmp_path)
    out, _ = process.communicate(timeout=110)
    assert process.returncode == 0
    lines = [line.split() for line in out.splitlines()]
    assert len(lines) > 20
    refusals = 0
    for limit, acknowledged, failed in lines:
        path = tmp_path / limit / "memory.db"
        refusals += failed == "StoreFullError"
        assert failed in {"none", "StoreFullError"}
        if path.exists():
            with_store(tmp_path / limit, lambda store: store.read(count))
            assert sound(path)
            assert query(path, "SELECT count(*) FROM memories") == [(int(acknowledged),)]
        else:
            assert acknowledged == "0"
    assert refusals > 10


def test_room_by_its_thresholds(tmp_path, monkeypatch):
    usage = type("Usage", (), {"free": 0})
    monkeypatch.setattr(reserve.shutil, "disk_usage", lambda folder: usage)
    seen = []
    for free in (500, 200, 199, 50, 49):
        usage.free = free * MEBIBYTE
        found = room(tmp_path)
        seen.append((found.ingest, found.remember, len(found.warnings())))
    assert seen == [
        (True, True, 0),
        (True, True, 0),
        (False, True, 1),
        (False, True, 1),
        (False, False, 1),
    ]
    found = room(tmp_path, ingest_needs=1, remember_needs=1)
    assert found.ingest
    assert found.remember


def test_the_reserve_is_made_given_up_and_made_again(tmp_path):
    kept = Reserve(tmp_path / "reserve.bin", size=MEBIBYTE, spare=0)
    assert kept.ensure()
    assert kept.ensure()
    assert (tmp_path / "reserve.bin").stat().st_size == MEBIBYTE
    assert (tmp_path / "reserve.bin").stat().st_blocks * 512 >= MEBIBYTE
    assert kept.release()
    assert not kept.release()
    assert not kept.held
    greedy = Reserve(tmp_path / "reserve.bin", size=MEBIBYTE, spare=1 << 60)
    assert not greedy.ensure()
    assert not greedy.held
