"""The conformance kit on what the plugin brings."""

import sqlite3
from contextlib import closing

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin, sample_of
from cursor_kit import (
    SPOKEN,
    TRANSCRIPT,
    Stores,
    at_home,
    bubble,
    chat,
    line,
    put,
    query,
    store_of,
    talk,
    transcript,
    write,
)

import cloxy_plugins.cursor.plugin as plugin

EDITOR, TRANSCRIPTS, CHATS = plugin.cloxy_sources()


@pytest.fixture
def home(tmp_path, monkeypatch):
    return at_home(tmp_path, monkeypatch)


@pytest.fixture
def cursor(home):
    return home[0]


@pytest.fixture
def user(home):
    return home[1]


class OfCursor(StoreOfPlugin, of_the_kit=True):
    plugin = plugin


class TestEditor(OfCursor):
    record = EDITOR

    @pytest.fixture
    def store(self, user):
        return write(store_of(user), talk()).parent

    @pytest.fixture
    def change(self, store):
        def change():
            with closing(sqlite3.connect(store / "state.vscdb")) as database:
                rows = talk()
                more = bubble("b6", 1, "And now?")
                head = rows["composerData:c1"]
                head["fullConversationHeadersOnly"].append({"bubbleId": "b6", "type": 1})
                put(database, "cursorDiskKV", rows | {"bubbleId:c1:b6": more})
                database.commit()

        return change


class TestTranscripts(OfCursor):
    record = TRANSCRIPTS

    @pytest.fixture
    def store(self, cursor):
        transcript(cursor)
        return cursor / "projects"

    @pytest.fixture
    def change(self, cursor):
        return lambda: transcript(cursor, data=TRANSCRIPT + line("user", "more"))


class TestChats(OfCursor):
    record = CHATS

    @pytest.fixture
    def store(self, cursor):
        chat(cursor, *SPOKEN)
        return cursor / "chats"

    @pytest.fixture
    def change(self, cursor):
        more = {"role": "user", "content": [{"type": "text", "text": query("And now?")}]}
        return lambda: chat(cursor, *SPOKEN, more)


class TestParser(ParserOfPlugin):
    plugin = plugin

    @pytest.fixture
    def sample(self, tmp_path):
        stores = Stores(tmp_path)
        write(stores.store, talk())
        return sample_of(stores.editor, tmp_path)


def test_all_sources_are_of_one_agent_and_one_format():
    for provider in (EDITOR, TRANSCRIPTS, CHATS):
        assert (provider.agent, provider.parser) == ("cursor", "cursor-records")
        assert (provider.title, provider.rewritten) == ("Cursor", True)
    assert CHATS.resume == ("cursor-agent", "--resume", "{session}")
