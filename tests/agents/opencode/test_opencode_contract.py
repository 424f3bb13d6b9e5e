"""The conformance kit on what the plugin brings, over each of its stores."""

import json

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin
from opencode_kit import A, B, Store, Tree

import cloxy_plugins.opencode.plugin as opencode

(SOURCE,) = opencode.cloxy_sources()
(PARSER,) = opencode.cloxy_parsers()


class OfOpenCode(StoreOfPlugin, of_the_kit=True):
    plugin = opencode
    record = SOURCE

    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        monkeypatch.delenv("OPENCODE_DB", raising=False)
        return tmp_path / "data" / "opencode"

    @pytest.fixture
    def store(self, folder, writer):
        return folder


class TestDatabase(OfOpenCode):
    @pytest.fixture
    def writer(self, folder):
        store = Store(folder).session(A).session(B, title="New session - 2026-09-01T10:00:00.000Z")
        store.chat(A)
        store.chat(B, "Add a test for Ünïcödé 港", "Done.")
        return store

    @pytest.fixture
    def change(self, writer):
        return lambda: writer.chat(A, "And the other crane?", "It idles.")


class TestSecondVersion(OfOpenCode):
    @pytest.fixture
    def writer(self, folder):
        store = Store(folder, second=True).session(A)
        store.entry("user", {"text": "Why does the crane overheat?"})
        store.entry("assistant", {"content": [{"type": "text", "text": "It never idles."}]})
        return store

    @pytest.fixture
    def change(self, writer):
        return lambda: writer.entry("user", {"text": "And the other crane?"})


class TestFiles(OfOpenCode):
    @pytest.fixture
    def writer(self, folder):
        tree = Tree(folder)
        tree.session(A)
        tree.say("user", "Why does the crane overheat?")
        tree.say("assistant", "It never idles.")
        return tree

    @pytest.fixture
    def change(self, writer):
        return lambda: writer.say("user", "And the other crane?")


class TestParser(ParserOfPlugin):
    plugin = opencode

    @pytest.fixture
    def sample(self, tmp_path):
        head = {"kind": "session", "id": A, "directory": "/srv/x", "title": "Cranes"}
        records = [head]
        for n, role in enumerate(("user", "assistant", "summary", "user")):
            parts = [{"type": "text", "text": f"words {n}"}]
            records.append({"kind": "message", "id": f"msg_{n}", "role": role, "parts": parts})
        path = tmp_path / "records.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in [*records, head]))
        return path


def test_source_says_what_it_is():
    assert (SOURCE.agent, SOURCE.rewritten, SOURCE.title) == ("opencode", True, "OpenCode")
    assert SOURCE.resume == ("opencode", "--session", "{session}")
    assert SOURCE.parser == PARSER.name
