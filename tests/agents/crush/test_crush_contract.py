"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin, sample_of
from crush_kit import A, B, Store, listing, one, source

import cloxy_plugins.crush.plugin as crush

(SOURCE,) = crush.cloxy_sources()
(PARSER,) = crush.cloxy_parsers()


class TestDatabase(StoreOfPlugin):
    plugin = crush
    record = SOURCE

    @pytest.fixture
    def writer(self, tmp_path, monkeypatch):
        monkeypatch.setenv("CRUSH_GLOBAL_DATA", str(tmp_path / "data"))
        listing(tmp_path / "data", tmp_path / "harbour")
        store = Store(tmp_path / "harbour").session(A).session(B, title="New Session")
        store.chat(A)
        store.chat(B, "Add a test for Ünïcödé 港", "Done.")
        return store

    @pytest.fixture
    def store(self, writer):
        return writer.folder

    @pytest.fixture
    def change(self, writer):
        return lambda: writer.chat(A, "And the other crane?", "It idles.")


class TestParser(ParserOfPlugin):
    plugin = crush

    @pytest.fixture
    def sample(self, tmp_path):
        store = one(tmp_path).session()
        store.chat()
        store.chat(A, "And the other crane?", "It idles.")
        made = source(tmp_path)
        return sample_of(made, tmp_path)


def test_source_says_what_it_is():
    assert (SOURCE.agent, SOURCE.rewritten, SOURCE.title) == ("crush", True, "Crush")
    assert SOURCE.resume == ("crush", "--session", "{session}")
    assert SOURCE.parser == PARSER.name
