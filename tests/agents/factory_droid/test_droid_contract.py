"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import LogsOfPlugin, ParserOfPlugin
from droid_kit import SESSION, Log

import cloxy_plugins.factory_droid.plugin as droid

(SOURCE,) = droid.cloxy_sources()
(PARSER,) = droid.cloxy_parsers()


def log(folder):
    made = Log().both("Why does the crane overheat?", "It never idles.")
    made.record("compaction_state", id="c1", timestamp=made.stamp(), summaryText="A hot crane.")
    path = folder / "sessions" / "-srv-harbour" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(made.both("Add a test for Ünïcödé 港", "Done.").data())
    return path


class TestRecords(LogsOfPlugin):
    plugin = droid
    record = SOURCE

    @pytest.fixture
    def logs(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
        monkeypatch.setenv("FACTORY_DIR", str(tmp_path / "factory"))
        return log(tmp_path / "factory").parent.parent


class TestParser(ParserOfPlugin):
    plugin = droid

    @pytest.fixture
    def sample(self, tmp_path):
        return log(tmp_path / "factory")


def test_source_says_what_it_is():
    assert (SOURCE.agent, SOURCE.rewritten) == ("factory-droid", False)
    assert SOURCE.title == "Factory Droid"
    assert SOURCE.resume == ("droid", "--resume", "{session}")
    assert SOURCE.parser == PARSER.name
