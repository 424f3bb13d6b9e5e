"""Through the real engine: what is stored of tasks that grow, are copied and vanish."""

import shutil

import pytest
from agents.stored import Stored, running
from cline_kit import (
    AT,
    HARBOUR,
    ROO_TASK,
    TASK,
    aged,
    put,
    said,
    say,
    session,
    talk,
    typed,
    with_an_editor,
)

import cloxy_plugins.cline.plugin as plugin
from cloxy_plugins.cline.source import SHOWN


class StoredTasks(Stored):
    """An application over the folders of a user."""

    def __init__(self, app, storage, home):
        super().__init__(app)
        self.storage = storage
        self.cline = self.storage / "saoudrizwan.claude-dev" / "tasks"
        self.roo = self.storage / "rooveterinaryinc.roo-cline" / "tasks"
        self.sessions = home / ".cline" / "data" / "sessions"

    def said(self):
        found = {}
        for agent, key, author in self.rows(
            "SELECT s.agent, s.key, p.author FROM passages p"
            " JOIN sessions s ON s.id = p.session_id WHERE p.part = 0 ORDER BY p.id"
        ):
            found.setdefault((agent, key), []).append(author)
        return found


@pytest.fixture
def stored(tmp_path, monkeypatch):
    storage = with_an_editor(tmp_path, monkeypatch)
    with running(tmp_path, plugin) as app:
        yield StoredTasks(app, storage, tmp_path / "home")


AUTHORS = ["human", "assistant", "assistant", "human"]


def test_a_task_that_grows_is_stored_once_and_its_last_message_is_revised(stored):
    path = stored.cline / TASK / SHOWN
    aged(put(path, [*talk(), say(8, "text", "Don", partial=True)]), 100)
    stored.ingest()
    aged(put(path, [*talk(), say(8, "text", "Done, and tested."), say(9, "text", "港")]), 50)
    stored.ingest()
    stored.ingest(force=True)
    assert stored.said() == {("cline", TASK): [*AUTHORS, "assistant", "assistant"]}
    assert stored.rows("SELECT key, title, cwd FROM sessions") == [
        (TASK, "Why does the crane overheat?", HARBOUR)
    ]
    content = stored.content()
    assert "Done, and tested." in content
    for noise in ("SECRET THOUGHTS", "FILE BODY", "CRANE LIST", "HAS_CHANGES"):
        assert noise not in content


def test_what_was_said_stays_when_the_task_is_deleted(stored):
    put(stored.cline / TASK / SHOWN, talk())
    stored.ingest()
    shutil.rmtree(stored.cline / TASK)
    stored.ingest()
    assert stored.said() == {("cline", TASK): AUTHORS}


def test_both_sides_of_a_restored_checkpoint_stay(stored):
    path = stored.cline / TASK / SHOWN
    aged(put(path, talk()), 100)
    stored.ingest()
    aged(put(path, [*talk()[:4], say(20, "user_feedback", "Look at the motor")]), 50)
    stored.ingest()
    assert stored.said() == {("cline", TASK): [*AUTHORS, "human"]}


def test_agents_are_kept_apart(stored):
    put(stored.cline / TASK / SHOWN, talk())
    put(stored.roo / ROO_TASK / SHOWN, talk())
    put(stored.roo / ROO_TASK / "history_item.json", {"id": ROO_TASK, "workspace": "/srv/roo"})
    stored.ingest()
    assert stored.said() == {("cline", TASK): AUTHORS, ("roo-code", ROO_TASK): AUTHORS}
    assert dict(stored.rows("SELECT agent, cwd FROM sessions")) == {
        "cline": HARBOUR,
        "roo-code": "/srv/roo",
    }


def test_a_folder_that_is_asked_for_is_read_by_one_source(stored, tmp_path):
    put(tmp_path / "exported" / ROO_TASK / SHOWN, talk())
    put(tmp_path / "exported" / TASK / SHOWN, talk())
    stored.ingest(tmp_path / "exported")
    assert stored.said() == {("cline", TASK): AUTHORS, ("roo-code", ROO_TASK): AUTHORS}


def test_a_task_that_cline_4_went_on_with_is_one_session(stored):
    back = [say(20, "user_feedback", "And the motor?")]
    put(stored.cline / TASK / SHOWN, talk())
    stored.ingest()
    put(stored.cline / TASK / SHOWN, [*talk(), *back])
    put(stored.cline / TASK / "sdk_writeback.json", {"baseUiMessageCount": len(talk())})
    warning = "Warning: this is a legacy conversation, which means tool names may have changed."
    before = said("<task>\nWhy does the crane overheat?\n</task>")
    after = said(typed("And the motor?"), ts=AT + 20_000)
    session(stored.sessions, TASK, before, said(warning), after, manifest={})
    stored.ingest()
    stored.ingest(force=True)
    assert stored.said() == {("cline", TASK): [*AUTHORS, "human"]}
    assert stored.content().count("And the motor?") == 1


def test_a_subagent_is_told_below_its_session(stored):
    session(stored.sessions, "s1", said(typed("Why?")), manifest={})
    session(stored.sessions, "s1", said("Find out."), said("Motor.", "assistant"), child="agent_7")
    stored.ingest()
    assert stored.said() == {
        ("cline", "s1"): ["human"],
        ("cline", "s1/agent_7"): ["subagent", "subagent"],
    }
    assert stored.rows("SELECT parent_key, relation FROM sessions WHERE key = 's1/agent_7'") == [
        ("s1", "subagent")
    ]
