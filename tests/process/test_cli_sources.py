"""`cloxy sources`: what it shows, and when it says that something is wrong."""

import json

import pytest
from process.cli_runner import run_cloxy as run_program

HOSTILE = "red\x1b[31m\u202egnp\x07"
READ = {
    "name": "toy",
    "agent": "toy-agent",
    "title": f"Toy Agent {HOSTILE}",
    "plugin": "toy",
    "enabled": True,
    "found": True,
    "why": "",
    "places": [
        {"path": "/home/me/.toy", "exists": True},
        {"path": "/home/me/.config/toy", "exists": False},
    ],
    "items": 1204,
    "messages": 56789,
    "sessions": 12,
    "last_success": "2026-11-03T14:02:11.000Z",
    "unknown": {f"brand-new {HOSTILE}": 7},
    "bad_lines": 3,
    "drift": [],
    "failures": [],
    "resume": [],
}
ABSENT = {
    **READ,
    "title": "Absent Agent",
    "found": False,
    "places": [{"path": "/home/me/.absent", "exists": False}],
    "items": 0,
    "messages": 0,
    "sessions": 0,
    "last_success": None,
    "unknown": {},
    "bad_lines": 0,
}
OFF = {**ABSENT, "title": "Sealed Agent", "enabled": False, "why": "its logs are encrypted"}
BROKEN = {
    **READ,
    "title": "Broken Agent",
    "drift": [f"/home/me/.toy/{n}.jsonl" for n in range(9)],
    "failures": [{"place": f"/home/me/{HOSTILE}", "reason": "permission denied"}],
}


def run_cloxy(*arguments, **more):
    run = run_program(*arguments, PYTHONUTF8="1", **more)
    run.stdout = run.stdout.decode()
    return run


@pytest.fixture
def sources(stub):
    def run(*arguments, found):
        stub.answer("GET", "/sources", {"sources": found})
        return run_cloxy("sources", *arguments, url=stub.url, TZ="UTC")

    return run


def test_what_is_read_is_shown(sources):
    run = sources(found=[READ, ABSENT, OFF])

    assert run.returncode == 0
    for words in (
        "Toy Agent",
        "in /home/me/.toy\n",
        "1,204 files or conversations, 56,789 messages, 12 sessions, read well at 2026-11-03 14:02",
        "records of unknown types: brand-new",
        "damaged lines passed over: 3",
        "Not found here: Absent Agent.",
        "Sealed Agent  not read  (toy)\n  its logs are encrypted",
    ):
        assert words in run.stdout
    assert "/home/me/.config/toy" not in run.stdout
    assert not set("\x1b\u202e\x07") & set(run.stdout)


def test_one_of_a_thing_is_not_said_as_many(sources):
    run = sources(found=[{**READ, "items": 1, "messages": 1, "sessions": 1}])

    assert "  1 file or conversation, 1 message, 1 session, read well at" in run.stdout


def test_drift_and_failures_are_shown_and_tell(sources):
    run = sources(found=[BROKEN])

    assert run.returncode == 1
    assert run.stdout.count("drift: /home/me/.toy/") == 5
    assert "drift: and 4 more" in run.stdout
    assert "permission denied" in run.stdout
    assert not set("\x1b\u202e\x07") & set(run.stdout)
    assert sources(found=[{**BROKEN, "enabled": False}]).returncode == 0


def test_answer_as_json(sources):
    run = sources("--json", found=[BROKEN])

    assert run.returncode == 1
    assert json.loads(run.stdout) == {"sources": [BROKEN]}


@pytest.mark.parametrize("answer", [{}, {"sources": []}, {"sources": [7, None]}])
def test_nothing_to_show(stub, answer):
    stub.answer("GET", "/sources", answer)
    run = run_cloxy("sources", url=stub.url)

    assert run.returncode == 0
    assert "No plugin" in run.stdout


def test_fields_of_other_shapes_do_no_harm(sources):
    odd = {"title": 7, "enabled": "yes", "places": {}, "unknown": [], "drift": {}, "failures": "x"}

    assert sources(found=[odd]).returncode == 0


def test_what_is_passed_over_by_rule_is_shown_and_is_no_failure(sources):
    sealed = [{"place": f"/home/me/{HOSTILE}", "reason": "3 encrypted conversation(s)"}]
    run = sources(found=[{**ABSENT, "title": "Sealed Agent", "passed_over": sealed}])

    assert run.returncode == 0
    assert "3 encrypted conversation(s)" in run.stdout
    assert "Not found" not in run.stdout
    assert not set("\x1b\u202e\x07") & set(run.stdout)


def test_an_agent_of_which_one_store_is_here_is_not_called_absent(sources):
    run = sources(found=[ABSENT, {**READ, "title": "Absent Agent"}])

    assert "Absent Agent  read" in run.stdout
    assert "Not found" not in run.stdout
