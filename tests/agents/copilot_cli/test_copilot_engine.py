"""Through the real engine: what is stored of logs that grow, are cut back and go on."""

import pytest
from agents.stored import Stored, running, write_log
from copilot_kit import SESSION, Log

import cloxy_plugins.copilot_cli.plugin as copilot


class StoredEvents(Stored):
    """An application over a folder of the Copilot CLI."""

    def __init__(self, app, home):
        super().__init__(app, home / "session-state" / SESSION)

    def write(self, log, *, age=3_600):
        return write_log(self.folder / "events.jsonl", log, age=age)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "copilot"))
    with running(tmp_path, copilot) as app:
        yield StoredEvents(app, tmp_path / "copilot")


def chat():
    return Log().start().both("say one", "one")


def test_a_log_is_stored_once_in_whatever_pieces_it_is_read(stored):
    data = chat().both("say two", "two").data()
    cut = data.index(b'"content": "say two') + 12
    path = stored.write(data[:cut])
    stored.ingest()
    assert stored.uids() == ["e2", "e4"]
    with path.open("ab") as file:
        file.write(data[cut:])
    stored.ingest()
    stored.ingest(force=True)
    assert stored.uids() == ["e2", "e4", "e6", "e8"]


def rewound(log, *, keep):
    """The log as a rewind leaves it: cut back, and a notice."""
    log.lines = log.lines[:keep]
    log.prefix = "r"
    notice = {"message": "Rewound the conversation.", "infoType": "rewind"}
    return log.event("session.info", notice)


def test_what_was_rewound_stays_stored_and_nothing_doubles(stored):
    log = chat().both("say two", "two")
    stored.write(log)
    stored.ingest()
    stored.write(rewound(log, keep=6))
    stored.ingest()
    assert stored.uids() == ["e2", "e4", "e6", "e8"]
    stored.write(log.both("say three", "three"))
    stored.ingest()
    stored.ingest()
    assert stored.uids() == ["e2", "e4", "e6", "e8", "r7", "r9"]
    for word in ("two", "three"):
        assert stored.content().count(f"say {word}") == 1


def test_a_rewind_that_ends_longer_than_before_is_seen(stored):
    log = chat().both("say two", "two")
    stored.write(log)
    stored.ingest()
    stored.write(rewound(log, keep=6).both("say three " + "so " * 900, "three"))
    stored.ingest()
    assert stored.uids() == ["e2", "e4", "e6", "e8", "r7", "r9"]


def test_the_same_events_twice_in_a_row_are_stored_once(stored):
    data = chat().event("session.resume").both("say two", "two").data()
    stored.write(data + data)
    stored.ingest()
    assert stored.uids() == ["e2", "e4", "e7", "e9"]


def test_a_sub_agent_is_a_child_and_a_card_is_the_title(stored):
    stored.write(chat().user("find it", agent="call_1").agent("found", agent="call_1"))
    (stored.folder / "workspace.yaml").write_text("id: 1\nname: Harbour crane\n")
    stored.ingest()
    rows = stored.rows("SELECT key, parent_key, title, relation FROM sessions ORDER BY key")
    assert rows == [
        (SESSION, None, "Harbour crane", None),
        (f"{SESSION}/call_1", SESSION, "find it", "subagent"),
    ]


def test_a_log_without_a_word_is_no_session(stored):
    stored.write(Log().start().event("session.shutdown"))
    stored.ingest()
    assert stored.rows("SELECT count(*) FROM sessions") == [(0,)]
    assert stored.rows("SELECT state FROM sources") == [("watched",)]


def test_a_log_that_is_not_understood_is_drift(stored):
    stored.write(Log().start().event("user.said", {"content": "hello"}))
    stored.ingest()
    assert stored.rows("SELECT state FROM sources") == [("drift",)]


def test_a_secret_typed_as_a_prompt_is_not_stored(stored):
    secret = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"
    stored.write(Log().start().both(secret, "That is a token."))
    (stored.folder / "workspace.yaml").write_text(f"summary: {secret}\n")
    stored.ingest()
    assert secret not in stored.content()
    assert secret not in str(stored.rows("SELECT title FROM sessions"))
    assert len(stored.uids()) == 2
