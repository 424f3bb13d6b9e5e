"""The conformance kit on what the plugin brings."""

import sqlite3
from contextlib import closing

import pytest
from cursor_kit import (
    SPOKEN,
    TRANSCRIPT,
    Stores,
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
from cloxy_core.testing.conformance import ParserConformance, RewrittenSourceConformance

EDITOR, TRANSCRIPTS, CHATS = plugin.cloxy_sources()
(PARSER,) = plugin.cloxy_parsers()


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CURSOR_CONFIG_DIR", str(tmp_path / "dot-cursor"))
    monkeypatch.setenv("VSCODE_PORTABLE", str(tmp_path / "portable"))
    for name in ("VSCODE_APPDATA", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


class OfCursor(RewrittenSourceConformance, of_the_kit=True):
    @pytest.fixture
    def plugins(self):
        return {"cursor": plugin}

    @pytest.fixture
    def parser(self, context):
        return PARSER.create(context)

    @pytest.fixture
    def made(self, store, provider, context):
        return provider.create(context)


class TestEditor(OfCursor):
    @pytest.fixture
    def provider(self):
        return EDITOR

    @pytest.fixture
    def store(self, place):
        return write(store_of(place / "portable" / "user-data" / "User"), talk()).parent

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
    @pytest.fixture
    def provider(self):
        return TRANSCRIPTS

    @pytest.fixture
    def store(self, place):
        transcript(place / "dot-cursor")
        return place / "dot-cursor" / "projects"

    @pytest.fixture
    def change(self, place):
        return lambda: transcript(place / "dot-cursor", data=TRANSCRIPT + line("user", "more"))


class TestChats(OfCursor):
    @pytest.fixture
    def provider(self):
        return CHATS

    @pytest.fixture
    def store(self, place):
        chat(place / "dot-cursor", *SPOKEN)
        return place / "dot-cursor" / "chats"

    @pytest.fixture
    def change(self, place):
        more = {"role": "user", "content": [{"type": "text", "text": query("And now?")}]}
        return lambda: chat(place / "dot-cursor", *SPOKEN, more)


class TestParser(ParserConformance):
    @pytest.fixture
    def provider(self):
        return PARSER

    @pytest.fixture
    def plugins(self):
        return {"cursor": plugin}

    @pytest.fixture
    def sample(self, tmp_path):
        stores = Stores(tmp_path)
        write(stores.store, talk())
        (item,) = stores.editor.discover([])
        path = tmp_path / "records.jsonl"
        path.write_bytes(b"".join(each.data + b"\n" for each in stores.editor.read(item, 0)))
        return path


def test_all_sources_are_of_one_agent_and_one_format():
    for provider in (EDITOR, TRANSCRIPTS, CHATS):
        assert (provider.agent, provider.parser) == ("cursor", "cursor-records")
        assert (provider.title, provider.rewritten) == ("Cursor", True)
    assert CHATS.resume == ("cursor-agent", "--resume", "{session}")
