"""kill -9 at random moments of writing; several processes on one file."""

import random
import signal
import time

import pytest
from store_kit import child, query, sound, with_store

from cloxy_hookspecs.errors import DataDirectoryInUseError

pytestmark = pytest.mark.process
SEED = 20_260_729


@pytest.mark.slow
def test_death_at_random_moments_loses_and_doubles_nothing(tmp_path):
    chance = random.Random(SEED)
    path, acknowledged = tmp_path / "d" / "memory.db", 0
    for _ in range(8):
        process = child("writing_child.py", tmp_path / "d", chance.choice([1, 7, 50]))
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        lines = process.communicate(timeout=100)[0].splitlines()
        acknowledged = int(lines[-1]) if lines and lines[-1].isdigit() else acknowledged
        assert sound(path), f"seed {SEED}"
        (offset,) = query(path, "SELECT value FROM counters WHERE key = 'offset'")[0]
        assert offset >= acknowledged
        numbers = [row[0] for row in query(path, "SELECT uid FROM memories ORDER BY id")]
        assert numbers == [f"uid-{n}" for n in range(int(offset))]
        assert query(
            path,
            "SELECT count(*) FROM memories LEFT JOIN passages ON memory_id = memories.id "
            "WHERE memory_id IS NULL",
        ) == [(0,)]
        acknowledged = int(offset)


def test_a_second_process_is_refused_and_a_dead_one_is_no_obstacle(tmp_path):
    process = child("writing_child.py", tmp_path / "d", 1)
    process.stdout.readline()

    async def nothing(store):
        return None

    with pytest.raises(DataDirectoryInUseError, match=f"process {process.pid}"):
        with_store(tmp_path / "d", nothing)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with_store(tmp_path / "d", nothing)


def test_four_processes_write_through_immediate_transactions(tmp_path):
    async def nothing(store):
        await store.write(lambda c: c.exec_driver_sql("INSERT INTO counters VALUES ('n', 0)"))

    with_store(tmp_path / "d", nothing)
    path = tmp_path / "d" / "memory.db"
    processes = [child("counting_child.py", path, 200) for _ in range(4)]
    assert [process.communicate(timeout=100)[0] for process in processes] == ["0 failed\n"] * 4
    assert query(path, "SELECT value FROM counters") == [(800,)]
    assert sound(path)
