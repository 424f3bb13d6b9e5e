"""SIGKILL at every step of an upgrade leaves the old database or the new one, and no third."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from legacy.legacy_kit import (
    OldDatabase,
    backups,
    build,
    is_ours,
    old_rows,
    report,
    rows,
    sound,
    upgrade,
)

pytestmark = [pytest.mark.process, pytest.mark.skipif(os.name == "nt", reason="forks")]
CHILD = Path(__file__).with_name("kill_child.py")
OLD, NEW = (
    "SELECT id, content FROM chunks ORDER BY id",
    "SELECT id, content FROM memories ORDER BY id",
)


def killed(source, place, stride):
    """Folders in which the upgrade was killed, in order, and the one in which it was not."""
    done = subprocess.run(
        [sys.executable, CHILD, source, place, str(stride)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    ends = [line.split() for line in done.stdout.splitlines()]
    assert ends[-1][1] == "0", (ends, done.stderr)
    return [place / number for number, _ in ends[:-1]], place / ends[-1][0]


def in_log(folder, version):
    """An old database of which the last rows are in the write-ahead log only."""
    old = OldDatabase(folder / "made" / "memory.db", version).fill()
    source = folder / "source"
    source.mkdir()
    for name in ("memory.db", "memory.db-wal"):
        (source / name).write_bytes((folder / "made" / name).read_bytes())
    expected = old.connection.execute(OLD).fetchall()
    old.connection.close()
    return source, expected


@pytest.mark.parametrize("version", ["3", "5.1"])
def test_old_or_new_and_never_between(tmp_path, version):
    source, expected = in_log(tmp_path, version)
    folders, last = killed(source, tmp_path / "copies", 1)
    assert len(folders) > 60
    ours = 0
    for folder in [*folders, last]:
        path = folder / "memory.db"
        is_new = is_ours(path)
        ours += is_new
        assert rows(path, NEW if is_new else OLD) == expected
        assert sound(path)
        if is_new:
            assert old_rows(backups(folder)[-1], "id, content") == expected
    # Some kills came after the rename, too.
    assert 1 < ours < len(folders)


def test_the_next_start_finishes_it_and_tidies_up(tmp_path):
    source, expected = in_log(tmp_path, "5.1")
    folders, _ = killed(source, tmp_path / "copies", 7)
    left = [folder for folder in folders if list(folder.glob("memory.db.upgrading*"))]
    assert left
    for folder in folders:
        path = upgrade(folder)
        assert rows(path, NEW) == expected
        assert report(path)["rows"] == len(expected)
        assert not list(folder.glob("memory.db.*"))
        assert not list((folder / "backups").glob("*.partial*"))
        assert backups(folder)


def test_a_build_whose_kills_are_counted_is_the_same_as_any_other(tmp_path):
    """The steps that are counted do not change what comes of it."""
    build(tmp_path / "source")
    _, last = killed(tmp_path / "source", tmp_path / "copies", 10_000)
    build(tmp_path / "plain")
    upgrade(tmp_path / "plain")
    both = [
        rows(f / "memory.db", "SELECT id, uid, content FROM memories")
        for f in (last, tmp_path / "plain")
    ]
    assert both[0] == both[1]
