"""The conformance kit on what the plugin brings."""

import pytest
from droid_kit import SESSION, Log

import cloxy_plugins.factory_droid.plugin as droid
from cloxy_core.testing.conformance import ParserConformance, SourceConformance

(SOURCE,) = droid.cloxy_sources()
(PARSER,) = droid.cloxy_parsers()


def log(folder):
    made = Log().both("Why does the crane overheat?", "It never idles.")
    made.record("compaction_state", id="c1", timestamp=made.stamp(), summaryText="A hot crane.")
    path = folder / "sessions" / "-srv-harbour" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(made.both("Add a test for Ünïcödé 港", "Done.").data())
    return path


class TestRecords(SourceConformance):
    @pytest.fixture
    def provider(self):
        return SOURCE

    @pytest.fixture
    def plugins(self):
        return {"factory_droid": droid}

    @pytest.fixture
    def logs(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
        monkeypatch.setenv("FACTORY_DIR", str(tmp_path / "factory"))
        return log(tmp_path / "factory").parent.parent

    @pytest.fixture
    def made(self, logs, provider, context):
        return provider.create(context)


class TestParser(ParserConformance):
    @pytest.fixture
    def provider(self):
        return PARSER

    @pytest.fixture
    def plugins(self):
        return {"factory_droid": droid}

    @pytest.fixture
    def sample(self, tmp_path):
        return log(tmp_path / "factory")


def test_source_says_what_it_is():
    assert (SOURCE.agent, SOURCE.rewritten) == ("factory-droid", False)
    assert SOURCE.title == "Factory Droid"
    assert SOURCE.resume == ("droid", "--resume", "{session}")
    assert SOURCE.parser == PARSER.name
