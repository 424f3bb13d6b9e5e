"""Through the real engine: what is stored of conversations that grow, and of two stores of one."""

import pytest
from agents.stored import Stored, running
from cursor_kit import (
    SPOKEN,
    TRANSCRIPT,
    at_home,
    bubble,
    chat,
    line,
    query,
    store_of,
    talk,
    transcript,
    write,
)

import cloxy_plugins.cursor.plugin as plugin


class StoredConversations(Stored):
    """An application over the folders of Cursor."""

    def __init__(self, app, cursor, user):
        super().__init__(app)
        self.store = store_of(user)
        self.cursor = cursor

    def said(self):
        return self.by_session("message_uid")


@pytest.fixture
def stored(tmp_path, monkeypatch):
    cursor, user = at_home(tmp_path, monkeypatch)
    with running(tmp_path, plugin) as app:
        yield StoredConversations(app, cursor, user)


ALL = ["b1", "b3", "b4", "b5"]


def test_a_conversation_that_grows_is_stored_once_and_its_last_message_is_revised(stored):
    write(stored.store, talk())
    stored.ingest()
    assert stored.said() == {"c1": ALL}
    assert stored.rows("SELECT key, title, cwd FROM sessions") == [
        ("c1", "Crane", "/srv/demo/harbour")
    ]
    rows = talk()
    rows["bubbleId:c1:b5"] = bubble("b5", 2, "Done, and tested.")
    rows["bubbleId:c1:b6"] = bubble("b6", 1, "Thanks")
    rows["composerData:c1"]["fullConversationHeadersOnly"].append({"bubbleId": "b6", "type": 1})
    write(stored.store, rows)
    stored.ingest()
    stored.ingest(force=True)
    assert {key: sorted(uids) for key, uids in stored.said().items()} == {"c1": [*ALL, "b6"]}
    content = stored.content()
    assert "Done, and tested." in content
    for secret in ("FAKE", "THOUGHTS", "OUTPUT", "DRAFT", "SAME AGAIN"):
        assert secret not in content


def test_what_was_said_stays_when_it_is_taken_back(stored):
    write(stored.store, talk())
    stored.ingest()
    write(stored.store, talk(fullConversationHeadersOnly=[{"bubbleId": "b1", "type": 1}]))
    stored.ingest()
    assert stored.said() == {"c1": ALL}


def test_each_conversation_comes_from_one_store(stored):
    write(stored.store, talk() | talk("c2"))
    transcript(stored.cursor)
    chat(stored.cursor, *SPOKEN)
    chat(stored.cursor, *SPOKEN, key="chat-2")
    transcript(stored.cursor, "chat-2", TRANSCRIPT + line("user", "more"))
    transcript(stored.cursor, "only", TRANSCRIPT + line("user", "more"))
    stored.ingest()
    stored.ingest(force=True)
    said = stored.said()
    assert said["c1"] == ["b1", "b3"]
    assert said["c2"] == ALL
    assert said["chat-2"] == ["1/user", "2/assistant", "4/user"]
    assert len(said["chat-1"]) == 3
    assert said["only"] == ["1/user", "2/assistant", "4/user"]
    assert len(said) == 5


def test_a_transcript_that_comes_after_the_database_was_read_adds_only_what_is_new(stored):
    write(stored.store, talk())
    stored.ingest()
    assert stored.said() == {"c1": ALL}
    transcript(stored.cursor, data=TRANSCRIPT + line("user", "only here"))
    stored.ingest()
    stored.ingest(force=True)
    assert stored.said() == {"c1": [*ALL, "4/user"]}
    assert stored.rows("SELECT key, title, cwd FROM sessions") == [
        ("c1", "Crane", "/srv/demo/harbour")
    ]


def test_a_chat_that_gets_its_transcript_later_is_stored_once(stored):
    chat(stored.cursor, *SPOKEN)
    stored.ingest()
    before = stored.said()["chat-1"]
    said = line("user", query("Why?")) + line("assistant", "Because.") + line("assistant", "Fixed.")
    transcript(stored.cursor, "chat-1", said + line("user", "only here"))
    stored.ingest()
    assert stored.said() == {"chat-1": [*before, "4/user"]}
