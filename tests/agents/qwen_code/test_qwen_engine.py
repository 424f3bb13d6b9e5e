"""Through the real engine: what is stored of logs that grow, are branched and put away."""

import pytest
from agents.stored import Stored, running, write_log
from qwen_kit import SESSION, Log

import cloxy_plugins.qwen_code.plugin as qwen


class StoredChats(Stored):
    """An application over a folder of Qwen Code."""

    def __init__(self, app, home):
        super().__init__(app)
        self.project = home / "projects" / "harbour"

    def write(self, log, name=f"chats/{SESSION}.jsonl"):
        return write_log(self.project / name, log)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("QWEN_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("QWEN_HOME", str(tmp_path / "qwen"))
    with running(tmp_path, qwen) as app:
        yield StoredChats(app, tmp_path / "qwen")


def chat():
    return Log().both("say one", "one")


def test_a_log_is_stored_once_in_whatever_pieces_it_is_read(stored):
    data = chat().both("say two", "two").data()
    cut = data.index(b'"text": "say two') + 12
    path = stored.write(data[:cut])
    stored.ingest()
    assert stored.uids() == ["q0", "q2"]
    with path.open("ab") as file:
        file.write(data[cut:])
    stored.ingest()
    stored.ingest(force=True)
    assert stored.uids() == ["q0", "q2", "q3", "q5"]


def test_a_session_that_was_put_away_is_not_stored_again(stored):
    path = stored.write(chat())
    stored.ingest()
    away = path.parent / "archive" / path.name
    away.parent.mkdir()
    path.rename(away)
    stored.ingest()
    assert stored.uids() == ["q0", "q2"]


@pytest.mark.parametrize("first", [0, 1])
def test_a_branch_and_its_origin_share_what_was_said_before(stored, first):
    branch = chat()
    for line in branch.lines:
        line["forkedFrom"] = {"sessionId": SESSION, "messageUuid": line["uuid"]}
        line["sessionId"] = "branch"
    branch.session = "branch"
    logs = [
        (chat(), f"chats/{SESSION}.jsonl"),
        (branch.both("and here?", "Here too."), "chats/branch.jsonl"),
    ]
    for log, name in logs if first == 0 else reversed(logs):
        stored.write(log, name)
        stored.ingest()
    assert stored.uids() == ["q0", "q2", "q3", "q5"]
    rows = stored.rows("SELECT key, parent_key, title, relation FROM sessions ORDER BY key")
    assert rows == [
        (SESSION, None, "say one", None),
        ("branch", SESSION, "and here?", "fork"),
    ]


def test_a_sub_agent_is_a_child(stored):
    stored.write(chat())
    stored.write(
        Log(agent="x1", prefix="a").both("find it", "found"),
        f"subagents/{SESSION}/agent-x1.jsonl",
    )
    stored.ingest()
    rows = stored.rows("SELECT key, parent_key, title, relation FROM sessions ORDER BY key")
    assert rows == [
        (SESSION, None, "say one", None),
        (f"{SESSION}/x1", SESSION, "find it", "subagent"),
    ]


def test_a_log_without_a_word_is_no_session_and_one_not_understood_is_drift(stored):
    stored.write(Log().system("ui_telemetry"))
    stored.ingest()
    assert stored.rows("SELECT count(*) FROM sessions") == [(0,)]
    assert stored.rows("SELECT state FROM sources") == [("watched",)]
    stored.write(Log("other").record("person", message={"text": "hello"}), "chats/other.jsonl")
    stored.ingest()
    assert stored.rows("SELECT state FROM sources ORDER BY state") == [("drift",), ("watched",)]


def test_a_secret_typed_as_a_prompt_is_not_stored(stored):
    secret = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"
    stored.write(Log().both(secret, "That is a token."))
    stored.ingest()
    assert secret not in stored.content()
    assert secret not in str(stored.rows("SELECT title FROM sessions"))
    assert len(stored.uids()) == 2
