"""Through the real engine: what is stored of logs that grow and are forked."""

import subprocess
import sys

import pytest
from agents.stored import Stored, running, write_log
from droid_kit import SESSION, Log

import cloxy_plugins.factory_droid.plugin as droid

APPEND = "import sys; open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())"


class StoredLogs(Stored):
    """An application over a folder of Droid."""

    def __init__(self, app, home):
        super().__init__(app)
        self.project = home / "sessions" / "-srv-harbour"

    def write(self, log, name=f"{SESSION}.jsonl"):
        return write_log(self.project / name, log)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.setenv("FACTORY_DIR", str(tmp_path / "factory"))
    with running(tmp_path, droid) as app:
        yield StoredLogs(app, tmp_path / "factory")


def chat():
    return Log().both("say one", "one")


def test_a_log_is_stored_once_in_whatever_pieces_another_process_writes_it(stored):
    data = chat().both("say two", "two").data()
    cut = data.index(b'"text": "say two') + 12
    path = stored.write(data[:cut])
    stored.ingest()
    assert stored.uids() == ["d1", "d2"]
    subprocess.run([sys.executable, "-c", APPEND, path], input=data[cut:], check=True)
    stored.ingest()
    stored.ingest(force=True)
    assert stored.uids() == ["d1", "d2", "d3", "d4"]


def test_a_header_that_gets_a_title_later_renames_the_session(stored):
    stored.write(chat())
    stored.ingest()
    log = chat()
    log.lines[0]["sessionTitle"] = "Counting"
    stored.write(log)
    stored.ingest()
    assert stored.rows("SELECT key, title FROM sessions") == [(SESSION, "Counting")]
    assert stored.uids() == ["d1", "d2"]


@pytest.mark.parametrize("first", [0, 1])
def test_a_fork_and_its_origin_share_what_was_said_before(stored, first):
    fork = Log("fork", parent=SESSION, forkedAtMessageId="d2").both("say one", "one")
    logs = [(chat(), f"{SESSION}.jsonl"), (fork.both("and here?", "Here too."), "fork.jsonl")]
    for log, name in logs if first == 0 else reversed(logs):
        stored.write(log, name)
        stored.ingest()
    assert stored.uids() == ["d1", "d2", "d3", "d4"]
    rows = stored.rows("SELECT key, parent_key, title, relation FROM sessions ORDER BY key")
    assert rows == [(SESSION, None, "say one", None), ("fork", SESSION, "and here?", "fork")]


def test_a_log_without_a_word_is_no_session_and_one_not_understood_is_drift(stored):
    stored.write(Log(title="Named already").record("todo_state"))
    stored.ingest()
    assert stored.rows("SELECT count(*) FROM sessions") == [(0,)]
    assert stored.rows("SELECT state FROM sources") == [("watched",)]
    stored.write(Log("other").record("person", text="hello"), "other.jsonl")
    stored.ingest()
    assert stored.rows("SELECT state FROM sources ORDER BY state") == [("drift",), ("watched",)]


def test_a_secret_typed_as_a_prompt_or_a_title_is_not_stored(stored):
    secret = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"
    stored.write(Log(title=f"use {secret}"))
    stored.ingest()
    assert secret not in str(stored.rows("SELECT * FROM sources"))
    stored.write(Log(title=f"use {secret}").both(secret, "That is a token."))
    stored.ingest()
    assert secret not in stored.content()
    assert secret not in str(stored.rows("SELECT * FROM sessions"))
    assert secret not in str(stored.rows("SELECT * FROM sources"))
    assert len(stored.uids()) == 2
