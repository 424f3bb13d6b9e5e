"""A data directory that cannot be written is looked at all the same."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from process.cli_runner import run_cloxy

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be made read-only there"),
]


@pytest.fixture
def read_only(patient):
    """Makes the folder unwritable, for root too, until the test is over."""
    mine = os.geteuid() != 0
    if not mine and shutil.which("chattr") is None:
        pytest.skip("there is no chattr here")

    def switch(*, on):
        if mine:
            patient.data.chmod(0o500 if on else 0o700)
            return True
        change = ["chattr", "+i" if on else "-i", patient.data]
        return subprocess.run(change, capture_output=True).returncode == 0

    if not switch(on=True):
        pytest.skip("folders cannot be made immutable here (that takes root and ext4 or the like)")
    switch(on=False)
    yield lambda: switch(on=True)
    switch(on=False)


def doctor(patient):
    done = run_cloxy("doctor", "--json", **patient.environment)
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)["examined"]


def unseen(examined):
    return [p["message"] for part in examined for p in part["problems"] if "not" in p["name"]]


def test_everything_but_the_comparisons_is_looked_at(patient, read_only):
    patient.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    read_only()
    before = sorted(path.name for path in patient.data.iterdir())
    examined = doctor(patient)
    assert sorted(path.name for path in patient.data.iterdir()) == before
    parts = {part["part"]: part for part in examined}
    assert [p["name"] for p in parts["data directory"]["problems"]] == ["read-only"]
    for name in ("pages", "texts", "vectors", "outbox", "forgotten", "session logs"):
        assert parts[name]["severity"] in ("ok", "note"), parts[name]
    assert not any("does not answer" in words for words in unseen(examined))
    assert all("copy" in words for words in unseen(examined))


def test_with_a_log_beside_the_file_one_line_says_that_nothing_was_looked_at(patient, read_only):
    child = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
        "c.execute(\"INSERT INTO counters VALUES ('x', 1)\"); c.commit(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", child, patient.database], check=True)
    (patient.data / "memory.db-shm").unlink()
    assert (patient.data / "memory.db-wal").stat().st_size
    read_only()
    (words,) = unseen(doctor(patient))
    assert "nothing in memory.db was looked at" in words
