"""SIGKILL at every step of a backup and of a restore."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from keeping_kit import LATER, NOTES, Keeper, contents
from server.live_server import LiveServer

pytestmark = [pytest.mark.process, pytest.mark.skipif(os.name == "nt", reason="forks")]
CHILD = Path(__file__).with_name("kill_child.py")


def killed(keeper, place, stride, *command):
    """The copies in which a kill was survived, in order, and the last one, which was not killed."""
    # Logs lie outside, so that only the memory is copied.
    source = keeper.folder / "only"
    source.mkdir()
    for name in ("data", "kept.db", "kept.db.key"):
        if (keeper.folder / name).exists():
            (keeper.folder / name).rename(source / name)
    done = subprocess.run(
        [sys.executable, CHILD, source, place, str(stride), *command],
        env={**os.environ, **keeper.environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    ends = [line.split() for line in done.stdout.splitlines()]
    assert ends[-1][1] == "0", (ends, done.stderr)
    copies = [Keeper(place / number, keeper.watched) for number, _ in ends]
    return copies[:-1], copies[-1]


def test_a_backup_is_whole_or_not_there(keeper, tmp_path):
    whole = keeper.contents()
    copies, last = killed(keeper, tmp_path / "copies", 1, "backup", "{}/kept.db")
    assert len(copies) > 10
    for copy in [*copies, last]:
        if copy.kept.exists():
            assert contents(copy.kept) == whole
            assert (
                Path(f"{copy.kept}.key").read_bytes() == (copy.data / "tombstones.key").read_bytes()
            )
        assert copy.contents() == whole
    assert last.kept.exists()
    left = [copy for copy in copies if list(copy.folder.glob(".*.unfinished*"))]
    assert left
    again = left[-1]
    again.backup("--force", again.kept)
    assert not list(again.folder.glob(".*.unfinished*"))


def test_after_a_restore_the_old_or_the_new_memory_is_there(forgetful, tmp_path):
    with LiveServer(forgetful.folder, **forgetful.environment) as live:
        body = {"text": "a note that is in the log beside the file alone", "source": "note"}
        assert live.ask("POST", "/ingest_text", body)[0] == 200
        live.kill()
    log = Path(f"{forgetful.database}-wal")
    assert log.stat().st_size
    # A look at the memory empties the log.
    kept = {path: path.read_bytes() for path in (forgetful.database, log)}
    old = forgetful.contents()
    assert body["text"] in old
    for path, data in kept.items():
        path.write_bytes(data)
    Path(f"{forgetful.database}-shm").unlink(missing_ok=True)
    copies, last = killed(forgetful, tmp_path / "copies", 1, "restore", "{}/kept.db", "--yes")
    new = last.contents()
    assert LATER in old
    assert LATER not in new
    assert NOTES[1] in new
    assert NOTES[0] not in new
    kinds = set()
    for copy in copies:
        # A log of the old file must not be taken for one of the new.
        found = copy.contents()
        assert found in (old, new)
        kinds.add(found == new)
    assert kinds == {True, False}
    assert len(copies) > 20
    for copy in (copies[len(copies) // 3], copies[-6]):
        copy.restore()
        assert copy.contents() == new
        assert not list(copy.data.glob("doctor-*"))
