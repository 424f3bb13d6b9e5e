"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin
from aider_kit import TALK, records, turn

import cloxy_plugins.aider.plugin as plugin
from cloxy_hookspecs.logs.turns import raw_lines

(SOURCE,) = plugin.cloxy_sources()


class TestSource(StoreOfPlugin):
    plugin = plugin
    record = SOURCE

    @pytest.fixture
    def store(self, tmp_path, monkeypatch):
        store = tmp_path / "project"
        store.mkdir()
        (store / ".aider.chat.history.md").write_text(TALK)
        (store / ".aider.input.history").write_text("\n# 2026-05-25 19:34:00.5\n+Pin the clock\n")
        named = str(store / ".aider.chat.history.md")
        monkeypatch.setenv("AIDER_CHAT_HISTORY_FILE", named)
        monkeypatch.delenv("AIDER_INPUT_HISTORY_FILE", raising=False)
        return store

    @pytest.fixture
    def change(self, store):
        def change():
            with (store / ".aider.chat.history.md").open("a") as file:
                file.write(turn("And now?", "Now it runs."))

        return change


class TestSourceOfAFolder(TestSource):
    @pytest.fixture
    def made(self, store, provider, context):
        return provider.create(context).of(store.parent)


class TestParser(ParserOfPlugin):
    plugin = plugin

    @pytest.fixture
    def sample(self, tmp_path):
        path = tmp_path / "records.jsonl"
        lines = raw_lines(records(TALK), 0)
        path.write_bytes(b"".join(line.data + b"\n" for line in lines))
        return path


def test_the_source_is_made_of_whole_files():
    assert (SOURCE.agent, SOURCE.parser, SOURCE.rewritten) == ("aider", "aider-records", True)
