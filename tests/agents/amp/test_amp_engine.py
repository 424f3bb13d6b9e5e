"""Through the real engine: what is stored of threads that grow, are edited and vanish."""

import pytest
from agents.stored import Stored, running
from amp_kit import AT, HARBOUR, OTHER, THREAD, aged, assistant, put, talk, thread, user

import cloxy_plugins.amp.plugin as plugin


class StoredThreads(Stored):
    """An application over a folder of threads, and one of exported ones."""

    def __init__(self, app, folder):
        super().__init__(app)
        self.threads = folder / "home" / ".local" / "share" / "amp" / "threads"
        self.exports = folder / "exports"

    def said(self):
        return self.by_session("author")


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    exports = {"amp.exports": str(tmp_path / "exports")}
    with running(tmp_path, plugin, **exports) as app:
        yield StoredThreads(app, tmp_path)


AUTHORS = ["human", "assistant", "assistant", "human", "assistant"]


def test_a_thread_that_grows_is_stored_once_and_its_last_answer_is_revised(stored):
    path = stored.threads / f"{THREAD}.json"
    aged(put(path, thread(*talk()[:-1], assistant(5, "Don"))), 100)
    stored.ingest()
    aged(put(path, thread(*talk()[:-1], assistant(5, "Done, and tested."), user(6, "Thanks"))), 50)
    stored.ingest()
    stored.ingest(force=True)
    assert stored.said() == {THREAD: [*AUTHORS, "human"]}
    assert stored.rows("SELECT title, cwd, branch FROM sessions") == [("Crane", HARBOUR, "crane")]
    content = stored.content()
    assert "Done, and tested." in content
    for noise in ("SECRET THOUGHTS", "TOOL INPUT", "OUTPUT", "DEBUG COPY"):
        assert noise not in content


def test_both_sides_of_an_edit_stay_and_a_vanished_thread_too(stored):
    path = stored.threads / f"{THREAD}.json"
    aged(put(path, thread(*talk())), 100)
    stored.ingest()
    edited = [user(4, "Look at the motor", at=AT + 90_000), assistant(5, "It runs hot.")]
    aged(put(path, thread(*talk()[:4], *edited)), 50)
    stored.ingest()
    path.unlink()
    stored.ingest()
    assert stored.said() == {THREAD: [*AUTHORS, "human", "assistant"]}
    assert "Done." in stored.content()


def test_exported_threads_are_read_from_the_folder_that_a_setting_names(stored):
    put(stored.threads / f"{THREAD}.json", thread(*talk()))
    put(stored.exports / f"{THREAD}.json", thread(*talk()))
    put(stored.exports / f"{OTHER}.json", thread(*talk()[:2], key=OTHER, forkedFrom=THREAD))
    stored.ingest()
    assert stored.said() == {THREAD: AUTHORS, OTHER: AUTHORS[:2]}
    assert stored.rows(f"SELECT parent_key, relation FROM sessions WHERE key = '{OTHER}'") == [
        (THREAD, "fork")
    ]


def test_a_folder_that_is_asked_for_is_read(stored, tmp_path):
    put(tmp_path / "elsewhere" / "deep" / f"{THREAD}.json", thread(*talk()))
    stored.ingest(tmp_path / "elsewhere")
    assert stored.said() == {THREAD: AUTHORS}
