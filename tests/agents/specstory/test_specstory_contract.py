"""The conformance kit on what the plugin brings."""

import pytest
from specstory_kit import TALK, agent, lines, user

import cloxy_plugins.specstory.plugin as plugin
from cloxy_core.testing.conformance import ParserConformance, RewrittenSourceConformance

(SOURCE,) = plugin.cloxy_sources()
(PARSER,) = plugin.cloxy_parsers()


class TestSource(RewrittenSourceConformance):
    @pytest.fixture
    def provider(self):
        return SOURCE

    @pytest.fixture
    def plugins(self):
        return {"specstory": plugin}

    @pytest.fixture
    def parser(self, context):
        return PARSER.create(context)

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


class TestParser(ParserConformance):
    @pytest.fixture
    def provider(self):
        return PARSER

    @pytest.fixture
    def plugins(self):
        return {"specstory": plugin}

    @pytest.fixture
    def sample(self, tmp_path):
        path = tmp_path / "records.jsonl"
        path.write_bytes(b"".join(line.data + b"\n" for line in lines(TALK)))
        return path
