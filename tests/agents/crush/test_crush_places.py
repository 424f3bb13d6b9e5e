"""Where databases are found, and where not."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from crush_kit import A, B, Store, listing, messages, one, results, said, source

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.crush.places import data_folder

HOME = Path(os.sep).resolve() / "home" / "dev"


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", HOME / ".local" / "share" / "crush"),
        ({}, "darwin", HOME / ".local" / "share" / "crush"),
        ({}, "win32", HOME / "AppData" / "Local" / "crush"),
        ({"LOCALAPPDATA": str(HOME / "local")}, "win32", HOME / "local" / "crush"),
        ({"XDG_DATA_HOME": str(HOME / "x")}, "linux", HOME / "x" / "crush"),
        ({"XDG_DATA_HOME": str(HOME / "x")}, "win32", HOME / "x" / "crush"),
        ({"XDG_DATA_HOME": "relative"}, "linux", HOME / ".local" / "share" / "crush"),
        (
            {"CRUSH_GLOBAL_DATA": str(HOME / "own"), "XDG_DATA_HOME": str(HOME / "x")},
            "linux",
            HOME / "own",
        ),
    ],
)
def test_folder_with_the_list_of_projects(environment, platform, expected):
    assert data_folder(environment, HOME, platform) == expected


@pytest.mark.parametrize("shape", ["object", "array", "by id", "object by id"])
def test_projects_of_the_list_are_read(tmp_path, shape):
    for name, key in (("harbour", A), ("yard", B)):
        Store(tmp_path / name).session(key).chat(key)
    listing(tmp_path / "data", tmp_path / "harbour", tmp_path / "yard", shape=shape)
    assert {message.session: message.cwd for message in messages(source(tmp_path))} == {
        A: str(tmp_path / "harbour"),
        B: str(tmp_path / "yard"),
    }


def test_a_data_folder_elsewhere(tmp_path):
    Store(tmp_path / "harbour", folder=tmp_path / "moved").session(A).chat(A)
    Store(tmp_path / "yard", folder=tmp_path / "yard" / "state" / "ai").session(B).chat(B)
    listing(
        tmp_path / "data",
        (tmp_path / "harbour", tmp_path / "moved"),
        (tmp_path / "yard", "state/ai"),
    )
    assert {message.session: message.cwd for message in messages(source(tmp_path))} == {
        A: str(tmp_path / "harbour"),
        B: str(tmp_path / "yard"),
    }


def test_a_database_that_projects_share_says_no_folder(tmp_path):
    shared = tmp_path / "shared"
    Store(tmp_path, folder=shared).session(A).chat(A)
    listing(tmp_path / "data", (tmp_path / "harbour", shared), (tmp_path / "yard", shared))
    assert {message.cwd for message in messages(source(tmp_path))} == {None}


def test_folders_known_from_other_agents_are_looked_at(tmp_path):
    Store(tmp_path / "harbour").session(A).chat(A)
    (tmp_path / "yard").mkdir()
    reader = Logs(tmp_path / "copies")
    reader.folders = [tmp_path / "yard", tmp_path / "harbour"]
    made = source(tmp_path, reader)
    assert {message.cwd for message in messages(made)} == {str(tmp_path / "harbour")}
    assert list(made.roots()) == [tmp_path / "harbour" / ".crush"]


def test_a_project_in_both_places_is_one(tmp_path):
    one(tmp_path).session().chat()
    reader = Logs(tmp_path / "copies")
    reader.folders = [tmp_path / "harbour"]
    made = source(tmp_path, reader)
    assert len(said(made)) == 2
    assert len(made.roots()) == 1


def test_a_new_project_is_found_by_the_next_sweep(tmp_path):
    one(tmp_path).session().chat()
    made = source(tmp_path)
    assert list(results(made)) == [A]
    Store(tmp_path / "yard").session(B).chat(B)
    listing(tmp_path / "data", tmp_path / "yard", tmp_path / "harbour")
    assert list(results(made)) == [B, A]
    assert list(made.roots()) == [tmp_path / "yard" / ".crush", tmp_path / "harbour" / ".crush"]


def test_a_copied_project_tells_its_sessions_once(tmp_path):
    for name in ("harbour", "copy"):
        Store(tmp_path / name).session().chat()
    listing(tmp_path / "data", tmp_path / "harbour", tmp_path / "copy")
    assert {message.cwd for message in messages(source(tmp_path))} == {str(tmp_path / "harbour")}


def test_without_a_list_there_is_nothing_and_nothing_is_told(tmp_path):
    failures = []
    assert results(source(tmp_path), failures) == {}
    assert failures == []


@pytest.mark.parametrize(
    "data", [b"{", b"", b"\xff\xfe\x00", b"[" * 100_000, b'{"projects": [' + b" " * (5 << 20)]
)
def test_a_damaged_list_is_told_and_known_folders_are_read(tmp_path, data):
    one(tmp_path).session().chat()
    (tmp_path / "data" / "projects.json").write_bytes(data)
    reader = Logs(tmp_path / "copies")
    reader.folders = [tmp_path / "harbour"]
    failures = []
    assert list(results(source(tmp_path, reader), failures)) == [A]
    (failure,) = failures
    assert failure.uri == str(tmp_path / "data" / "projects.json")
    assert failure.reason.startswith("the list of projects: ")


@pytest.mark.parametrize(
    "value",
    [
        7,
        None,
        "x",
        {"projects": 7},
        {"projects": [7, None, [], "x"]},
        [{"path": 7, "data_dir": 7}, {"path": ""}, {"path": "relative"}, {"path": "/a\0b"}],
        [{"path": "//server/share", "data_dir": "//server/share/.crush"}],
        [{"path": "\\\\server\\share"}],
        [{"path": "/nowhere/at/all", "data_dir": "/nowhere/at/all/.crush"}],
    ],
)
def test_entries_that_are_none_are_passed_over(tmp_path, value):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "projects.json").write_text(json.dumps(value))
    failures = []
    made = source(tmp_path)
    assert results(made, failures) == {}
    assert failures == []
    assert list(made.roots()) == []


def test_a_relative_project_is_not_looked_for_where_cloxy_runs(tmp_path, monkeypatch):
    Store(tmp_path / "relative").session().chat()
    monkeypatch.chdir(tmp_path)
    listing(tmp_path / "data", ("relative", ".crush"))
    assert results(source(tmp_path)) == {}


def test_shares_of_other_machines_are_not_even_looked_at(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr("cloxy_plugins.crush.places._has_database", looked.append)
    listing(
        tmp_path / "data",
        ("//server/share", "//server/share/.crush"),
        (tmp_path / "harbour", "//server/share/.crush"),
        tmp_path / "yard",
    )
    assert results(source(tmp_path)) == {}
    assert looked == [tmp_path / "harbour" / ".crush", tmp_path / "yard" / ".crush"]


def test_everything_may_be_in_the_log_beside_the_database(tmp_path):
    store = one(tmp_path)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM messages").fetchall()  # it keeps the log as it is
        store.session().chat()
        alone = tmp_path / "alone.db"
        alone.write_bytes(store.path.read_bytes())
        with closing(sqlite3.connect(alone)) as copy:
            copy.execute("PRAGMA journal_mode=DELETE")
            assert copy.execute("SELECT count(*) FROM messages").fetchone() == (0,)
        assert len(said(source(tmp_path))) == 2
        # As a copy of the folder has it: the log, and nothing that tells what is in it.
        wal = store.path.with_name("crush.db-wal").read_bytes()
        main = store.path.read_bytes()
    store.path.write_bytes(main)
    store.path.with_name("crush.db-wal").write_bytes(wal)
    store.path.with_name("crush.db-shm").unlink(missing_ok=True)
    assert len(said(source(tmp_path))) == 2


def test_another_folder_is_read_when_it_is_asked_for(tmp_path):
    Store(tmp_path / "all" / "deep" / "harbour").session(A).chat(A)
    crowded = tmp_path / "all" / "node_modules" / "x" / ".crush"
    Store(tmp_path / "all", folder=crowded).session("n").chat("n")
    inside = tmp_path / "all" / "deep" / "harbour" / ".crush" / "fetch" / ".crush"
    Store(tmp_path / "all", folder=inside).session("c").chat("c")
    bare = Store(tmp_path / "all", folder=tmp_path / "all" / "other").session(B)
    bare.chat(B)
    made = source(tmp_path)
    cwd = str(tmp_path / "all" / "deep" / "harbour")
    found = messages(made.of(tmp_path / "all"))
    assert {(message.session, message.cwd) for message in found} == {(A, cwd)}
    assert len(said(made.of(tmp_path / "all" / "deep" / "harbour"))) == 2
    assert len(said(made.of(tmp_path / "all" / "deep" / "harbour" / ".crush"))) == 2
    assert [message.cwd for message in messages(made.of(bare.folder))] == [None, None]


def test_a_folder_that_is_asked_for_knows_its_project_from_the_list(tmp_path):
    Store(tmp_path, folder=tmp_path / "moved").session(A).chat(A)
    listing(tmp_path / "data", (tmp_path / "harbour", tmp_path / "moved"))
    made = source(tmp_path).of(tmp_path / "moved")
    assert {message.cwd for message in messages(made)} == {str(tmp_path / "harbour")}


def test_only_the_database_is_opened(tmp_path):
    store = one(tmp_path).session()
    store.chat()
    (store.folder / "crush.json").write_text("CANARY")
    (store.folder / "logs").mkdir()
    (store.folder / "logs" / "crush.db").write_bytes(store.path.read_bytes())
    opened = []

    class Watching(Logs):
        def content(self, root, path, most):
            opened.append(path)
            return super().content(root, path, most)

        def database(self, path):
            opened.append(path)
            return super().database(path)

    made = source(tmp_path, Watching(tmp_path / "copies"))
    assert "CANARY" not in str(results(made))
    assert set(opened) == {tmp_path / "data" / "projects.json", store.path}


def test_a_database_of_something_else_is_a_failure_and_an_empty_one_none(tmp_path):
    for name, statement in (("harbour", "CREATE TABLE x (y)"), ("yard", "SELECT 1")):
        folder = tmp_path / name / ".crush"
        folder.mkdir(parents=True)
        with closing(sqlite3.connect(folder / "crush.db")) as connection:
            connection.execute(statement)
            connection.commit()
    Store(tmp_path / "good").session().chat()
    listing(tmp_path / "data", *(tmp_path / name for name in ("harbour", "yard", "good")))
    failures = []
    assert list(results(source(tmp_path), failures)) == [A]
    assert [failure.uri for failure in failures] == [
        str(tmp_path / "harbour" / ".crush" / "crush.db")
    ]


def test_columns_that_are_not_there_are_not_asked_for(tmp_path):
    folder = tmp_path / "harbour" / ".crush"
    folder.mkdir(parents=True)
    listing(tmp_path / "data", tmp_path / "harbour")
    with closing(sqlite3.connect(folder / "crush.db")) as connection:
        connection.executescript(
            "CREATE TABLE sessions (id TEXT);"
            "CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT);"
            "INSERT INTO sessions VALUES ('a');"
            "INSERT INTO messages VALUES ('m', 'a', 'user',"
            ' \'[{"type":"text","data":{"text":"bare"}}]\');'
        )
    (message,) = messages(source(tmp_path))
    assert (message.text, message.approximate) == ("bare", True)


def test_a_table_of_messages_without_their_parts_is_told(tmp_path):
    store = one(tmp_path).session()
    store.chat()
    store.run("ALTER TABLE messages DROP COLUMN parts")
    (result,) = results(source(tmp_path)).values()
    assert [bad.reason for bad in result.bad_lines] == [
        "the table of messages is not as it should be"
    ]
