"""Through the real engine: what is stored of stores that change, move and are written to."""

import json
from pathlib import Path

import pytest
from agents.stored import Stored, running
from agents.written_stores import written_while_read
from goose_kit import (
    AGENTS,
    BEHIND,
    COMPACTED_EVERY,
    CWD,
    FOLDED,
    NOBODYS,
    SHOWN,
    A,
    B,
    Store,
    T,
    file,
    message,
)

import cloxy_plugins.goose.plugin as goose

NAME = "20250601_101500"


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GOOSE_PATH_ROOT", str(tmp_path / "goose"))
    with running(tmp_path, goose) as app:
        yield Stored(app, tmp_path / "goose" / "data" / "sessions")


def test_a_session_is_stored_once_while_it_grows(stored):
    store = Store(stored.folder).session()
    store.chat()
    stored.ingest()
    assert len(stored.uids()) == 2
    assert stored.ingest().files_processed == 0
    store.chat(A, "And the other crane?", "It idles.")
    stored.ingest()
    stored.ingest(force=True)
    assert len(stored.uids()) == 4
    assert stored.content().count("And the other crane?") == 1
    assert stored.rows("SELECT key, title, cwd FROM sessions") == [(A, "Cranes", CWD)]


def test_a_session_that_moves_from_a_file_to_the_database_is_the_same(stored):
    lines = [message("user", "Why does the crane overheat?"), message("assistant", "It idles.")]
    path = file(stored.folder, *lines)
    stored.ingest()
    before = stored.uids()
    store = Store(stored.folder).session(NAME)
    for line in lines:
        store.row(line["role"], json.dumps(line["content"]), NAME, None, line["created"])
    assert path.exists(), "Goose leaves it there"
    stored.ingest()
    assert stored.uids() == before
    store.chat(NAME, "And now?", "Now, too.")
    stored.ingest()
    stored.ingest(force=True)
    assert len(stored.uids()) == 4
    assert stored.content().count("overheat") == 1
    assert stored.rows("SELECT key, title FROM sessions") == [(NAME, "Cranes")]


def test_compaction_doubles_nothing_and_deletes_nothing(stored):
    store = Store(stored.folder).session()
    store.chat()
    store.say("user", "And now?")
    stored.ingest()
    before = set(stored.uids())
    given = f"msg_{A}_5f0c1c1e-51a4-4d39-8f51-000000000001"
    store.replace(
        ("user", "Why does the crane overheat?", given, T + 1, FOLDED),
        ("assistant", "It never idles.", None, T + 2, FOLDED),
        ("user", "And now?", None, T + 3, NOBODYS),
        ("user", "In short: it overheats.", None, T + 9, AGENTS),
        ("assistant", BEHIND, None, T + 9, AGENTS),
        ("user", "And now?", None, T + 9, SHOWN),
    )
    stored.ingest()
    assert before < set(stored.uids())
    assert len(stored.uids()) == 4
    assert stored.content().count("And now?") == 1
    assert stored.rows("SELECT role, author FROM passages WHERE role = 'summary'") == [
        ("summary", "summary")
    ]
    store.replace(("user", "all is gone", None, T + 20, SHOWN))
    stored.ingest()
    assert len(stored.uids()) == 5
    assert "It never idles." in stored.content()


def test_copies_children_models_and_programs_are_stored(stored):
    model = '{"model_name": "model-x"}'
    store = Store(stored.folder).session(model_config_json=model)
    store.chat()
    store.copy(A, B, created_at="2026-09-22 08:00:00", name="Cranes (copy)")
    store.chat(B, "And in the copy?", "There, too.")
    store.session("20260923_1", session_type="sub_agent", parent_session_id=A, name="Finder")
    store.chat("20260923_1", "find it", "found")
    store.session("20260923_2", session_type="scheduled", name="Nightly")
    store.chat("20260923_2", "Sort the letters.", "Sorted.")
    stored.ingest()
    assert stored.rows("SELECT key, parent_key, title, relation FROM sessions ORDER BY key") == [
        (A, None, "Cranes", None),
        (B, A, "Cranes (copy)", "fork"),
        ("20260923_1", A, "Finder", "subagent"),
        ("20260923_2", None, "Nightly", None),
    ]
    assert stored.rows("SELECT DISTINCT role, author FROM passages ORDER BY role, author") == [
        ("assistant", "assistant"),
        ("assistant", "subagent"),
        ("user", "human"),
        ("user", "program"),
        ("user", "subagent"),
    ]
    assert stored.content().count("overheat") == 1
    assert "model-x" in str(stored.rows("SELECT * FROM memories"))


def test_a_session_without_a_word_is_no_drift(stored):
    Store(stored.folder).session().say("user", {"type": "toolResponse", "id": "t"})
    file(stored.folder, name="empty")
    stored.ingest()
    assert stored.rows("SELECT count(*) FROM passages") == [(0,)]
    assert stored.rows("SELECT state FROM sources WHERE state = 'drift'") == []


def test_a_secret_typed_as_a_prompt_is_not_stored(stored):
    secret = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"
    Store(stored.folder).session(name=secret).chat(A, secret, "That is a token.")
    stored.ingest()
    assert secret not in stored.content()
    assert secret not in str(stored.rows("SELECT title FROM sessions"))
    assert len(stored.uids()) == 2


def test_reading_while_the_program_writes_and_compacts(stored):
    """No error there, nothing changed by us, its log shrinks, and at the end all is here."""
    stored.folder.mkdir(parents=True)
    program = Path(__file__).with_name("goose_child.py")
    database = stored.folder / "sessions.db"
    said = written_while_read(stored, program, stored.folder, database)
    assert len(stored.uids()) == said + said // COMPACTED_EVERY
