"""The conformance kit on what the plugin brings, and where it looks."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin, sample_of
from kiro_kit import AT, CWD, A, Stores, at_home, card, chat, put, store, talk

import cloxy_plugins.kiro.plugin as plugin
from cloxy_plugins.kiro.places import chat_folders, session_folders, store_folders

LOGS, STORE, EDITOR = plugin.cloxy_sources()
(PARSER,) = plugin.cloxy_parsers()
HOME = Path("/home/ann")


@pytest.fixture
def stores(tmp_path, monkeypatch):
    return at_home(tmp_path, monkeypatch)


class OfKiro(StoreOfPlugin, of_the_kit=True):
    plugin = plugin


class TestLogs(OfKiro):
    record = LOGS

    @pytest.fixture
    def store(self, stores):
        stores.log(chat(), facts=card())
        return stores.sessions

    @pytest.fixture
    def change(self, stores):
        return lambda: stores.log(chat().user("And now?"))


class TestStore(OfKiro):
    record = STORE

    @pytest.fixture
    def store(self, stores):
        return store(stores.data, talk()).parent

    @pytest.fixture
    def change(self, store):
        def change():
            more = [("Why does the crane overheat?", "It never idles."), ("Add a test", "Done.")]
            with closing(sqlite3.connect(store / "data.sqlite3")) as database:
                put(database, talk(A, [*more, ("And now?", "")]), at=AT * 1000 + 5)
                database.commit()

        return change

    def test_a_conversation_with_a_log_is_left_to_it(self, made, store, stores):
        assert store.exists()
        assert len(list(made.discover([]))) == 1
        stores.log(chat(), A)
        assert list(made.discover([])) == []


class TestEditor(OfKiro):
    record = EDITOR

    @pytest.fixture
    def store(self, stores):
        said = [("user", "Why?"), ("assistant", "Because.")]
        stores.session("s1", said, [{"sessionId": "s1", "workspaceDirectory": CWD}])
        return stores.editor

    @pytest.fixture
    def change(self, stores):
        said = [("user", "Why?"), ("assistant", "Because."), ("user", "And now?")]
        return lambda: stores.session("s1", said)


class TestEditorWithRuns(OfKiro):
    """A session whose answers are in logs of runs, one of which grows."""

    record = EDITOR

    @pytest.fixture
    def store(self, stores):
        stores.run_log("e1", ["Because it never idles."])
        stores.session("s1", [("user", "Why?"), ("assistant", "On it.", "e1")])
        return stores.editor

    @pytest.fixture
    def change(self, stores):
        return lambda: stores.run_log("e1", ["Because it never idles.", "And it is old."])


class TestParser(ParserOfPlugin):
    plugin = plugin

    @pytest.fixture
    def sample(self, tmp_path):
        stores = Stores(tmp_path)
        stores.log(chat(), facts=card())
        return sample_of(stores.logs, tmp_path)


def test_all_sources_are_of_one_agent_and_one_format():
    for provider in (LOGS, STORE, EDITOR):
        assert (provider.agent, provider.parser) == ("kiro", PARSER.name)
        assert (provider.title, provider.rewritten) == ("Kiro", True)
    assert LOGS.resume == ("kiro-cli", "chat", "--resume-id", "{session}")


@pytest.mark.parametrize(
    ("environment", "folders"),
    [
        ({}, [HOME / ".kiro/sessions"]),
        ({"KIRO_HOME": "/srv/k"}, [Path("/srv/k/sessions"), HOME / ".kiro/sessions"]),
        ({"KIRO_HOME": "~/k"}, [HOME / "k/sessions", HOME / ".kiro/sessions"]),
        ({"KIRO_HOME": "k"}, [HOME / ".kiro/sessions"]),
        ({"KIRO_HOME": ""}, [HOME / ".kiro/sessions"]),
    ],
)
def test_folders_of_logs(environment, folders):
    assert list(session_folders(environment, HOME)) == folders


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, HOME / ".local/share"),
        ("linux", {"XDG_DATA_HOME": "/srv/d"}, Path("/srv/d")),
        ("darwin", {"XDG_DATA_HOME": "/srv/d"}, HOME / "Library/Application Support"),
        ("win32", {}, HOME / "AppData/Roaming"),
        ("win32", {"APPDATA": "/srv/roaming"}, Path("/srv/roaming")),
    ],
)
def test_folders_of_databases(platform, environment, folder):
    found = store_folders(environment, HOME, platform)
    assert list(found) == [folder / "kiro-cli", folder / "amazon-q"]


def test_folder_of_the_editor():
    (found,) = chat_folders({}, HOME, "darwin")
    place = "Library/Application Support/Kiro/User/globalStorage/kiro.kiroagent"
    assert found == HOME / place


@pytest.mark.parametrize("level", ["dot-kiro", "dot-kiro/sessions", "dot-kiro/sessions/cli"])
def test_another_folder_is_read_at_any_level(tmp_path, level):
    stores = Stores(tmp_path)
    stores.log(chat())
    other = Stores(tmp_path / "other")
    assert len(list(other.logs.of(tmp_path / level).discover([]))) == 1
    store(stores.data, talk())
    for place in ("share", "share/kiro-cli"):
        assert len(list(other.store.of(tmp_path / place).discover([]))) == 1
