"""`cloxy ingest`: report, progress and exit codes."""

import json
import os
import pty
import subprocess
import time

import pytest
from process.cli_runner import PROGRAM, child_environment, run_cloxy

REPORT = {
    "files_found": 1311,
    "files_processed": 12,
    "files_skipped": 1299,
    "chunks_stored": 2345,
    "chunks_duplicate": 17,
    "bad_lines": 2,
    "errors": [],
    "drift": [],
}


def test_report_in_words(stub):
    stub.answer("POST", "/ingest_convos", REPORT)
    run = run_cloxy("ingest", url=stub.url)
    assert run.returncode == 0
    assert run.stderr == b""
    assert run.stdout.decode() == (
        "1,311 files found, 12 with something new, 2,345 memories added\n"
        "17 messages were known already\n"
        "2 damaged lines were passed over\n"
    )
    assert stub.bodies("/ingest_convos") == [{"force": False}]


def test_folder_is_absolute_and_force_is_sent(stub, tmp_path):
    stub.answer("POST", "/ingest_convos", REPORT)
    subprocess.run(
        [PROGRAM, "ingest", "logs/../mine", "--force"],
        env=child_environment(stub.url, {}),
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert stub.bodies("/ingest_convos") == [{"force": True, "convo_dir": str(tmp_path / "mine")}]


def test_home_is_expanded(stub, isolated):
    stub.answer("POST", "/ingest_convos", REPORT)
    run_cloxy("ingest", "~/logs", url=stub.url)
    assert stub.bodies("/ingest_convos")[0]["convo_dir"] == str(isolated / "logs")


def test_failed_files_and_drift_are_listed_and_exit_code_is_1(stub):
    failed = {"file": "/logs/a.jsonl", "error": "permission denied"}
    stub.answer(
        "POST", "/ingest_convos", {**REPORT, "errors": [failed], "drift": ["/logs/b.jsonl"]}
    )
    run = run_cloxy("ingest", url=stub.url)
    assert run.returncode == 1
    assert run.stderr.decode() == (
        "failed: /logs/a.jsonl: permission denied\n"
        "drift: /logs/b.jsonl has records but no message\n"
    )


def test_drift_alone_is_no_failure(stub):
    stub.answer("POST", "/ingest_convos", {**REPORT, "drift": ["/logs/b.jsonl"]})
    assert run_cloxy("ingest", url=stub.url).returncode == 0


@pytest.mark.parametrize("errors", [[], [{"file": "f", "error": "e"}]])
def test_json_is_the_servers_report_with_the_same_exit_code(stub, errors):
    report = {**REPORT, "errors": errors}
    stub.answer("POST", "/ingest_convos", report)
    run = run_cloxy("ingest", "--json", url=stub.url)
    assert run.returncode == (1 if errors else 0)
    assert json.loads(run.stdout) == report


def test_refused_folder_is_told(stub):
    error = {"code": "input", "message": "there is no folder /nowhere", "hint": None}
    stub.answer("POST", "/ingest_convos", {"error": error}, status=400)
    run = run_cloxy("ingest", "/nowhere", url=stub.url)
    assert run.returncode == 1
    assert b"there is no folder /nowhere" in run.stderr


def watch(stub, polls, *arguments):
    """Run with a terminal as standard error until the server was polled so often."""
    payload = json.dumps(REPORT).encode()

    def slow(handler):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if sum(path == "/ingest_status" for _, path, _, _ in stub.asked) >= polls:
                break
            time.sleep(0.02)
        handler.reply(200, payload)

    stub.behave("POST", "/ingest_convos", slow)
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, "ingest", *arguments],
        env=child_environment(stub.url, {"COLUMNS": "120"}),
        stdout=subprocess.PIPE,
        stderr=follower,
    )
    os.close(follower)
    output, _ = process.communicate(timeout=120)
    try:
        written = os.read(leader, 65536)
    except OSError:
        written = b""  # how Linux says that nothing was written
    os.close(leader)
    assert process.returncode == 0
    return output, written.decode()


def test_progress_is_drawn_when_a_person_watches(stub):
    progress = {
        "scanning": True,
        "files_this_scan": 500,
        "files_total": 1000,
        "chunks_this_scan": 9,
    }
    stub.answer("GET", "/ingest_status", progress)
    output, written = watch(stub, 3)
    assert output.decode().startswith("1,311 files found")
    assert "[##########          ] 500/1,000 files · 9 memories" in written
    assert "files/s" in written
    assert "left" in written
    assert written.endswith("\r")


def test_progress_survives_a_server_that_cannot_tell(stub):
    stub.answer("GET", "/ingest_status", b"no json", status=500)
    output, _ = watch(stub, 2, "--json")
    assert json.loads(output) == REPORT


def test_nobody_watching_means_no_polling(stub):
    stub.answer("POST", "/ingest_convos", REPORT)
    run_cloxy("ingest", url=stub.url)
    assert [path for _, path, _, _ in stub.asked] == ["/ingest_convos"]
