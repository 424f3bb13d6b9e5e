"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin
from windsurf_kit import SESSION, agent, chat, lines, put, user

import cloxy_plugins.windsurf.plugin as windsurf
from cloxy_hookspecs.logs.turns import TurnParser, made_uid, message, session

(SOURCE,) = windsurf.cloxy_sources()
(PARSER,) = windsurf.cloxy_parsers()


class TestTranscripts(StoreOfPlugin):
    plugin = windsurf
    record = SOURCE

    @pytest.fixture
    def store(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        put(tmp_path, lines(user("Ünïcödé 港"), agent("yes")), "other")
        return put(tmp_path, lines(*chat())).parent

    @pytest.fixture
    def parser(self):
        return TurnParser("/srv/cloxy", lambda: 1_800_000_000_000)

    @pytest.fixture
    def change(self, tmp_path):
        return lambda: put(tmp_path, lines(*chat(), user("and now?")))


class TestRecords(ParserOfPlugin):
    plugin = windsurf

    @pytest.fixture
    def sample(self, tmp_path):
        told = [("user", "human", "Ünïcödé 港"), ("assistant", "assistant", "yes")]
        told.append(("user", "human", "and now?"))
        path = tmp_path / "records.jsonl"
        records = [session(SESSION)]
        records += [
            message(SESSION, made_uid(text), role, author, text, at=1_790_000_000_000)
            for role, author, text in told
        ]
        path.write_bytes(lines(*records))
        return path


def test_source_says_what_it_is_and_why_there_may_be_nothing():
    assert (SOURCE.agent, SOURCE.rewritten, SOURCE.title) == ("windsurf", True, "Windsurf")
    assert SOURCE.parser == PARSER.name
    assert "encrypts" in SOURCE.note
    assert "post_cascade_response_with_transcript" in SOURCE.note
