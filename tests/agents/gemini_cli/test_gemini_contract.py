"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin
from gemini_kit import NAME, NOW, ROOT, SESSION, Folder, Log

import cloxy_plugins.gemini_cli.plugin as gemini
from cloxy_plugins.gemini_cli.parser import GeminiParser

SOURCE, OLD_QWEN = gemini.cloxy_sources()
(PARSER,) = gemini.cloxy_parsers()


def log():
    return Log().both("Why does the crane overheat?", "It never idles.").both("Ünïcödé 港", "Done.")


class TestLogs(StoreOfPlugin):
    plugin = gemini
    record = SOURCE

    @pytest.fixture
    def parser(self):
        return GeminiParser("/srv/cloxy", lambda: NOW)

    @pytest.fixture
    def store(self, tmp_path, monkeypatch):
        monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "g"))
        folder = Folder(tmp_path / "g")
        folder.write(log())
        folder.write(Log("other").both("hi", "ho"), "old/chats/session-2025-09-16T20-39-other.json")
        folder.write(Log("sub").both("find", "found"), f"harbour/chats/{SESSION}/sub.jsonl")
        (folder.tmp / "harbour" / ".project_root").write_text(ROOT)
        return folder.tmp

    @pytest.fixture
    def change(self, store):
        path = store / "harbour" / "chats" / f"{NAME}.jsonl"

        def write():
            path.write_bytes(log().both("And now?", "Still.").data())

        return write


class TestOldQwenLogs(TestLogs):
    record = OLD_QWEN

    @pytest.fixture
    def store(self, tmp_path, monkeypatch):
        folder = Folder(tmp_path / "g")
        folder.write(log())
        folder.write(Log("other").both("hi", "ho"), "old/chats/session-2025-09-16T20-39-other.json")
        monkeypatch.setenv("QWEN_HOME", str(folder.gemini))
        return folder.tmp


class TestParser(ParserOfPlugin):
    plugin = gemini

    @pytest.fixture
    def sample(self, tmp_path):
        folder = Folder(tmp_path)
        folder.write(log())
        (item,) = folder.items()
        path = tmp_path / "records"
        path.write_bytes(b"".join(line.data + b"\n" for line in folder.source.read(item, 0)))
        return path


def test_source_says_what_it_is():
    assert (SOURCE.agent, SOURCE.rewritten) == ("gemini-cli", True)
    assert SOURCE.title == "Gemini CLI"
    assert SOURCE.resume == ("gemini", "--resume", "{session}")
    assert SOURCE.parser == PARSER.name
    assert (OLD_QWEN.agent, OLD_QWEN.title) == ("qwen-code", "Qwen Code")
    assert OLD_QWEN.parser == PARSER.name
