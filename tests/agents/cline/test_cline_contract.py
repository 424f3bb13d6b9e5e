"""The conformance kit on what the plugin brings."""

import pytest
from cline_kit import (
    ROO_TASK,
    TASK,
    VARIABLES,
    Tasks,
    items,
    put,
    said,
    say,
    sent,
    session,
    talk,
    text,
    typed,
)

import cloxy_plugins.cline.plugin as plugin
from cloxy_core.testing.conformance import ParserConformance, RewrittenSourceConformance
from cloxy_plugins.cline.source import SENT, SHOWN

CLINE, ROO, KILO = plugin.cloxy_sources()
(PARSER,) = plugin.cloxy_parsers()


@pytest.fixture
def place(tmp_path, monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.setenv("VSCODE_PORTABLE", str(tmp_path / "portable"))
    return tmp_path


class OfTasks(RewrittenSourceConformance, of_the_kit=True):
    folder = TASK
    extension = "saoudrizwan.claude-dev"

    @pytest.fixture
    def plugins(self):
        return {"cline": plugin}

    @pytest.fixture
    def parser(self, context):
        return PARSER.create(context)

    @pytest.fixture
    def made(self, store, provider, context):
        return provider.create(context)

    @pytest.fixture
    def task(self, place):
        user = place / "portable" / "user-data" / "User"
        return user / "globalStorage" / self.extension / "tasks" / self.folder

    @pytest.fixture
    def store(self, task):
        return put(task / SHOWN, talk()).parent

    @pytest.fixture
    def change(self, task):
        return lambda: put(task / SHOWN, [*talk(), say(9, "text", "Done.")])


class TestCline(OfTasks):
    @pytest.fixture
    def provider(self):
        return CLINE


class TestRoo(OfTasks):
    folder = ROO_TASK
    extension = "rooveterinaryinc.roo-cline"

    @pytest.fixture
    def provider(self):
        return ROO


class TestKilo(OfTasks):
    folder = ROO_TASK
    extension = "kilocode.kilo-code"

    @pytest.fixture
    def provider(self):
        return KILO


class TestHistory(OfTasks):
    @pytest.fixture
    def provider(self):
        return CLINE

    @pytest.fixture
    def store(self, task):
        return put(task / SENT, sent()).parent

    @pytest.fixture
    def change(self, task):
        more = {"role": "assistant", "content": [text("It never idles.")]}
        return lambda: put(task / SENT, [*sent(), more])


class TestSessions(OfTasks):
    spoken = (said(typed("Why?")), said("It never idles.", "assistant"))

    @pytest.fixture
    def provider(self):
        return CLINE

    @pytest.fixture
    def store(self, place):
        sessions = place / "home" / ".cline" / "data" / "sessions"
        return session(sessions, "s1", *self.spoken, manifest={}).parent

    @pytest.fixture
    def change(self, store):
        more = said(typed("And now?"))
        return lambda: session(store.parent, "s1", *self.spoken, more, manifest={})


class TestParser(ParserConformance):
    @pytest.fixture
    def provider(self):
        return PARSER

    @pytest.fixture
    def plugins(self):
        return {"cline": plugin}

    @pytest.fixture
    def sample(self, tmp_path):
        tasks = Tasks(tmp_path)
        tasks.shown(*talk())
        (item,), _ = items(tasks.source)
        path = tmp_path / "records.jsonl"
        path.write_bytes(b"".join(each.data + b"\n" for each in tasks.source.read(item, 0)))
        return path


def test_sources_are_of_three_agents_and_one_format():
    assert [each.name for each in (CLINE, ROO, KILO)] == ["cline", "roo-code", "kilo-code"]
    for provider in (CLINE, ROO, KILO):
        assert (provider.agent, provider.parser) == (provider.name, "cline-records")
        assert provider.rewritten
        assert provider.title
