"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin, sample_of
from zed_kit import MESSAGES, TALK, Zed, at_home, document, text_thread, user

import cloxy_plugins.zed.plugin as plugin

THREADS, TEXT_THREADS = plugin.cloxy_sources()


class OfZed(StoreOfPlugin, of_the_kit=True):
    plugin = plugin

    @pytest.fixture
    def zed(self, tmp_path, monkeypatch):
        return at_home(tmp_path, monkeypatch)


class TestThreads(OfZed):
    record = THREADS

    @pytest.fixture
    def store(self, zed):
        zed.write("t2", kind="json", updated_at="2026-01-01T00:00:00Z")
        return zed.write().parent

    @pytest.fixture
    def change(self, zed):
        more = document([*MESSAGES, user("And now?", key="u3")])
        return lambda: zed.write(value=more, updated_at="2026-02-06T03:00:00Z")


class TestTextThreads(OfZed):
    record = TEXT_THREADS

    @pytest.fixture
    def store(self, zed):
        return zed.write_text().parent

    @pytest.fixture
    def change(self, zed):
        turns = [("user", "Why does the crane overheat?"), ("assistant", "It never idles.")]
        more = text_thread(*turns, *turns, ("user", "And?"), ("assistant", "That is all."))
        return lambda: zed.write_text(more)


class TestParser(ParserOfPlugin):
    plugin = plugin

    @pytest.fixture
    def sample(self, tmp_path):
        zed = Zed(tmp_path)
        zed.write()
        return sample_of(zed.source, tmp_path)


def test_both_sources_are_of_one_agent_and_one_format():
    for provider in (THREADS, TEXT_THREADS):
        assert (provider.agent, provider.parser, provider.title) == ("zed", "zed-records", "Zed")
    assert TALK["version"] == "0.4.0"
