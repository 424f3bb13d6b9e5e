"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import LogsOfPlugin, ParserOfPlugin
from qwen_kit import SESSION, Log

import cloxy_plugins.qwen_code.plugin as qwen

(SOURCE,) = qwen.cloxy_sources()
(PARSER,) = qwen.cloxy_parsers()


def log(folder):
    made = Log().both("Why does the crane overheat?", "It never idles.")
    history = [{"role": "user", "parts": [{"text": "The crane is hot."}]}]
    made.system("chat_compression", {"compressedHistory": history})
    path = folder / "projects" / "harbour" / "chats" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(made.both("Add a test for Ünïcödé 港", "Done.").data())
    return path


class TestRecords(LogsOfPlugin):
    plugin = qwen
    record = SOURCE

    @pytest.fixture
    def logs(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.delenv("QWEN_RUNTIME_DIR", raising=False)
        monkeypatch.setenv("QWEN_HOME", str(tmp_path / "qwen"))
        return log(tmp_path / "qwen").parent.parent.parent


class TestParser(ParserOfPlugin):
    plugin = qwen

    @pytest.fixture
    def sample(self, tmp_path):
        return log(tmp_path / "qwen")


def test_source_says_what_it_is():
    assert (SOURCE.agent, SOURCE.rewritten) == ("qwen-code", False)
    assert SOURCE.title == "Qwen Code"
    assert SOURCE.resume == ("qwen", "--resume", "{session}")
    assert SOURCE.parser == PARSER.name
