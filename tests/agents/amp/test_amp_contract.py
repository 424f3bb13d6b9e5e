"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin, sample_of
from amp_kit import THREAD, Threads, assistant, put, talk, thread

import cloxy_plugins.amp.plugin as plugin

(SOURCE,) = plugin.cloxy_sources()


class TestThreads(StoreOfPlugin):
    plugin = plugin
    record = SOURCE

    @pytest.fixture
    def path(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        return tmp_path / "home" / ".local" / "share" / "amp" / "threads" / f"{THREAD}.json"

    @pytest.fixture
    def store(self, path):
        return put(path, thread(*talk())).parent

    @pytest.fixture
    def change(self, path):
        return lambda: put(path, thread(*talk(), assistant(6, "And tested.")))


class TestParser(ParserOfPlugin):
    plugin = plugin

    @pytest.fixture
    def sample(self, tmp_path):
        threads = Threads(tmp_path)
        threads.put(*talk())
        return sample_of(threads.source, tmp_path)


def test_source_says_what_it_is():
    assert (SOURCE.agent, SOURCE.parser, SOURCE.rewritten) == ("amp", "amp-records", True)
    assert SOURCE.title == "Amp"
    assert SOURCE.resume == ("amp", "threads", "continue", "{session}")
    assert "server" in SOURCE.note
