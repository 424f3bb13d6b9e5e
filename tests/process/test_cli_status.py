"""`cloxy status`: what it shows, and when it says that something is wrong."""

import json

import pytest
from process.cli_runner import run_cloxy

HEALTH = {
    "status": "OK",
    "service": "cloxy",
    "version": "6.0.0.dev0",
    "uptime": 7384.2,
    "memories": 12345,
    "pid": 4711,
    "ready": True,
    "auth": "disabled",
    "logs": "/home/me/.cloxy/logs",
    "watcher": {"running": True, "dirs": ["/home/me/.claude/projects"]},
    "store": {
        "path": "/home/me/.cloxy/memory.db",
        "sqlite_version": "3.53.4",
        "bytes": 4096000,
        "log_bytes": 0,
        "safe_mode": False,
    },
    "checks": [
        {"name": "integrity", "severity": "ok", "message": "no damage found"},
        {"name": "keyword index", "severity": None, "message": ""},
        {"name": "disk", "severity": "warning", "message": "2 GB free"},
    ],
    "warnings": ["the SQLite library is below the floor"],
}
STATS = {
    "total_memories": 12345,
    "keyword_index_size": 23456,
    "vector_index_size": 0,
    "sources": {"convo": 12000, "manual": 345},
    "redactions": {"aws_key": 3, "jwt": 1},
    "db_path": "/home/me/.cloxy/memory.db",
}
INGEST = {
    "running": True,
    "dirs": ["/home/me/.claude/projects"],
    "scanning": True,
    "files_this_scan": 12,
    "files_total": 311,
    "files_tracked": 299,
    "last_scan_at": "2026-11-03T14:02:11Z",
    "events": True,
    "warnings": [
        "cannot read /home/me/.claude/projects/a.jsonl",
        "the SQLite library is below the floor",
    ],
    "drift": ["/home/me/.claude/projects/b.jsonl"],
}


@pytest.fixture
def status(stub):
    def run(*arguments, health=HEALTH, stats=STATS, ingest=INGEST, health_status=200):
        stub.answer("GET", "/health", health, status=health_status)
        stub.answer("GET", "/memory_stats", stats)
        stub.answer("GET", "/ingest_status", ingest)
        return run_cloxy("status", *arguments, url=stub.url, TZ="UTC")

    return run


@pytest.mark.parametrize(
    "words",
    [
        "6.0.0.dev0",
        "OK, up 2 h 3 min, process 4711",
        "logs /home/me/.cloxy/logs",
        "service not installed (`cloxy install-service`)",
        "key none (`cloxy key create` makes one)",
        "store size 4.1 MB",
        "store log 0 bytes",
        "store safe mode no",
        "12,345",
        "convo 12,000, manual 345",
        "23,456 entries",
        "running, reading file 12 of 311, 299 files known, last pass 2026-11-03 14:02",
        "file events work",
        "/home/me/.claude/projects",
        "/home/me/.cloxy/memory.db",
        "3.53.4",
        "aws_key 3, jwt 1",
        "ok integrity no damage found",
        "unchecked keyword index",
        "warning disk 2 GB free",
        "the SQLite library is below the floor",
        "cannot read /home/me/.claude/projects/a.jsonl",
        "/home/me/.claude/projects/b.jsonl",
    ],
)
def test_shows(status, words):
    run = status()
    assert run.returncode == 0
    assert run.stderr == b""
    assert words in " ".join(run.stdout.decode().split())  # however wide the columns are


def test_a_warning_told_twice_is_shown_once(status):
    assert status().stdout.decode().count("below the floor") == 1


def test_no_check_is_said_to_be_unchecked(status):
    run = status(health={**HEALTH, "checks": []})
    assert "checks: none has run" in run.stdout.decode()


def test_check_without_result_is_not_ok(status):
    run = status(health={**HEALTH, "checks": [{"name": "pages"}, {"name": "q", "status": "OK"}]})
    shown = run.stdout.decode()
    assert "unchecked  pages" in shown
    assert "ok         q" in shown


