"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin, sample_of
from continue_kit import HISTORY, Home, assistant, user

import cloxy_plugins.continue_dev.plugin as plugin

(SOURCE,) = plugin.cloxy_sources()
(PARSER,) = plugin.cloxy_parsers()


class TestSource(StoreOfPlugin):
    plugin = plugin
    record = SOURCE

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
    def change(self, home):
        return lambda: home.write([*HISTORY, user("And now?", "u3")])


class TestParser(ParserOfPlugin):
    plugin = plugin

    @pytest.fixture
    def sample(self, tmp_path):
        home = Home(tmp_path / "global")
        home.write()
        return sample_of(home.source, tmp_path)


def test_the_source_is_named_as_the_agent_is():
    assert (SOURCE.name, SOURCE.agent, SOURCE.title) == ("continue", "continue", "Continue")
    assert SOURCE.parser == PARSER.name
