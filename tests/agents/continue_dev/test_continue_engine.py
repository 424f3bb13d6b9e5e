"""Through the real engine: what is stored of sessions that grow, and of prompts that are edited."""

import pytest
from agents.stored import Stored, running
from continue_kit import CHAT, HISTORY, Home, assistant, editor, user

import cloxy_plugins.continue_dev.plugin as plugin


class StoredSessions(Stored):
    """An application over Continue's folder."""

    def __init__(self, app, home):
        super().__init__(app)
        self.home = home

    def said(self):
        return self.rows(
            "SELECT p.role, substr(m.content, p.char_start + 1, p.char_end - p.char_start)"
            " FROM passages p JOIN memories m ON m.id = p.memory_id ORDER BY p.id"
        )


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CONTINUE_GLOBAL_DIR", str(tmp_path / "global"))
    with running(tmp_path, plugin) as app:
        yield StoredSessions(app, Home(tmp_path / "global"))


def test_a_session_that_grows_is_stored_once(stored):
    stored.home.write()
    stored.ingest()
    assert stored.said() == CHAT
    stored.home.write([*HISTORY, user("Thanks", "u3")])
    stored.ingest()
    stored.ingest(force=True)
    assert stored.said() == [*CHAT, ("user", "Thanks")]
    assert stored.rows("SELECT key, title, cwd FROM sessions") == [
        ("s1", "Crane", "/srv/demo/harbour")
    ]
    for noise in ("TOOL", "SECRET", "FULL PROMPT"):
        assert noise not in stored.content()


def test_what_was_said_stays_when_a_prompt_is_edited(stored):
    stored.home.write()
    stored.ingest()
    stored.home.write([user("Why does the winch overheat?", "u1"), assistant("It is dry.", "a9")])
    stored.ingest()
    assert stored.said() == [
        *CHAT,
        ("user", "Why does the winch overheat?"),
        ("assistant", "It is dry."),
    ]


def test_what_was_said_stays_when_the_session_is_deleted(stored):
    path = stored.home.write()
    stored.ingest()
    path.unlink()
    stored.ingest()
    assert stored.said() == CHAT


def test_a_summary_is_no_persons(stored):
    stored.home.write([*HISTORY[:-1], HISTORY[-1] | {"conversationSummary": "The crane, mended."}])
    stored.ingest()
    assert stored.rows("SELECT role, author FROM passages ORDER BY id")[-1] == (
        "summary",
        "summary",
    )


def test_context_never_gets_into_a_memory(stored):
    body = "def lift(self): ...\n" * 100
    item = {"name": "crane.py", "content": body}
    typed = editor("Why?")
    stored.home.write([user(f"```\n{body}```\nWhy?", editorState=typed, contextItems=[item])])
    stored.ingest()
    assert stored.said() == [("user", "Why?")]


def test_sessions_of_our_own_are_not_taken(stored):
    stored.home.write(workspaceDirectory=f"file://{stored.app.data}/work")
    stored.ingest()
    assert stored.said() == []


def test_an_empty_session_is_no_drift_and_a_broken_one_is_told(stored):
    stored.home.write([])
    assert not stored.ingest().drift
    (stored.home.sessions / "s2.json").write_text('{"sessionId": "s2", "history": [')
    stored.ingest()
    (source,) = [
        each
        for each in stored.app.do(stored.app.engine.catalogue.sources())
        if each.name == "continue"
    ]
    assert (source.items, source.bad_lines) == (2, 1)
