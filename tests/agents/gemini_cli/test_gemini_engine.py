"""Through the real engine: what is stored of sessions that are rewritten, copied and taken back."""

import json

import pytest
from agents.stored import Stored, running
from gemini_kit import HASH, NAME, ROOT, SESSION, Folder, Log

import cloxy_plugins.gemini_cli.plugin as gemini


class StoredChats(Stored):
    """An application over a folder of the Gemini CLI."""

    def __init__(self, app, folder):
        super().__init__(app, folder)
        self.write = folder.write


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "g"))
    for variable in ("QWEN_HOME", "QWEN_RUNTIME_DIR"):
        monkeypatch.delenv(variable, raising=False)
    with running(tmp_path, gemini) as app:
        yield StoredChats(app, Folder(tmp_path / "g"))


def chat():
    return Log().both("say one", "one")


def test_a_document_that_is_rewritten_is_stored_once(stored):
    name = f"{HASH}/chats/{NAME}.json"
    stored.write(chat(), name)
    stored.ingest()
    stored.write(chat().both("say two", "two"), name)
    stored.ingest()
    stored.ingest(force=True)
    assert stored.uids() == ["m0", "m1", "m2", "m3"]


def test_a_session_is_one_over_folders_and_forms(stored):
    stored.write(chat(), f"{HASH}/chats/{NAME}.json")
    stored.ingest()
    stored.write(chat(), f"harbour/chats/{NAME}.json")
    stored.ingest()
    stored.write(chat().both("say two", "two"), f"harbour/chats/{NAME}.jsonl")
    stored.ingest()
    stored.ingest(force=True)
    assert stored.uids() == ["m0", "m1", "m2", "m3"]
    assert stored.rows("SELECT key FROM sessions") == [(SESSION,)]
    assert stored.content().count("say one") == 1


def test_what_was_taken_back_stays_stored(stored):
    log = chat().both("say two", "two")
    stored.write(log)
    stored.ingest()
    log.line({"$rewindTo": "m2"}).set(messages=[log.lines[1], log.lines[3]])
    stored.write(log.both("say three", "three"))
    stored.ingest()
    assert stored.uids() == ["m0", "m1", "m2", "m3", "m4", "m5"]
    stored.write(chat())
    stored.ingest()
    assert stored.uids() == ["m0", "m1", "m2", "m3", "m4", "m5"]


def test_a_message_that_changed_is_revised(stored):
    log = Log().user("say one").gemini("first attempt")
    stored.write(log)
    stored.ingest()
    stored.write(log.line(log.lines[3] | {"content": "second attempt"}))
    stored.ingest()
    assert stored.uids() == ["m0", "m1"]
    assert "second attempt" in stored.content()


def test_facts_of_sessions(stored):
    stored.write(chat().set(summary="Counting"))
    stored.write(Log("sub", prefix="s").both("find", "found"), f"harbour/chats/{SESSION}/sub.jsonl")
    (stored.folder.tmp / "harbour" / ".project_root").write_text(ROOT)
    stored.ingest()
    rows = stored.rows("SELECT key, parent_key, title, relation FROM sessions ORDER BY key")
    assert rows == [
        (SESSION, None, "Counting", None),
        (f"{SESSION}/sub", SESSION, "find", "subagent"),
    ]


def test_a_session_without_a_word_is_none_and_one_not_understood_is_drift(stored):
    stored.write(Log().message("info", "hello"))
    stored.ingest()
    assert stored.rows("SELECT count(*) FROM sessions") == [(0,)]
    assert stored.rows("SELECT state FROM sources") == [("watched",)]
    other = "harbour/chats/session-2026-06-12T10-55-other.jsonl"
    stored.write(Log("other").message("person", "hello"), other)
    stored.ingest()
    assert stored.rows("SELECT state FROM sources ORDER BY state") == [("drift",), ("watched",)]


def test_prompts_that_an_old_qwen_code_left_are_of_that_agent(stored, tmp_path):
    entry = {"sessionId": "0ld5e551-x", "messageId": 0, "type": "user", "message": "say one"}
    path = tmp_path / "home" / ".qwen" / "tmp" / HASH / "logs.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([entry | {"timestamp": "2025-07-01T10:00:00Z"}]))
    stored.ingest()
    assert stored.uids() == ["prompt-0"]
    assert stored.rows("SELECT agent, key FROM sessions") == [("qwen-code", "0ld5e551-x")]


def test_a_secret_typed_as_a_prompt_is_not_stored(stored):
    secret = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"
    stored.write(chat().both(secret, "That is a token.").set(summary=secret))
    stored.ingest()
    assert secret not in stored.content()
    assert secret not in str(stored.rows("SELECT title FROM sessions"))
    assert len(stored.uids()) == 4
