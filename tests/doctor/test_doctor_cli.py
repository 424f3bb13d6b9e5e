"""The command itself, in processes of its own, with a server and without."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import pytest
from doctor_kit import NOTES
from process.cli_runner import PROGRAM, child_environment, run_cloxy

pytestmark = pytest.mark.process


def doctor(patient, *arguments):
    return run_cloxy("doctor", *arguments, **patient.environment)


@contextmanager
def running(patient):
    """A real server over the folder; its address."""
    server = subprocess.Popen(
        [PROGRAM, "start"],
        env=child_environment(None, patient.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        for line in server.stdout:
            if found := re.search(r"at (http://\S+)", line):
                break
        else:
            raise AssertionError("the server did not start")
        yield found[1], server
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=120)
        server.stdout.close()


def test_all_is_well(patient):
    before = patient.database.read_bytes()
    done = doctor(patient)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.decode().rstrip().endswith("All is well.")
    assert done.stderr == b""
    assert patient.database.read_bytes() == before
    found = json.loads(doctor(patient, "--json").stdout)
    assert found["well"] is True
    assert {part["part"] for part in found["examined"]} >= {
        "data directory",
        "database file",
        "pages",
        "texts",
        "vectors",
        "outbox",
        "session logs",
        "full-text index",
        "keyword index",
    }


def test_damage_is_told_in_words_and_repaired(patient):
    patient.sql("DELETE FROM fts_passages WHERE passage_id = 3")
    done = doctor(patient)
    assert done.returncode == 1
    text = done.stdout.decode()
    assert "ERROR" in text
    assert "repair: rebuilds the index" in text
    assert "cloxy doctor --repair" in text
    done = doctor(patient, "--repair")
    assert done.returncode == 0, done.stdout
    text = done.stdout.decode()
    assert "done: rebuilt the indexes" in text
    assert "copy of the database from before: " in text
    assert doctor(patient).returncode == 0
    done = doctor(patient, "--repair")
    assert "There was nothing to mend." in done.stdout.decode()


def test_a_destroyed_page_from_the_message_of_the_server_to_the_end(patient):
    whole = patient.messages()
    patient.zero(*patient.pages_of("passages")[-1:])
    done = doctor(patient, "--json")
    assert done.returncode == 1
    problems = [p for part in json.loads(done.stdout)["examined"] for p in part["problems"]]
    assert [p["name"] for p in problems if p["severity"] == "error"] == ["database-damaged"]
    done = doctor(patient, "--repair", "--json")
    assert done.returncode == 0, done.stdout
    work = json.loads(done.stdout)["repair"]
    assert work["quarantine"]
    with patient.server() as server:
        server.ingest()
    assert patient.messages() == whole


def test_while_a_server_runs_it_looks_and_does_not_repair(patient):
    with running(patient) as (url, server):
        done = doctor(patient)
        assert done.returncode == 0, done.stdout
        assert f"in use by process {server.pid}" in done.stdout.decode()
        refused = doctor(patient, "--repair")
        assert refused.returncode == 11
        words = refused.stderr.decode()
        assert f"process {server.pid}" in words
        assert "stop it, then run `cloxy doctor --repair` again" in words
        for number in range(3):
            remember(url, f"a note number {number} about the purple harbour and its crane")
            done = doctor(patient)
            assert done.returncode == 0, done.stdout


def test_damage_is_seen_while_the_server_runs(patient):
    note = patient.value("SELECT id FROM memories WHERE content = ?", NOTES[0])
    patient.sql(("UPDATE memories SET content = content || '!' WHERE id = ?", (note,)))
    with running(patient):
        done = doctor(patient)
    assert done.returncode == 1
    assert f"({note})" in done.stdout.decode()


def remember(url, text):
    request = urllib.request.Request(
        f"{url}/ingest_text",
        data=json.dumps({"text": text}).encode(),
        headers={"Content-Type": "application/json"},
        method="POST",
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200


def test_no_data_directory(tmp_path):
    done = run_cloxy("doctor", CLOXY_DATA_DIR=str(tmp_path / "nowhere"))
    assert done.returncode == 5
    assert b"there is no data directory" in done.stderr
    assert not (tmp_path / "nowhere").exists()


def test_a_file_of_another_program_is_left_alone(patient):
    patient.sql("PRAGMA application_id=7")
    before = patient.database.read_bytes()
    done = doctor(patient, "--repair")
    assert done.returncode == 1
    assert "database of another program" in done.stdout.decode()
    assert patient.database.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_loose_modes_and_left_files(patient):
    patient.database.chmod(0o644)
    left = patient.data / "doctor-999999999-abc"
    left.mkdir()
    (left / "memory.db").write_bytes(b"x")
    (patient.data / "memory.db.recovering").write_bytes(b"x")
    done = doctor(patient)
    assert done.returncode == 1
    text = done.stdout.decode()
    assert "can be read or changed by other users" in text
    assert "2 temporary files" in text
    assert patient.database.stat().st_mode & 0o777 == 0o644
    done = doctor(patient, "--repair")
    assert done.returncode == 0, done.stdout
    assert patient.database.stat().st_mode & 0o777 == 0o600
    assert not left.exists()
    assert not (patient.data / "memory.db.recovering").exists()
    assert doctor(patient).returncode == 0


def test_files_of_a_person_are_not_taken_for_left_ones(patient):
    own = [
        patient.data / "doctor-report.txt",
        patient.data / "doctor-2019-notes" / "page.md",
        patient.data / "config.toml.new",
        patient.data / "photos.partial",
    ]
    for path in own:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text("mine")
        path.chmod(0o600)
    done = doctor(patient, "--repair")
    assert done.returncode == 0, done.stdout
    assert "nothing to mend" in done.stdout.decode()
    assert all(path.read_text() == "mine" for path in own)


def test_a_database_that_somebody_took_away_is_missed(patient):
    copy = patient.back_up()
    patient.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    for path in patient.data.glob("memory.db*"):
        path.unlink()
    done = doctor(patient)
    assert done.returncode == 1
    assert str(copy) in done.stdout.decode()
    assert not patient.database.exists()


def test_killed_while_it_looks_nothing_is_harmed(patient):
    before = patient.database.read_bytes()
    child = subprocess.Popen(
        [PROGRAM, "doctor"],
        env=child_environment(None, patient.environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 120
    while child.poll() is None and not list(patient.data.glob("doctor-*")):
        assert time.monotonic() < end
        time.sleep(0.002)
    child.kill()
    child.wait()
    assert patient.database.read_bytes() == before
    assert doctor(patient, "--repair").returncode == 0
    assert list(patient.data.glob("doctor-*")) == []


def test_it_imports_no_model_and_no_web_server(patient):
    code = (
        "import sys; from cloxy_core.cli.main import main\n"
        "try: main(['doctor', '--json'])\n"
        "except SystemExit: pass\n"
        "heavy = {'onnxruntime', 'fastembed', 'tokenizers', 'uvicorn'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=child_environment(None, patient.environment),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
