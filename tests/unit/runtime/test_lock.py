import os
import signal
import stat
import subprocess
import sys

import pytest

from cloxy_core.runtime.lock import DataDirectoryLock, LockHolder, read_holder
from cloxy_hookspecs.errors import ConfigError, DataDirectoryInUseError

HOLDER = LockHolder(
    pid=4711, version="6.0", url="http://127.0.0.1:9055", started_at=1_700_000_000_000
)
HOLD = """
import sys
from pathlib import Path
from cloxy_core.runtime.lock import DataDirectoryLock, LockHolder
lock = DataDirectoryLock(Path(sys.argv[1]))
lock.acquire(LockHolder(4711, "6.0", "http://127.0.0.1:9055", 1_700_000_000_000))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "held\n"
    yield child
    child.kill()
    child.communicate()


def test_a_second_process_is_refused_and_told_who_has_it(tmp_path, other):
    with pytest.raises(DataDirectoryInUseError) as caught:
        DataDirectoryLock(tmp_path / "lock").acquire(HOLDER)
    words = str(caught.value)
    assert "process 4711 at http://127.0.0.1:9055, since 2023-11-14 22:13 UTC" in words
    assert str(tmp_path) in words
    assert "CLOXY_DATA_DIR" in words


def test_a_killed_holder_frees_it_though_its_name_stays(tmp_path, other):
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert read_holder(tmp_path / "lock") == HOLDER
    mine = LockHolder(os.getpid(), "6.1", "", 5)
    with DataDirectoryLock(tmp_path / "lock") as lock:
        lock.acquire(mine)
        assert read_holder(tmp_path / "lock") == mine


def test_the_text_alone_locks_nothing(tmp_path):
    (tmp_path / "lock").write_text('{"pid": 1, "version": "6", "url": "", "started_at": 0}')
    lock = DataDirectoryLock(tmp_path / "lock")
    lock.acquire(HOLDER)
    assert lock.held
    lock.release()
    assert not lock.held


def test_opening_and_closing_the_file_elsewhere_keeps_the_lock(tmp_path):
    lock = DataDirectoryLock(tmp_path / "lock")
    lock.acquire(HOLDER)
    (tmp_path / "lock").read_text()
    with pytest.raises(DataDirectoryInUseError):
        DataDirectoryLock(tmp_path / "lock").acquire(HOLDER)
    lock.release()


def test_nonsense_in_the_file_gives_a_message_all_the_same(tmp_path):
    lock = DataDirectoryLock(tmp_path / "lock")
    lock.acquire(HOLDER)
    for nonsense in ("", "not json", "[]", '{"pid": "x"}'):
        (tmp_path / "lock").write_text(nonsense)
        with pytest.raises(DataDirectoryInUseError, match="another process"):
            DataDirectoryLock(tmp_path / "lock").acquire(HOLDER)
    lock.release()


@pytest.mark.skipif(os.name != "posix", reason="modes and links are POSIX's")
def test_the_file_is_private_and_a_link_is_refused(tmp_path):
    before = os.umask(0)
    try:
        with DataDirectoryLock(tmp_path / "lock") as lock:
            lock.acquire(HOLDER)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "planted").symlink_to(victim)
    with pytest.raises(ConfigError, match="remove it if it is a link"):
        DataDirectoryLock(tmp_path / "planted").acquire(HOLDER)
    assert victim.read_text() == "precious"


def test_acquiring_twice_is_no_error(tmp_path):
    lock = DataDirectoryLock(tmp_path / "lock")
    lock.acquire(HOLDER)
    lock.acquire(HOLDER)
    lock.release()
    lock.release()
