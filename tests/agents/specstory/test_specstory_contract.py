"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin
from specstory_kit import TALK, agent, lines, user

import cloxy_plugins.specstory.plugin as plugin

(SOURCE,) = plugin.cloxy_sources()


class TestSource(StoreOfPlugin):
    plugin = plugin
    record = SOURCE

    @pytest.fixture
    def settings(self, store):
        return {"specstory.dirs": str(store)}

    @pytest.fixture
    def store(self, tmp_path):
        store = tmp_path / "harbour" / ".specstory" / "history"
        store.mkdir(parents=True)
        (store / "2026-03-06_17-57-45Z-why.md").write_text(TALK)
        return store

    @pytest.fixture
    def change(self, store):
        more = "---\n\n" + user("And now?", "2026-03-06 19:00:00Z") + agent("Now it runs.")
        return lambda: (store / "2026-03-06_17-57-45Z-why.md").write_text(TALK + more)


class TestSourceOfAFolder(TestSource):
    @pytest.fixture
    def made(self, store, provider, context):
        return provider.create(context).of(store.parents[2])

    @pytest.fixture
    def settings(self):
        return {}


class TestParser(ParserOfPlugin):
    plugin = plugin

    @pytest.fixture
    def sample(self, tmp_path):
        path = tmp_path / "records.jsonl"
        path.write_bytes(b"".join(line.data + b"\n" for line in lines(TALK)))
        return path
