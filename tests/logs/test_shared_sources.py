"""Sources of documents, of databases and of repositories, over real files."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs import ForeignDatabaseError, LogTree
from cloxy_hookspecs.logs.databases import Databases, Version
from cloxy_hookspecs.logs.documents import DocumentKind, Documents
from cloxy_hookspecs.logs.repositories import Repositories, projects_of
from cloxy_hookspecs.logs.turns import message, session


def tree(folder):
    return LogTree(folder, lambda parts: parts[-1].endswith(".txt"))


def records(document):
    yield session(document.path.stem)
    for number, line in enumerate(document.data.decode().splitlines()):
        yield message(document.path.stem, str(number), "user", "human", line)


KIND = DocumentKind(tree, records, most=1000)


@pytest.fixture
def reader(tmp_path):
    return Logs(tmp_path / "copies")


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "store"
    found.mkdir()
    return found


def looked(source, under=None):
    failures = []
    return list(source.discover(failures, under)), failures


def put(path, text):
    path.write_text(text)
    return path


class TestDocuments:
    def test_each_file_is_an_item_and_is_read_whole(self, reader, folder):
        put(folder / "a.txt", "one\ntwo")
        put(folder / "b.md", "no")
        source = Documents(reader, lambda: [folder], KIND)
        (item,), failures = looked(source)
        assert not failures
        assert item.uri == str(folder / "a.txt")
        assert len(list(source.read(item, 0))) == 3
        assert [line.start for line in source.read(item, 2)] == [2]
        assert source.roots() == (folder,)

    def test_only_what_is_asked_for_is_found(self, reader, folder):
        paths = [put(folder / name, "x") for name in ("a.txt", "b.txt")]
        source = Documents(reader, lambda: [folder], KIND)
        (item,), _failures = looked(source, paths[1])
        assert item.uri == str(paths[1])

    def test_a_file_beside_it_is_part_of_its_version(self, reader, folder):
        put(folder / "a.txt", "one")
        kind = DocumentKind(tree, records, beside=lambda path: [path.with_suffix(".json")])
        source = Documents(reader, lambda: [folder], kind)
        (before,), _failures = looked(source)
        beside = put(folder / "a.json", "{}")
        os.utime(beside, ns=(0, before.mtime_ns + 5))
        (after,), _failures = looked(source)
        assert (after.size, after.mtime_ns) == (before.size + 2, before.mtime_ns + 5)
        assert after.identity == before.identity

    def test_a_file_beside_it_leads_to_it(self, reader, folder):
        for name in ("a.txt", "b.txt", "a.json", "c.json"):
            put(folder / name, "one")
        kind = DocumentKind(tree, records, beside=lambda path: [path.with_suffix(".json")])
        source = Documents(reader, lambda: [folder], kind)
        found = [item.uri for item in looked(source, folder / "a.json")[0]]
        assert found == [str(folder / "a.txt")]
        assert looked(source, folder / "c.json")[0] == []

    def test_one_of_several_files_may_stand_for_a_conversation(self, reader, folder):
        for name in ("a.txt", "a.old.txt"):
            put(folder / name, "x")

        def chosen(items):
            return [item for item in items if ".old" not in item.uri or len(items) == 1]

        kind = DocumentKind(tree, records, chosen=chosen)
        source = Documents(reader, lambda: [folder], kind)
        assert [Path(item.uri).name for item in looked(source)[0]] == ["a.txt"]
        assert looked(source, folder / "a.old.txt")[0] == []

    def test_a_file_that_is_too_large_is_told(self, reader, folder):
        put(folder / "a.txt", "x" * 1001)
        items, failures = looked(Documents(reader, lambda: [folder], KIND))
        assert not items
        assert "such a file is not read" in failures[0].reason

    def test_a_file_elsewhere_is_not_read(self, reader, folder, tmp_path):
        (item,), _failures = looked(Documents(reader, lambda: [folder], KIND).of(folder))
        elsewhere = Documents(reader, lambda: [tmp_path / "other"], KIND)
        with pytest.raises(OSError, match="not inside a watched folder"):
            list(elsewhere.read(item, 0))

    @pytest.fixture(autouse=True)
    def _one_file(self, request, folder):
        if request.function.__name__ == "test_a_file_elsewhere_is_not_read":
            put(folder / "a.txt", "x")


class Notes:
    """Databases with a table of words by conversation."""

    def tree(self, folder):
        return LogTree(folder, lambda parts: parts[-1].endswith(".db"))

    def versions(self, database):
        rows = database.rows("SELECT talk, count(*), max(at) FROM said GROUP BY talk")
        return {str(key): Version(count, at) for key, count, at in rows}

    def records(self, database, path, key):
        yield session(key, title=path.stem)
        statement = "SELECT rowid, words FROM said WHERE talk = ? ORDER BY rowid"
        for number, words in database.rows(statement, (key,)):
            yield message(key, str(number), "user", "human", str(words))


def say(path, talk, words, at=5):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE IF NOT EXISTS said (talk, words, at)")
        database.execute("INSERT INTO said VALUES (?, ?, ?)", (talk, words, at))
    return path


class TestDatabases:
    def test_each_conversation_is_an_item_with_a_version(self, reader, folder):
        path = say(folder / "a.db", "t1", "one")
        say(path, "t2", "two", at=9)
        source = Databases(reader, "notes", lambda: [folder], Notes())
        items, failures = looked(source)
        assert not failures
        found = [(item.uri, item.identity, item.size, item.mtime_ns) for item in items]
        assert found == [(f"{path}#t1", "notes:t1", 1, 5), (f"{path}#t2", "notes:t2", 1, 9)]
        assert len(list(source.read(items[0], 0))) == 2
        say(path, "t1", "more", at=11)
        assert [item.size for item in looked(source)[0]] == [2, 1]

    def test_a_conversation_of_two_databases_comes_from_the_first(self, reader, folder, tmp_path):
        other = tmp_path / "other"
        other.mkdir()
        say(folder / "a.db", "t1", "one")
        say(other / "b.db", "t1", "copy")
        say(other / "b.db", "t2", "two")
        source = Databases(reader, "notes", lambda: [folder, other], Notes())
        stores = [item.uri.rpartition("/")[2] for item in looked(source)[0]]
        assert stores == ["a.db#t1", "b.db#t2"]
        within = [item.uri.rpartition("/")[2] for item in looked(source, other)[0]]
        assert within == ["b.db#t2"]
        assert looked(source, tmp_path / "copies")[0] == []

    def test_keys_that_another_source_reads_or_that_are_none_are_left_out(self, reader, folder):
        for key in ("t1", "t2", "a#b", "a/b", " ", "x" * 300):
            say(folder / "a.db", key, "one")
        source = Databases(reader, "notes", lambda: [folder], Notes(), lambda: ["t2"])
        items, failures = looked(source)
        assert [item.identity for item in items] == ["notes:t1"]
        assert [each.reason.partition(" conv")[0] for each in failures] == ["4"]

    def test_a_database_that_cannot_be_read_is_told_and_keeps_what_was_known(self, reader, folder):
        path = say(folder / "a.db", "t1", "one")
        source = Databases(reader, "notes", lambda: [folder], Notes())
        (item,), _failures = looked(source)
        path.write_bytes(b"no database at all " * 100)
        items, failures = looked(source)
        assert items == [item]
        assert failures[0].uri == str(path)
        with pytest.raises(ForeignDatabaseError):
            list(source.read(item, 0))
        path.unlink()
        assert looked(source)[0] == []


class TestRepositories:
    def test_only_stores_that_are_there_are_told_and_only_after_a_look(self, reader, tmp_path):
        with_store, without = tmp_path / "one", tmp_path / "two"
        (with_store / ".crush").mkdir(parents=True)
        without.mkdir()
        reader.folders = [with_store, without, Path("/\0"), with_store]
        places = Repositories(reader, (".crush",))
        assert places() == ()
        places.look()
        assert places() == (with_store / ".crush",)

    def test_the_roots_of_repositories_are_looked_into_too(self, reader, tmp_path):
        (tmp_path / "one" / ".git").mkdir(parents=True)
        (tmp_path / "one" / ".crush").mkdir()
        reader.folders = [tmp_path / "one" / "deep" / "inside", tmp_path / "one" / "deep"]
        places = Repositories(reader, (".crush",))
        places.look()
        assert places() == (tmp_path / "one" / ".crush",)
        assert projects_of(reader.folders) == (
            tmp_path / "one" / "deep" / "inside",
            tmp_path / "one",
            tmp_path / "one" / "deep",
        )

    def test_sources_look_with_each_whole_look(self, reader, tmp_path):
        store = tmp_path / "one" / ".notes"
        store.mkdir(parents=True)
        put(store / "a.txt", "x")
        say(store / "a.db", "t1", "one")
        reader.folders = [tmp_path / "one"]
        for make in (
            lambda places: Documents(reader, places, KIND, places.look),
            lambda places: Databases(reader, "notes", places, Notes(), look=places.look),
        ):
            source = make(Repositories(reader, (".notes",)))
            assert source.roots() == ()
            assert len(looked(source)[0]) == 1
            assert source.roots() == (store,)
