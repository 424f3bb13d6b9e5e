"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin, sample_of
from antigravity_kit import STEPS, Stores, chat

import cloxy_plugins.antigravity.plugin as plugin

LOGS, STORE = plugin.cloxy_sources()
(PARSER,) = plugin.cloxy_parsers()


@pytest.fixture
def stores(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    return Stores(tmp_path)


class OfAntigravity(StoreOfPlugin, of_the_kit=True):
    plugin = plugin


class TestTranscripts(OfAntigravity):
    record = LOGS

    @pytest.fixture
    def store(self, stores):
        return stores.log(chat()).parents[3]

    @pytest.fixture
    def change(self, stores):
        return lambda: stores.log(chat().user("And now?"))


class TestStore(OfAntigravity):
    record = STORE

    @pytest.fixture
    def store(self, stores):
        return stores.database().parent

    @pytest.fixture
    def change(self, stores):
        return lambda: stores.database([*STEPS, (14, "And now?")])


class TestParser(ParserOfPlugin):
    plugin = plugin

    @pytest.fixture
    def sample(self, tmp_path):
        stores = Stores(tmp_path)
        stores.log(chat())
        return sample_of(stores.logs, tmp_path)


def test_both_sources_are_of_one_agent_and_one_format():
    for provider in (LOGS, STORE):
        assert (provider.agent, provider.parser) == ("antigravity", PARSER.name)
        assert (provider.title, provider.rewritten) == ("Antigravity", True)


@pytest.mark.parametrize("level", [".gemini", ".gemini/antigravity-cli"])
def test_another_folder_is_read_at_any_level(tmp_path, level):
    stores = Stores(tmp_path)
    stores.log(chat())
    stores.database()
    other = Stores(tmp_path / "other")
    folder = tmp_path / "home" / level
    assert len(list(other.logs.of(folder).discover([]))) == 1
    assert len(list(other.store.of(folder).discover([]))) == 1


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_a_folder_inside_a_conversation_is_read(tmp_path, depth):
    stores = Stores(tmp_path)
    path = stores.log(chat())
    other = Stores(tmp_path / "other")
    (item,) = other.logs.of(path.parents[depth]).discover([])
    assert item.uri == str(path)
    assert len(list(other.logs.of(path.parents[depth]).read(item, 0))) == 6
