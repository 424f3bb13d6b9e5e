"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import LogsOfPlugin, ParserOfPlugin
from copilot_kit import SESSION, Log

import cloxy_plugins.copilot_cli.plugin as copilot

(SOURCE,) = copilot.cloxy_sources()
(PARSER,) = copilot.cloxy_parsers()


def log(folder):
    made = Log().start().both("Why does the crane overheat?", "It never idles.")
    made.user("look at the motor", agent="call_1").agent("It is hot.", agent="call_1")
    made.event("session.compaction_complete", {"success": True, "summaryContent": "Crane is hot."})
    path = folder / "session-state" / SESSION / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(made.both("Add a test for Ünïcödé 港", "Done.").data())
    return path


class TestEvents(LogsOfPlugin):
    plugin = copilot
    record = SOURCE

    @pytest.fixture
    def logs(self, tmp_path, monkeypatch):
        monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "copilot"))
        return log(tmp_path / "copilot").parent.parent


class TestParser(ParserOfPlugin):
    plugin = copilot

    @pytest.fixture
    def sample(self, tmp_path):
        return log(tmp_path / "copilot")


def test_source_says_what_it_is():
    assert (SOURCE.agent, SOURCE.rewritten) == ("copilot-cli", False)
    assert SOURCE.title == "GitHub Copilot CLI"
    assert SOURCE.resume == ("copilot", "--resume", "{session}")
    assert SOURCE.parser == PARSER.name
