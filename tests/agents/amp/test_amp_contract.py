"""The conformance kit on what the plugin brings."""

import pytest
from amp_kit import THREAD, Threads, assistant, items, put, talk, thread

import cloxy_plugins.amp.plugin as plugin
from cloxy_core.testing.conformance import ParserConformance, RewrittenSourceConformance

(SOURCE,) = plugin.cloxy_sources()
(PARSER,) = plugin.cloxy_parsers()


class TestThreads(RewrittenSourceConformance):
    @pytest.fixture
    def provider(self):
        return SOURCE

    @pytest.fixture
    def plugins(self):
        return {"amp": plugin}

    @pytest.fixture
    def parser(self, context):
        return PARSER.create(context)

    @pytest.fixture
    def made(self, store, provider, context):
        return provider.create(context)

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


class TestParser(ParserConformance):
    @pytest.fixture
    def provider(self):
        return PARSER

    @pytest.fixture
    def plugins(self):
        return {"amp": plugin}

    @pytest.fixture
    def sample(self, tmp_path):
        threads = Threads(tmp_path)
        threads.put(*talk())
        (item,), _ = items(threads.source)
        path = tmp_path / "records.jsonl"
        path.write_bytes(b"".join(each.data + b"\n" for each in threads.source.read(item, 0)))
        return path


def test_source_says_what_it_is():
    assert (SOURCE.agent, SOURCE.parser, SOURCE.rewritten) == ("amp", "amp-records", True)
    assert SOURCE.title == "Amp"
    assert SOURCE.resume == ("amp", "threads", "continue", "{session}")
    assert "server" in SOURCE.note
