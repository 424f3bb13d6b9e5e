"""Through the real engine: what is stored of sessions that grow, are gone back in, and copied."""

import pytest
from agents.stored import Stored, running
from kiro_kit import AT, CWD, A, B, Log, at_home, card, chat, store, talk

import cloxy_plugins.kiro.plugin as plugin


class StoredSessions(Stored):
    """An application over the folders of Kiro."""

    def __init__(self, app, stores):
        super().__init__(app)
        self.stores = stores

    def said(self):
        return self.by_session("message_uid")


@pytest.fixture
def stored(tmp_path, monkeypatch):
    stores = at_home(tmp_path, monkeypatch)
    with running(tmp_path, plugin) as app:
        yield StoredSessions(app, stores)


ALL = ["m0", "m3", "m4", "m5"]


def test_a_log_that_grows_is_stored_once_and_gets_its_facts_later(stored):
    stored.stores.log(chat())
    stored.ingest()
    assert stored.said() == {A: ALL}
    stored.stores.log(chat().user("Thanks"), facts=card(title="Crane"))
    stored.ingest()
    stored.ingest(force=True)
    assert stored.said() == {A: [*ALL, "m6"]}
    assert stored.rows("SELECT key, title, cwd FROM sessions") == [(A, "Crane", CWD)]
    content = stored.content()
    for secret in ("FAKE", "TOOL", "SAME AGAIN"):
        assert secret not in content


def test_what_a_rewind_cuts_out_of_a_log_stays(stored):
    stored.stores.log(chat(), facts=card())
    stored.ingest()
    stored.stores.log(Log().user("Why does the crane overheat?").tool().agent("It never idles."))
    stored.ingest()
    assert stored.said() == {A: ALL}


@pytest.mark.parametrize("first", [0, 1])
def test_a_rewind_in_a_new_session_stores_each_message_once(stored, first):
    old = Log("o").both("say one", "one").both("say two", "two")
    new = Log("n", AT + 100).copy_of(old, 2).both("say three", "three")
    made = card(B, created_at="2026-07-07T04:15:00Z", parent_session_id=A)
    logs = [(old, A, card(A)), (new, B, made)]
    for log, key, facts in logs if first == 0 else reversed(logs):
        stored.stores.log(log, key, facts)
        stored.ingest()
    stored.ingest(force=True)
    said = stored.said()
    assert {key: sorted(uids) for key, uids in said.items()} == {
        A: ["o0", "o1", "o2", "o3"],
        B: ["n2", "n3"],
    }
    rows = stored.rows("SELECT key, parent_key, relation FROM sessions ORDER BY key")
    assert rows == [(A, None, None), (B, A, "fork")]


def test_a_conversation_that_gets_its_log_later_is_stored_once(stored):
    store(stored.stores.data, talk(A, [("say one", "one")]), talk(B))
    stored.ingest()
    before = stored.said()
    assert len(before[A]) == 2
    stored.stores.log(Log().both("say one", "one").both("say two", "two"), facts=card())
    stored.ingest()
    stored.ingest(force=True)
    assert stored.said() == {**before, A: [*before[A], "m2", "m3"]}


def test_a_sub_agent_is_a_child(stored):
    stored.stores.log(chat(), facts=card())
    child = Log("s", AT + 30).both("find the crane", "found")
    facts = card(B, created_at="2026-07-07T04:13:55Z", parent_session_id=A, title="find the crane")
    stored.stores.log(child, B, facts)
    stored.ingest()
    rows = stored.rows("SELECT key, parent_key, title, relation FROM sessions ORDER BY key")
    assert rows[1] == (B, A, "find the crane", "subagent")


def test_the_editor_is_read_too(stored):
    stored.stores.session("s1", [("user", "Why?"), ("assistant", "Because.")], title="Crane")
    stored.ingest()
    stored.ingest(force=True)
    assert len(stored.said()["s1"]) == 2
    assert stored.rows("SELECT key, title, cwd FROM sessions") == [("s1", "Crane", CWD)]


ASKED = [("user", "Why?"), ("assistant", "On it.", "e1")]


def test_the_words_of_a_run_are_stored_once_however_it_grows(stored):
    stored.stores.session("s1", ASKED, title="Crane")
    stored.stores.run_log("e1", ["First the"])
    stored.ingest()
    before = stored.said()["s1"]
    stored.stores.run_log("e1", ["First the brake.", "Then the motor."])
    stored.ingest()
    stored.ingest(force=True)
    after = stored.said()["s1"]
    assert len(before) == 2
    assert (len(after), after[:2], len(set(after))) == (3, before, 3)
    content = stored.content()
    assert [content.count(each) for each in ("First the", "brake", "motor")] == [1, 1, 1]
    for other in ("On it.", "RULES", "TOOL OUTPUT", "SAME AGAIN", "Understood"):
        assert other not in content


def test_the_log_of_a_run_may_come_later(stored):
    stored.stores.session("s1", ASKED)
    stored.ingest()
    before = stored.said()["s1"]
    stored.stores.run_log("e1", ["It never idles."])
    for force in (False, False, True):
        stored.ingest(force=force)
    after = stored.said()["s1"]
    assert (len(before), after[:2], len(after), len(set(after))) == (2, before, 3, 3)
    assert stored.content().count("It never idles.") == 1


def test_words_stay_when_the_log_of_their_run_is_removed(stored):
    stored.stores.session("s1", ASKED)
    path = stored.stores.run_log("e1", ["It never idles."])
    stored.ingest()
    path.unlink()
    stored.ingest()
    stored.ingest(force=True)
    assert stored.content().count("It never idles.") == 1


def test_a_session_without_the_log_of_a_run_is_no_drift(stored):
    stored.stores.session("s1", ASKED)
    stored.ingest()
    assert stored.rows("SELECT state FROM sources") == [("watched",)]


def test_a_look_at_the_log_of_a_run_alone_reads_its_session(stored):
    stored.stores.session("s1", ASKED)
    stored.stores.session("s2", [("user", "Why?"), ("assistant", "On it.", "e2")])
    path = stored.stores.run_log("e1", ["First the brake."])
    stored.ingest()
    stored.stores.run_log("e1", ["First the brake.", "Then the motor."])
    stored.app.do(stored.app.engine.ingest.run(path))
    assert "Then the motor." in stored.content()


def test_a_log_that_is_not_understood_is_drift(stored):
    log = Log()
    log.lines = [{"version": "v9", "sort": "Prompt", "body": "hello"}]
    stored.stores.log(log)
    stored.ingest()
    assert stored.rows("SELECT state FROM sources") == [("drift",)]


def test_a_secret_typed_as_a_prompt_is_not_stored(stored):
    secret = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"
    stored.stores.log(Log().both(secret, "That is a token."), facts=card(title=secret))
    stored.ingest()
    assert secret not in stored.content()
    assert secret not in str(stored.rows("SELECT title FROM sessions"))
    assert len(stored.said()[A]) == 2
