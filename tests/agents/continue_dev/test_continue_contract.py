"""The conformance kit on what the plugin brings."""

import pytest
from continue_kit import HISTORY, Home, assistant, user

import cloxy_plugins.continue_dev.plugin as plugin
from cloxy_core.testing.conformance import ParserConformance, RewrittenSourceConformance

(SOURCE,) = plugin.cloxy_sources()
(PARSER,) = plugin.cloxy_parsers()


class TestSource(RewrittenSourceConformance):
    @pytest.fixture
    def plugins(self):
        return {"continue_dev": plugin}

    @pytest.fixture
    def provider(self):
        return SOURCE

    @pytest.fixture
    def home(self, tmp_path, monkeypatch):
        monkeypatch.setenv("CONTINUE_GLOBAL_DIR", str(tmp_path / "global"))
        return Home(tmp_path / "global")

    @pytest.fixture
    def store(self, home):
        home.write()
        home.write([user("Something else"), assistant("Yes.")], "s2")
        return home.sessions

    @pytest.fixture
    def made(self, store, context):
        return SOURCE.create(context)

    @pytest.fixture
    def parser(self, context):
        return PARSER.create(context)

    @pytest.fixture
    def change(self, home):
        return lambda: home.write([*HISTORY, user("And now?", "u3")])


class TestParser(ParserConformance):
    @pytest.fixture
    def provider(self):
        return PARSER

    @pytest.fixture
    def plugins(self):
        return {"continue_dev": plugin}

    @pytest.fixture
    def sample(self, tmp_path):
        home = Home(tmp_path / "global")
        home.write()
        (item,) = home.source.discover([])
        path = tmp_path / "records.jsonl"
        path.write_bytes(b"".join(each.data + b"\n" for each in home.source.read(item, 0)))
        return path


def test_the_source_is_named_as_the_agent_is():
    assert (SOURCE.name, SOURCE.agent, SOURCE.title) == ("continue", "continue", "Continue")
    assert SOURCE.parser == PARSER.name
