"""Through the real engine: what is stored of databases that change and are written to."""

import json
from pathlib import Path

import pytest
from agents.stored import Stored, running
from agents.written_stores import written_while_read
from crush_kit import A, B, Store, finish, listing, text

import cloxy_plugins.crush.plugin as crush


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CRUSH_GLOBAL_DATA", str(tmp_path / "data"))
    listing(tmp_path / "data", tmp_path / "harbour")
    with running(tmp_path, crush) as app:
        yield Stored(app, tmp_path / "harbour")


def test_a_session_is_stored_once_while_it_grows(stored):
    store = Store(stored.folder).session()
    keys = store.chat()
    stored.ingest()
    assert stored.uids() == keys
    assert stored.ingest().files_processed == 0
    keys += store.chat(A, "And the other crane?", "It idles.")
    stored.ingest()
    stored.ingest(force=True)
    assert stored.uids() == keys
    assert stored.content().count("And the other crane?") == 1
    assert stored.rows("SELECT key, title, cwd FROM sessions") == [
        (A, "Cranes", str(stored.folder))
    ]


def test_an_answer_that_grows_within_a_second_has_its_last_words(stored):
    """No time of the row changes; only what it says, and that it is finished."""
    store = Store(stored.folder).session()
    store.say("user", "Why?")
    store.row("m9", A, "assistant", json.dumps([text("Becau")]))
    stored.ingest()
    assert "Becau" in stored.content()
    for words, end in (("Because of the motor", []), ("Because of the motor!", [finish()])):
        store.run("UPDATE messages SET parts = ? WHERE id = 'm9'", json.dumps([text(words), *end]))
        stored.ingest()
        assert words in stored.content()
    store.run("UPDATE messages SET finished_at = updated_at WHERE id = 'm9'")
    assert stored.ingest().files_processed == 1
    assert len(stored.uids()) == 2
    assert stored.content().count("Becau") == 1


def test_a_session_that_is_deleted_stays_stored(stored):
    store = Store(stored.folder).session()
    keys = store.chat()
    stored.ingest()
    store.run("DELETE FROM messages")
    store.run("DELETE FROM sessions")
    store.session(B).chat(B)
    stored.ingest()
    assert set(keys) <= set(stored.uids())
    assert len(stored.uids()) == 4


def test_children_summaries_models_and_titles_are_stored(stored):
    store = Store(stored.folder).session().session("m1$$c1", parent=A, title="New Agent Session")
    store.chat()
    key = store.say("assistant", "The crane overheats.")
    store.run("UPDATE messages SET is_summary_message = 1 WHERE id = ?", key)
    store.chat("m1$$c1", "find it", "found")
    stored.ingest()
    assert stored.rows("SELECT key, parent_key, title, relation FROM sessions ORDER BY key") == [
        (A, None, "Cranes", None),
        ("m1$$c1", A, "find it", "subagent"),
    ]
    assert stored.rows("SELECT DISTINCT role, author FROM passages ORDER BY role, author") == [
        ("assistant", "assistant"),
        ("assistant", "subagent"),
        ("summary", "summary"),
        ("user", "human"),
        ("user", "subagent"),
    ]
    assert "model-x" in str(stored.rows("SELECT * FROM memories"))


def test_a_session_without_a_word_is_no_drift(stored):
    store = Store(stored.folder).session()
    store.row("m1", A, "tool", "[]")
    stored.ingest()
    assert stored.rows("SELECT count(*) FROM passages") == [(0,)]
    assert stored.rows("SELECT state FROM sources WHERE state = 'drift'") == []


def test_a_secret_typed_as_a_prompt_is_not_stored(stored):
    secret = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"
    Store(stored.folder).session(title=secret).chat(A, secret, "That is a token.")
    stored.ingest()
    assert secret not in stored.content()
    assert secret not in str(stored.rows("SELECT title FROM sessions"))
    assert len(stored.uids()) == 2


def test_a_project_outside_the_list_is_read_on_request(stored, tmp_path):
    Store(tmp_path / "yard").session(B).chat(B)
    run = stored.app.engine.ingest.run
    report = stored.app.do(run(tmp_path / "yard", anywhere=True))
    assert report.messages_added == 2
    assert stored.rows("SELECT key, cwd FROM sessions") == [(B, str(tmp_path / "yard"))]


def test_reading_while_the_program_writes(stored):
    """No error there, nothing changed by us, its log shrinks, and at the end all is here."""
    stored.folder.mkdir(parents=True)
    program = Path(__file__).with_name("crush_child.py")
    database = stored.folder / ".crush" / "crush.db"
    said = written_while_read(stored, program, stored.folder, database)
    assert len(stored.uids()) == said
    assert "growing" not in stored.content(), "each answer has its last words"
