"""Through the real engine: what is stored of databases that change and are written to."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from crush_kit import A, B, Store, child_of, finish, listing, text
from sqlalchemy import text as sql

import cloxy_plugins.crush.plugin as crush
from cloxy_core.testing.harness import App


class Stored:
    """An application over a project."""

    def __init__(self, app, project):
        self.app = app
        self.project = project

    def ingest(self, *, force=False, under=None):
        return self.app.do(self.app.engine.ingest.run(under, force=force))

    def rows(self, statement):
        return self.app.read(lambda c: [tuple(row) for row in c.execute(sql(statement))])

    def uids(self):
        rows = self.rows("SELECT DISTINCT message_uid FROM passages ORDER BY message_uid")
        return [uid for (uid,) in rows]

    def content(self):
        return "\n".join(row[0] for row in self.rows("SELECT content FROM memories ORDER BY id"))


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CRUSH_GLOBAL_DATA", str(tmp_path / "data"))
    listing(tmp_path / "data", tmp_path / "harbour")
    settings = {"watch.dirs": "", "embed.provider": "none"}
    with App(tmp_path / "cloxy", plugins={"crush": crush}, settings=settings) as app:
        app.start()
        yield Stored(app, tmp_path / "harbour")


def test_a_session_is_stored_once_while_it_grows(stored):
    store = Store(stored.project).session()
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
        (A, "Cranes", str(stored.project))
    ]


def test_an_answer_that_grows_within_a_second_has_its_last_words(stored):
    """No time of the row changes; only what it says, and that it is finished."""
    store = Store(stored.project).session()
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
    store = Store(stored.project).session()
    keys = store.chat()
    stored.ingest()
    store.run("DELETE FROM messages")
    store.run("DELETE FROM sessions")
    store.session(B).chat(B)
    stored.ingest()
    assert set(keys) <= set(stored.uids())
    assert len(stored.uids()) == 4


def test_children_summaries_models_and_titles_are_stored(stored):
    store = Store(stored.project).session().session("m1$$c1", parent=A, title="New Agent Session")
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
    store = Store(stored.project).session()
    store.row("m1", A, "tool", "[]")
    stored.ingest()
    assert stored.rows("SELECT count(*) FROM passages") == [(0,)]
    assert stored.rows("SELECT state FROM sources WHERE state = 'drift'") == []


def test_a_secret_typed_as_a_prompt_is_not_stored(stored):
    secret = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"
    Store(stored.project).session(title=secret).chat(A, secret, "That is a token.")
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
    stored.project.mkdir(parents=True)
    here = str(child_of("crush_child.py").parent)
    paths = os.pathsep.join([here, *filter(None, sys.path)])
    process = subprocess.Popen(
        [sys.executable, str(child_of("crush_child.py")), str(stored.project), "200"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    folder = stored.project / ".crush"
    try:
        assert process.stdout.readline().strip() == "ready"
        for _look in range(4):
            assert not stored.ingest().errors
        process.stdin.write("enough\n")
        process.stdin.flush()
        os.set_blocking(process.stdout.fileno(), False)
        told = ""
        while not told.endswith("\n"):
            assert not stored.ingest().errors
            told += process.stdout.readline() or ""
        said, errors, shrunk = map(int, told.split())
        assert (errors, said >= 200) == (0, True)
        assert shrunk > 0, "its log was never kept from shrinking for good"
        stored.ingest()
        before = state(folder)
        stored.ingest(force=True)
        assert state(folder) == before
        with closing(sqlite3.connect(folder / "crush.db")) as connection:
            (busy, *_pages) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert busy == 0, "nothing of ours keeps its log from shrinking"
        assert len(stored.uids()) == said
        assert "growing" not in stored.content(), "each answer has its last words"
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def state(folder):
    """Bytes of each file but the index that users of a log share."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file() and not path.name.endswith("-shm")
    }
