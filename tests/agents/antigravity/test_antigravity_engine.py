"""Through the real engine: what is stored of conversations that grow, and of two stores of one."""

import pytest
from agents.stored import Stored, running
from antigravity_kit import CWD, A, B, Log, Stores, chat

import cloxy_plugins.antigravity.plugin as plugin


class StoredConversations(Stored):
    """An application over the folders of Antigravity."""

    def __init__(self, app, folder):
        super().__init__(app)
        self.stores = Stores(folder)

    def said(self):
        return self.by_session("message_uid")


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    with running(tmp_path, plugin) as app:
        yield StoredConversations(app, tmp_path)


ALL = [f"step-{n}" for n in (0, 6, 7, 8, 10)]


def test_a_conversation_that_grows_is_stored_once_and_its_last_step_is_revised(stored):
    stored.stores.prompts({"conversationId": A, "workspace": CWD})
    log = chat()
    log.lines[-1]["content"] = "Do"
    stored.stores.log(log)
    stored.ingest()
    assert stored.said() == {A: ALL}
    stored.stores.log(chat().user("Thanks"))
    stored.ingest()
    stored.ingest(force=True)
    assert stored.said() == {A: [*ALL, "step-11"]}
    rows = stored.rows("SELECT key, title, cwd FROM sessions")
    assert rows == [(A, "Why does the crane overheat?", CWD)]
    content = stored.content()
    assert "Done." in content
    for secret in ("SECRET", "TOOL", "REMINDER", "METADATA", "SETTINGS"):
        assert secret not in content


def test_a_database_that_gets_its_transcript_later_is_stored_once(stored):
    steps = [(14, "say one"), (90, ""), (15, "one")]
    stored.stores.database(steps)
    stored.ingest()
    assert stored.said() == {A: ["step-0", "step-2"]}
    stored.stores.log(Log().both("say one", "one").both("say two", "two"))
    stored.ingest()
    stored.ingest(force=True)
    assert stored.said() == {A: ["step-0", "step-2", "step-3", "step-5"]}


def test_a_cut_text_is_replaced_by_the_whole_one(stored):
    log = chat()
    log.lines[6]["content"] = "It never<truncated 7 bytes>"
    stored.stores.log(log)
    stored.ingest()
    assert "truncated" in stored.content()
    stored.stores.full(chat())
    stored.ingest()
    assert stored.said() == {A: ALL}
    assert "truncated" not in stored.content()
    assert "It never idles." in stored.content()


def test_a_sub_agent_is_a_child(stored):
    stored.stores.log(chat().starts(B))
    stored.stores.log(Log().both("find the crane", "found"), B)
    stored.ingest()
    rows = stored.rows("SELECT key, parent_key, relation, cwd FROM sessions ORDER BY key")
    assert rows == [(A, None, None, None), (B, A, "subagent", CWD)]
    authors = stored.rows(
        "SELECT DISTINCT p.author FROM passages p JOIN sessions s ON s.id = p.session_id"
        f" WHERE s.key = '{B}'"
    )
    assert authors == [("subagent",)]


def test_a_transcript_that_is_not_understood_is_drift(stored):
    log = Log().step("PERSON", "SPEECH", "hello")
    stored.stores.log(log)
    stored.ingest()
    assert stored.rows("SELECT state FROM sources") == [("drift",)]


def test_a_secret_typed_as_a_prompt_is_not_stored(stored):
    secret = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"
    stored.stores.log(Log().both(secret, "That is a token."))
    stored.ingest()
    assert secret not in stored.content()
    assert secret not in str(stored.rows("SELECT title FROM sessions"))
    assert len(stored.said()[A]) == 2