@pytest.mark.parametrize(
    ("health", "cause"),
    [
        ({**HEALTH, "status": "unhealthy", "cause": "the database is unreadable"}, "unreadable"),
        ({**HEALTH, "status": ""}, "the server says nothing"),
        (
            {**HEALTH, "checks": [{"name": "pages", "severity": "error", "message": "page 7"}]},
            "pages: page 7",
        ),
    ],
)
def test_unhealthy_is_exit_code_1_with_the_cause(status, health, cause):
    run = status(health=health)
    assert run.returncode == 1
    assert cause in run.stderr.decode()
    assert b"12,345" in run.stdout


def test_unhealthy_answer_with_an_error_status_is_still_read(status):
    run = status(health={**HEALTH, "status": "unhealthy", "detail": "disk"}, health_status=503)
    assert run.returncode == 1
    assert "unhealthy" in run.stdout.decode()
    assert "disk" in run.stderr.decode()


def test_failing_part_does_not_hide_the_others(stub):
    stub.answer("GET", "/health", HEALTH)
    stub.answer("GET", "/ingest_status", INGEST)
    broken = {"error": {"code": "store", "message": "the database cannot be read", "hint": None}}
    stub.answer("GET", "/memory_stats", broken, status=500)
    run = run_cloxy("status", url=stub.url)
    assert run.returncode == 1
    assert "the database cannot be read" in run.stderr.decode()
    assert "299 files known" in run.stdout.decode()


def test_watcher_that_is_off_and_sweep_only(status):
    shown = status(ingest={**INGEST, "running": False, "events": False}).stdout.decode()
    assert "off, " in shown
    assert "no file events, only the sweep" in shown


def test_json_holds_everything(status, stub):
    run = status("--json")
    assert json.loads(run.stdout) == {
        "url": stub.url,
        "state": "running",
        "healthy": True,
        "problems": [],
        "pid": 4711,
        "logs": "/home/me/.cloxy/logs",
        "service": {
            "installed": False,
            "name": None,
            "definition": None,
            "pid": None,
            "runs_this_server": None,
            "trouble": None,
        },
        "health": HEALTH,
        "memory_stats": STATS,
        "ingest_status": INGEST,
    }


def test_long_lists_are_cut_in_words(status):
    run = status(ingest={**INGEST, "drift": [f"/f/{n}.jsonl" for n in range(50)]})
    assert "and 30 more (--json shows all)" in run.stdout.decode()


def test_quiet_says_nothing_while_all_is_well(status):
    run = status("--quiet")
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def test_quiet_still_says_what_is_wrong(status):
    run = status("--quiet", health={**HEALTH, "status": "ERROR", "cause": "the disk is gone"})
    assert (run.returncode, run.stdout) == (1, b"")
    assert b"the disk is gone" in run.stderr


def test_a_server_with_a_key_says_so(status):
    shown = status(health={**HEALTH, "auth": "enabled"}).stdout.decode()
    assert "key" in shown
    assert "needed" in shown


def test_a_server_elsewhere_is_not_asked_for_a_service_of_this_machine(status):
    # A tunnel or a container: what is installed here says nothing about it.
    run = run_cloxy_unverified(status)
    assert "service" not in {line.split()[0] for line in run.stdout.decode().splitlines()[1:9]}


def run_cloxy_unverified(status):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLOXY_VERIFY_SERVER", "0")
        return status()


def test_a_server_of_another_version_should_be_restarted(status):
    run = status(health={**HEALTH, "version": "5.9.9"})
    assert run.returncode == 0
    assert "the server runs version 5.9.9 and this is 6.0" in run.stdout.decode()
    assert "restart it" not in status().stdout.decode()


def test_of_many_folders_those_that_are_there_are_shown(status):
    dirs = [f"/home/me/agent-{number}" for number in range(9)]
    shown = status(ingest={**INGEST, "dirs": dirs, "dirs_missing": dirs[2:]}).stdout.decode()
    assert "/home/me/agent-1" in shown
    assert "/home/me/agent-2" not in shown
    assert "7 places of agents" in shown
    few = {**INGEST, "dirs": dirs[:2], "dirs_missing": dirs[1:2]}
    shown = status(ingest=few).stdout.decode()
    assert "/home/me/agent-1 (does not exist)" in shown
    assert "places of agents" not in shown
