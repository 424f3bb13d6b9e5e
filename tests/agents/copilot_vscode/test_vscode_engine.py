"""Through the real engine: what is stored of sessions that grow, are copied and vanish."""

import pytest
from agents.stored import Stored, running
from vscode_kit import FOLDER, SESSION, at_home, logged, place, put, request, session, two

import cloxy_plugins.copilot_vscode.plugin as plugin


class StoredChats(Stored):
    """An application over a `User` folder."""

    def __init__(self, app, user):
        super().__init__(app)
        self.user = user

    def said(self):
        return self.by_session("role", "message_uid")


@pytest.fixture
def stored(tmp_path, monkeypatch):
    user = at_home(tmp_path, monkeypatch)
    with running(tmp_path, plugin) as app:
        yield StoredChats(app, user)


def uids(*numbers):
    return [(role, f"request_{n}/{role}") for n in numbers for role in ("user", "assistant")]


def test_a_session_that_grows_becomes_a_log_and_is_copied_is_stored_once(stored):
    put(place(stored.user), two(), age=100)
    stored.ingest()
    assert stored.said() == {SESSION: uids(1, 2)}
    state = session(*two()["requests"], request(3, "And now?", "It idles."))
    put(place(stored.user, f"{SESSION}.jsonl"), logged(state), age=80)
    stored.ingest()
    assert stored.said() == {SESSION: uids(1, 2, 3)}
    put(place(stored.user, workspace="h2", folder=FOLDER), state, age=60)
    stored.ingest()
    stored.ingest(force=True)
    assert stored.said() == {SESSION: uids(1, 2, 3)}
    assert stored.content().count("It idles.") == 1


def test_an_answer_that_grew_is_revised_and_noise_is_not_stored(stored):
    put(place(stored.user), session(request(1, "why?", "It ne")), age=100)
    stored.ingest()
    put(place(stored.user), session(request(1, "why?", "It never idles.")), age=50)
    stored.ingest()
    content = stored.content()
    assert "It never idles." in content
    assert "THE WHOLE PROMPT" not in content
    assert stored.said() == {SESSION: uids(1)}


def test_what_was_said_stays_when_the_file_is_gone(stored):
    path = put(place(stored.user), two(), age=100)
    stored.ingest()
    path.unlink()
    stored.ingest()
    assert stored.said() == {SESSION: uids(1, 2)}


def test_titles_and_folders_are_stored(stored):
    put(place(stored.user), {**two(), "customTitle": "Crane"}, age=100)
    stored.ingest()
    assert stored.rows("SELECT key, title, cwd FROM sessions") == [
        (SESSION, "Crane", "/srv/demo/harbour")
    ]
