"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin, sample_of
from cline_kit import (
    ROO_TASK,
    TASK,
    Tasks,
    put,
    said,
    say,
    sent,
    session,
    talk,
    text,
    typed,
    with_an_editor,
)

import cloxy_plugins.cline.plugin as plugin
from cloxy_plugins.cline.source import SENT, SHOWN

CLINE, ROO, KILO = plugin.cloxy_sources()


@pytest.fixture
def place(tmp_path, monkeypatch):
    with_an_editor(tmp_path, monkeypatch)
    return tmp_path


class OfTasks(StoreOfPlugin, of_the_kit=True):
    plugin = plugin
    folder = TASK
    extension = "saoudrizwan.claude-dev"

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
    record = CLINE


class TestRoo(OfTasks):
    record = ROO
    folder = ROO_TASK
    extension = "rooveterinaryinc.roo-cline"


class TestKilo(OfTasks):
    record = KILO
    folder = ROO_TASK
    extension = "kilocode.kilo-code"


class TestHistory(OfTasks):
    record = CLINE

    @pytest.fixture
    def store(self, task):
        return put(task / SENT, sent()).parent

    @pytest.fixture
    def change(self, task):
        more = {"role": "assistant", "content": [text("It never idles.")]}
        return lambda: put(task / SENT, [*sent(), more])


class TestSessions(OfTasks):
    record = CLINE

    spoken = (said(typed("Why?")), said("It never idles.", "assistant"))

    @pytest.fixture
    def store(self, place):
        sessions = place / "home" / ".cline" / "data" / "sessions"
        return session(sessions, "s1", *self.spoken, manifest={}).parent

    @pytest.fixture
    def change(self, store):
        more = said(typed("And now?"))
        return lambda: session(store.parent, "s1", *self.spoken, more, manifest={})


class TestParser(ParserOfPlugin):
    plugin = plugin

    @pytest.fixture
    def sample(self, tmp_path):
        tasks = Tasks(tmp_path)
        tasks.shown(*talk())
        return sample_of(tasks.source, tmp_path)


def test_sources_are_of_three_agents_and_one_format():
    assert [each.name for each in (CLINE, ROO, KILO)] == ["cline", "roo-code", "kilo-code"]
    for provider in (CLINE, ROO, KILO):
        assert (provider.agent, provider.parser) == (provider.name, "cline-records")
        assert provider.rewritten
        assert provider.title
