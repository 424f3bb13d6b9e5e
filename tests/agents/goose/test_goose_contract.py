"""The conformance kit on what the plugin brings, over each of its stores."""

import json

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin, sample_of
from goose_kit import A, B, Store, database, file, message

import cloxy_plugins.goose.plugin as goose

DATABASE, FILES = goose.cloxy_sources()
(PARSER,) = goose.cloxy_parsers()


class OfGoose(StoreOfPlugin, of_the_kit=True):
    plugin = goose

    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.setenv("GOOSE_PATH_ROOT", str(tmp_path / "goose"))
        return tmp_path / "goose" / "data" / "sessions"

    @pytest.fixture
    def store(self, folder, writer):
        return folder


class OfDatabase(OfGoose, of_the_kit=True):
    record = DATABASE
    version = 17

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
    record = FILES

    @pytest.fixture
    def lines(self):
        return [message("user", "Why does the crane overheat?"), message("assistant", "It idles.")]

    @pytest.fixture
    def writer(self, folder, lines):
        return file(folder, *lines)

    @pytest.fixture
    def change(self, writer, folder, lines):
        return lambda: file(folder, *lines, message("user", "And the other crane?"))


class TestParser(ParserOfPlugin):
    plugin = goose

    @pytest.fixture
    def sample(self, tmp_path):
        store = Store(tmp_path / "sessions").session()
        store.chat()
        store.chat(A, "And the other crane?", "It idles.")
        path = sample_of(database(tmp_path), tmp_path)
        assert all(json.loads(line) for line in path.read_bytes().splitlines())
        return path


def test_both_sources_are_of_one_agent_and_one_format():
    for provider in (DATABASE, FILES):
        assert (provider.agent, provider.parser) == ("goose", PARSER.name)
        assert (provider.title, provider.rewritten) == ("Goose", True)
    assert DATABASE.resume == ("goose", "session", "--resume", "--session-id", "{session}")
    assert (DATABASE.name, FILES.name) == ("goose", "goose-files")
