"""Through the real engine: histories that grow, that are copied, and that go."""

import shutil

import pytest
from agents.stored import Stored, running
from aider_kit import TALK, head, prompt, turn
from sqlalchemy import text

import cloxy_plugins.aider.plugin as plugin
from cloxy_hookspecs import Query


class StoredHistories(Stored):
    def history(self, words=TALK, project="harbour"):
        path = self.folder / project / ".aider.chat.history.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(words)
        return path

    def count(self):
        return self.rows("SELECT count(DISTINCT message_uid) FROM passages")[0][0]


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = tmp_path / "harbour" / ".aider.chat.history.md"
    monkeypatch.setenv("AIDER_CHAT_HISTORY_FILE", str(path))
    monkeypatch.delenv("AIDER_INPUT_HISTORY_FILE", raising=False)
    with running(tmp_path, plugin) as app:
        yield StoredHistories(app, tmp_path)


def test_a_history_that_grows_is_stored_once(stored):
    stored.history()
    stored.ingest()
    assert stored.count() == 5
    assert stored.rows("SELECT title, cwd FROM sessions") == [
        ("Why does the crane stop?", str(stored.folder / "harbour"))
    ]
    stored.history(TALK + prompt("And now?") + "\nNow it")
    stored.ingest()
    stored.history(TALK + turn("And now?", "Now it runs.") + head("2026-05-26 08:00:00"))
    stored.ingest()
    stored.ingest(force=True)
    assert stored.count() == 7
    assert stored.content().count("Now it") == 1
    assert "Now it runs." in stored.content()
    assert "Added crane.py" not in stored.content()


def test_a_copy_in_a_worktree_or_a_clone_is_the_same_and_may_go(stored):
    path = stored.history()
    stored.ingest()
    copy = stored.history(TALK.replace("\n", "\r\n"), "copy")
    stored.ingest(copy.parent)
    stored.history(TALK + turn("Only here", "Yes."), "copy")
    stored.ingest(copy.parent)
    assert stored.count() == 7
    assert len(stored.rows("SELECT key FROM sessions")) == 1
    path.unlink()
    shutil.rmtree(copy.parent)
    stored.ingest()
    assert stored.count() == 7


def test_known_projects_are_looked_into(stored):
    stored.history()
    stored.ingest()
    project = stored.folder / "second"
    stored.history(head("2026-05-27 08:00:00") + turn("Elsewhere", "Yes."), "second")
    stored.ingest()
    assert stored.count() == 5
    stored.app.write(
        lambda c: c.execute(text("UPDATE sessions SET cwd = :cwd"), {"cwd": str(project)})
    )
    stored.ingest()
    assert stored.count() == 7
    assert stored.history() in stored.app.engine.ingest.roots()


def test_secrets_do_not_get_in_and_answers_are_found(stored):
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    stored.history(head() + turn(f"The token is {secret}", "The zephyr crane is pinned."))
    stored.ingest()
    assert secret not in stored.content()
    found = stored.app.do(
        stored.app.engine.recaller.recall(Query("zephyr crane", top_k=5, now=1_800_000_000_000))
    )
    assert "zephyr" in found.hits[0].content
