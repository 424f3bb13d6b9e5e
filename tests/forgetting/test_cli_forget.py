"""`cloxy forget`: it counts, asks, forgets, and says what still holds the text."""

import json

import pytest
from forgetting.canaries import holders
from forgetting.cloxy_command import cloxy
from server.live_server import line, write_session

CANARY = "rohrdommel in the reeds of the eastern lake, as agreed in March"


@pytest.fixture
def told(live):
    write_session(live.logs, "one", line("u1", CANARY), line("u2", "fine", role="assistant"))
    write_session(live.logs, "two", line("v1", "other words", session="s-two", cwd="/srv/two"))
    live.ask("POST", "/ingest_convos", {})
    return live


def memory_id(server):
    return server.ask("POST", "/recall", {"query": "rohrdommel"})[1]["results"][0]["id"]


def test_one_memory_is_counted_first_and_then_forgotten(told):
    identifier = str(memory_id(told))
    dry = cloxy(told, "forget", identifier, "--dry-run")
    assert (dry.returncode, dry.stdout) == (0, "1 memory (2 messages) would be forgotten\n")
    asked = cloxy(told, "forget", identifier)
    assert asked.returncode == 2
    assert "--yes" in asked.stderr
    assert holders(told.data, ["rohrdommel"])
    done = cloxy(told, "forget", identifier, "--yes")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("forgotten: 1 memory (2 messages)\n")
    assert f"{told.logs}/-srv-demo-shop/one.jsonl (the agent's own session log)" in done.stdout
    assert holders(told.data, ["rohrdommel"]) == {}
    again = cloxy(told, "forget", identifier, "--yes")
    assert again.returncode == 1
    assert "there is no memory" in again.stderr


@pytest.mark.parametrize(
    "arguments", [["--source", "convo:s-one"], ["--session", "s-one"], ["--project", "shop"]]
)
def test_a_source_a_session_or_a_project(told, arguments):
    done = cloxy(told, "forget", *arguments, "--yes", "--json")
    reply = json.loads(done.stdout)
    assert (reply["deleted"], reply["messages"], reply["pending"]) == (1, 2, False)
    assert holders(told.data, ["rohrdommel"]) == {}
    assert told.ask("GET", "/memory_stats")[1]["total_memories"] == 1


@pytest.mark.parametrize("arguments", [[], ["1", "--session", "x"], ["0"], ["--source", ""]])
def test_nothing_or_several_is_refused(told, arguments):
    done = cloxy(told, "forget", *arguments, "--yes")
    assert done.returncode in (1, 2)
    assert done.stderr
    assert told.ask("GET", "/memory_stats")[1]["total_memories"] == 2


def test_what_is_not_there_is_no_error_for_a_source(told):
    done = cloxy(told, "forget", "--source", "convo:nobody", "--yes")
    assert (done.returncode, done.stdout) == (0, "There is nothing to forget.\n")
