"""The conformance kit on what the plugin brings."""

import pytest
from crush_kit import A, B, Store, listing, one, source

import cloxy_plugins.crush.plugin as crush
from cloxy_core.testing.conformance import ParserConformance, RewrittenSourceConformance

(SOURCE,) = crush.cloxy_sources()
(PARSER,) = crush.cloxy_parsers()


class TestDatabase(RewrittenSourceConformance):
    @pytest.fixture
    def provider(self):
        return SOURCE

    @pytest.fixture
    def plugins(self):
        return {"crush": crush}

    @pytest.fixture
    def parser(self, context):
        return PARSER.create(context)

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
    def made(self, store, provider, context):
        return provider.create(context)

    @pytest.fixture
    def change(self, writer):
        return lambda: writer.chat(A, "And the other crane?", "It idles.")


class TestParser(ParserConformance):
    @pytest.fixture
    def provider(self):
        return PARSER

    @pytest.fixture
    def plugins(self):
        return {"crush": crush}

    @pytest.fixture
    def sample(self, tmp_path):
        store = one(tmp_path).session()
        store.chat()
        store.chat(A, "And the other crane?", "It idles.")
        made = source(tmp_path)
        (item,) = made.discover([])
        path = tmp_path / "records.jsonl"
        path.write_bytes(b"".join(line.data + b"\n" for line in made.read(item, 0)))
        return path


def test_source_says_what_it_is():
    assert (SOURCE.agent, SOURCE.rewritten, SOURCE.title) == ("crush", True, "Crush")
    assert SOURCE.resume == ("crush", "--session", "{session}")
    assert SOURCE.parser == PARSER.name
