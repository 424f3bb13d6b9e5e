"""Through the real engine: what is stored of stores that change, move and are written to."""

from pathlib import Path

import pytest
from agents.stored import Stored, running
from agents.written_stores import written_while_read
from opencode_kit import A, B, Store, T, Tree

import cloxy_plugins.opencode.plugin as opencode


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("OPENCODE_DB", raising=False)
    with running(tmp_path, opencode) as app:
        yield Stored(app, tmp_path / "data" / "opencode")


def test_a_session_is_stored_once_while_it_grows(stored):
    store = Store(stored.folder).session()
    keys = list(store.chat())
    stored.ingest()
    assert stored.uids() == keys
    assert stored.ingest().files_processed == 0
    keys += store.chat(A, "And the other crane?", "It idles.")
    stored.ingest()
    stored.ingest(force=True)
    assert stored.uids() == keys
    assert stored.content().count("And the other crane?") == 1


def test_an_answer_that_was_read_while_it_grew_is_revised(stored):
    store = Store(stored.folder).session()
    store.say("user", "Why?")
    key = store.say("assistant", "Becau")
    stored.ingest()
    store.run(
        "UPDATE part SET data = replace(data, 'Becau', 'Because of the motor'),"
        f" time_updated = {store.tick()} WHERE message_id = '{key}'"
    )
    stored.ingest()
    assert len(stored.uids()) == 2
    assert stored.content().count("Becau") == 1
    assert "Because of the motor" in stored.content()


def test_what_was_reverted_stays_stored_and_nothing_doubles(stored):
    store = Store(stored.folder).session()
    keys = list(store.chat())
    reverted = store.chat(A, "take the other road", "taken")
    store.run(f'UPDATE session SET revert = \'{{"messageID":"{reverted[0]}"}}\'')
    stored.ingest()
    for table, column in (("message", "id"), ("part", "message_id")):
        store.run(f"DELETE FROM {table} WHERE {column} IN (?, ?)", *reverted)
    store.run("UPDATE session SET revert = NULL")
    keys += [*reverted, *store.chat(A, "this road", "yes")]
    stored.ingest()
    assert stored.uids() == sorted(keys)
    assert stored.content().count("take the other road") == 1


def test_a_session_that_moves_from_files_to_the_database_is_the_same(stored):
    tree = Tree(stored.folder)
    tree.session(A)
    keys = [tree.say("user", "Why does the crane overheat?"), tree.say("assistant", "It idles.")]
    stored.ingest()
    store = Store(stored.folder).session(A)
    store.at = T
    store.say("user", "Why does the crane overheat?", key=keys[0])
    store.say("assistant", "It idles.", key=keys[1])
    stored.ingest()
    assert stored.uids() == keys
    new = store.chat(A, "And now?", "Now, too.")
    stored.ingest()
    assert stored.uids() == sorted([*keys, *new])
    assert stored.content().count("overheat") == 1
    assert stored.rows("SELECT key, title FROM sessions") == [(A, "Cranes")]


def test_children_models_and_titles_are_stored(stored):
    store = Store(stored.folder).session(A).session(B, parent=A, title="find (@explore subagent)")
    store.chat(A)
    store.chat(B, "find it", "found")
    stored.ingest()
    assert stored.rows("SELECT key, parent_key, title, relation FROM sessions ORDER BY key") == [
        (A, None, "Cranes", None),
        (B, A, "find (@explore subagent)", "subagent"),
    ]
    assert stored.rows("SELECT DISTINCT role, author FROM passages ORDER BY role, author") == [
        ("assistant", "assistant"),
        ("assistant", "subagent"),
        ("user", "human"),
        ("user", "subagent"),
    ]
    assert "model-x" in str(stored.rows("SELECT * FROM memories"))


def test_a_session_without_a_message_is_no_drift(stored):
    Store(stored.folder).session()
    stored.ingest()
    assert stored.rows("SELECT count(*) FROM sessions") == [(0,)]
    assert stored.rows("SELECT state FROM sources WHERE state = 'drift'") == []


def test_a_secret_typed_as_a_prompt_is_not_stored(stored):
    secret = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"
    store = Store(stored.folder).session(title=secret)
    store.chat(A, secret, "That is a token.")
    stored.ingest()
    assert secret not in stored.content()
    assert secret not in str(stored.rows("SELECT title FROM sessions"))
    assert len(stored.uids()) == 2


def test_reading_while_the_program_writes(stored):
    """No error there, nothing changed by us, its log shrinks, and at the end all is here."""
    stored.folder.mkdir(parents=True)
    program = Path(__file__).with_name("opencode_child.py")
    database = stored.folder / "opencode.db"
    said = written_while_read(stored, program, stored.folder, database)
    assert len(stored.uids()) == said
    assert "growing" not in stored.content(), "each answer has its last words"
