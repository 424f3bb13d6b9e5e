"""The conformance kit on what the plugin brings, over each of its stores."""

import json

import pytest
from goose_kit import A, B, Store, database, file, message

import cloxy_plugins.goose.plugin as goose
from cloxy_core.testing.conformance import ParserConformance, RewrittenSourceConformance

DATABASE, FILES = goose.cloxy_sources()
(PARSER,) = goose.cloxy_parsers()


class OfGoose(RewrittenSourceConformance, of_the_kit=True):
    @pytest.fixture
    def plugins(self):
        return {"goose": goose}

    @pytest.fixture
    def parser(self, context):
        return PARSER.create(context)

    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.setenv("GOOSE_PATH_ROOT", str(tmp_path / "goose"))
        return tmp_path / "goose" / "data" / "sessions"

    @pytest.fixture
    def store(self, folder, writer):
        return folder

    @pytest.fixture
    def made(self, store, provider, context):
        return provider.create(context)


class OfDatabase(OfGoose, of_the_kit=True):
    version = 17

    @pytest.fixture
    def provider(self):
        return DATABASE

    @pytest.fixture
    def writer(self, folder):
        store = Store(folder, self.version).session(A).session(B)
        store.chat(A)
        store.chat(B, "Add a test for Ünïcödé 港", "Done.")
        return store

    @pytest.fixture
    def change(self, writer):
        return lambda: writer.chat(A, "And the other crane?", "It idles.")


class TestDatabase(OfDatabase):
    version = 17


class TestFirstDatabase(OfDatabase):
    version = 1


class TestFiles(OfGoose):
    @pytest.fixture
    def provider(self):
        return FILES

    @pytest.fixture
    def lines(self):
        return [message("user", "Why does the crane overheat?"), message("assistant", "It idles.")]

    @pytest.fixture
    def writer(self, folder, lines):
        return file(folder, *lines)

    @pytest.fixture
    def change(self, writer, folder, lines):
        return lambda: file(folder, *lines, message("user", "And the other crane?"))


class TestParser(ParserConformance):
    @pytest.fixture
    def provider(self):
        return PARSER

    @pytest.fixture
    def plugins(self):
        return {"goose": goose}

    @pytest.fixture
    def sample(self, tmp_path):
        store = Store(tmp_path / "sessions").session()
        store.chat()
        store.chat(A, "And the other crane?", "It idles.")
        made = database(tmp_path)
        (item,) = made.discover([])
        path = tmp_path / "records.jsonl"
        lines = [line.data for line in made.read(item, 0)]
        assert all(json.loads(line) for line in lines)
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path


def test_both_sources_are_of_one_agent_and_one_format():
    for provider in (DATABASE, FILES):
        assert (provider.agent, provider.parser) == ("goose", PARSER.name)
        assert (provider.title, provider.rewritten) == ("Goose", True)
    assert DATABASE.resume == ("goose", "session", "--resume", "--session-id", "{session}")
    assert (DATABASE.name, FILES.name) == ("goose", "goose-files")
