"""Through the real engine: what is stored of threads that grow, are edited, change their form."""

import pytest
from agents.stored import Stored, running
from zed_kit import CHAT, MESSAGES, TALK, agent, at_home, document, old_document, text_thread, user

import cloxy_plugins.zed.plugin as plugin


class StoredThreads(Stored):
    """An application over Zed's folder."""

    def __init__(self, app, zed):
        super().__init__(app)
        self.zed = zed

    def said(self, key="t1"):
        return self.rows(
            "SELECT p.role, substr(m.content, p.char_start + 1, p.char_end - p.char_start)"
            " FROM passages p JOIN memories m ON m.id = p.memory_id"
            f" JOIN sessions s ON s.id = p.session_id WHERE s.key = '{key}' ORDER BY p.id"
        )


@pytest.fixture
def stored(tmp_path, monkeypatch):
    zed = at_home(tmp_path, monkeypatch)
    with running(tmp_path, plugin) as app:
        yield StoredThreads(app, zed)


def test_a_thread_that_grows_is_stored_once(stored):
    stored.zed.write()
    stored.ingest()
    assert stored.said() == CHAT
    more = document([*MESSAGES, user("Thanks", key="u3")])
    stored.zed.write(value=more, updated_at="2026-02-06T03:00:00Z")
    stored.ingest()
    stored.ingest(force=True)
    assert stored.said() == [*CHAT, ("user", "Thanks")]
    assert stored.rows("SELECT key, title, cwd FROM sessions") == [
        ("t1", "Crane", "/srv/demo/harbour")
    ]
    for noise in ("TOOL", "SECRET", "LARGE DIFF", "DRAFT"):
        assert noise not in stored.content()


def test_what_was_said_stays_when_a_prompt_is_edited(stored):
    stored.zed.write()
    stored.ingest()
    edited = document([*MESSAGES[:4], user("No: mend it", key="u9"), agent("Mended.")])
    stored.zed.write(value=edited, updated_at="2026-02-06T03:00:00Z")
    stored.ingest()
    assert stored.said() == [*CHAT, ("user", "No: mend it"), ("assistant", "Mended.")]


def test_a_thread_that_gets_the_newer_form_is_stored_once(stored):
    stored.zed.write(value=old_document())
    stored.ingest()
    stored.zed.write(updated_at="2026-02-06T03:00:00Z")
    stored.ingest()
    assert stored.said() == CHAT


def test_a_sub_agent_is_no_person_and_stands_below_its_parent(stored):
    stored.zed.write("t1")
    stored.zed.write("t2", parent_id="t1")
    stored.ingest()
    assert stored.said("t1/t2") == CHAT
    assert stored.rows(
        "SELECT DISTINCT p.author FROM passages p JOIN sessions s ON s.id = p.session_id"
        " WHERE s.key = 't1/t2'"
    ) == [("subagent",)]


def test_what_was_said_stays_when_the_thread_is_deleted(stored):
    path = stored.zed.write()
    stored.ingest()
    path.unlink()
    stored.ingest()
    assert stored.said() == CHAT


def test_text_threads_follow_their_words(stored):
    stored.zed.write_text(TALK)
    stored.ingest()
    assert len(stored.said("tt1")) == 4
    stored.zed.write_text(text_thread(("user", "Why ever?"), ("assistant", "Never mind.")))
    stored.ingest()
    assert stored.said("tt1")[:2] == [("user", "Why ever?"), ("assistant", "Never mind.")]
    assert len(stored.said("tt1")) == 4
    for noise in ("FILE BODY", "SECRET", "DRAFT"):
        assert noise not in stored.content()


def test_a_thread_without_a_word_is_no_drift(stored):
    stored.zed.write(value=document([]))
    report = stored.ingest()
    assert not report.drift
    assert not report.errors
    assert stored.rows("SELECT key FROM sessions") == []
