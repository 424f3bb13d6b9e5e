"""Where sessions are found, when they count as changed, and what forks and reverts do."""

import sqlite3
from pathlib import Path

import pytest
from opencode_kit import A, B, C, Store, T, Tree, results, said, source, uid

from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs import ForeignDatabaseError
from cloxy_plugins.opencode.copies import age_of_id
from cloxy_plugins.opencode.roots import data_folder, is_database, named_database

HOME = Path("/home/ann")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "opencode"


def uris(made, under=None, failures=None):
    items = made.discover([] if failures is None else failures, under)
    return sorted(item.uri for item in items)


@pytest.mark.parametrize(
    ("named", "folder"),
    [
        (None, HOME / ".local/share/opencode"),
        ("/srv/data", Path("/srv/data/opencode")),
        ("relative", HOME / ".local/share/opencode"),
        ("a\0b", HOME / ".local/share/opencode"),
    ],
)
def test_the_folder_may_be_elsewhere(named, folder):
    environment = {} if named is None else {"XDG_DATA_HOME": named}
    assert data_folder(environment, HOME) == folder


@pytest.mark.parametrize(
    ("named", "path"),
    [
        (None, None),
        (":memory:", None),
        ("/srv/x.db", Path("/srv/x.db")),
        ("mine.db", Path("/data/mine.db")),
        ("a\0b", None),
    ],
)
def test_a_database_may_be_named(named, path):
    environment = {} if named is None else {"OPENCODE_DB": named}
    assert named_database(environment, Path("/data")) == path


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("opencode.db", True), ("opencode-dev.db", True), ("opencode.db-wal", False),
        ("other.db", False), ("opencode-dev.db.bak", False),
    ],
)  # fmt: skip
def test_channels_have_databases_of_their_own(name, wanted):
    assert is_database((name,)) is wanted
    assert not is_database(("x", name))


def test_all_stores_are_read_and_each_session_once(tmp_path, folder):
    named = Store(tmp_path / "else", "mine.db").session(A)
    named.chat(A, "named", "yes")
    usual = Store(folder).session(A).session(B)
    usual.chat(A, "not this", "no")
    usual.chat(B, "usual", "yes")
    channel = Store(folder, "opencode-dev.db").session(B)
    channel.chat(B, "nor this", "no")
    tree = Tree(folder)
    tree.session(A)
    tree.say("user", "nor this", session=A)
    tree.session(C)
    tree.say("user", "filed", session=C)
    made = source(tmp_path, named=named.path)
    assert [row[3] for row in said(made) if row[1] == "user"] == ["named", "usual", "filed"]
    assert uris(made) == sorted(
        [f"{named.path}#{A}", f"{usual.path}#{B}", str(folder / f"storage/session/p/{C}.json")]
    )
    assert list(made.roots()) == [folder, named.path]
    assert uris(made, usual.path) == [f"{usual.path}#{B}"]
    assert uris(made, named.path) == [f"{named.path}#{A}"]
    assert uris(made, channel.path) == []
    assert uris(made, folder / "snapshot" / "x") == []
    assert len(uris(made, folder)) == 2
    assert len(uris(made, folder.parent)) == 3


def test_a_place_in_the_tree_stands_for_its_session(tmp_path, folder):
    tree = Tree(folder)
    keys = {}
    for session in (A, B):
        tree.session(session)
        keys[session] = tree.say("user", "hello", session=session)
    made = source(tmp_path)
    own = [str(folder / f"storage/session/p/{A}.json")]
    for place in (
        f"session/p/{A}.json", f"message/{A}", f"message/{A}/{keys[A]}.json", f"part/{keys[A]}",
    ):  # fmt: skip
        assert uris(made, tree.root / place) == own
    assert len(uris(made, tree.root / "message")) == 2
    assert uris(made, tree.root / "part/msg_unknown/x.json") == []
    assert uris(made, tree.root / "session_diff/x.json") == uris(made, tree.root)


def versions(made):
    return {item.identity: (item.size, item.mtime_ns) for item in made.discover([])}


@pytest.mark.parametrize("second", [False, True])
def test_a_session_changes_when_something_in_it_does(tmp_path, folder, second):
    store = Store(folder, second=second).session(A).session(B)
    for session in (A, B):
        if second:
            store.entry("user", {"text": "one"}, session=session)
        else:
            store.chat(session)
    made = source(tmp_path)
    table = "session_v2" if second else "session"
    entries = "session_message" if second else "part"
    for change in (
        lambda: store.entry("user", {"text": "x"}) if second else store.chat(),
        lambda: store.run(f"UPDATE {table} SET time_updated = {store.tick()} WHERE id = '{A}'"),
        lambda: store.run(
            f"UPDATE {entries} SET time_updated = {store.tick()} WHERE session_id = '{A}'"
        ),
        lambda: store.run(
            f"DELETE FROM {entries} WHERE id ="
            f" (SELECT max(id) FROM {entries} WHERE session_id = '{A}')"
        ),
    ):
        before = versions(made)
        change()
        after = versions(made)
        changed = [key for key in before if before[key] != after[key]]
        assert changed == [f"opencode:{A}"]
        assert versions(source(tmp_path)) == after, "another process sees the same"


def test_an_old_session_changes_when_it_goes_on(tmp_path, folder):
    store = Store(folder).session(A)
    store.chat(A)
    store.at += 10 * 86_400_000
    store.session(B).chat(B)
    made = source(tmp_path)
    before = versions(made)
    store.chat(A, "again", "yes")
    assert [key for key in before if versions(made)[key] != before[key]] == [f"opencode:{A}"]
    before = versions(made)
    store.run(f"UPDATE part SET time_updated = {store.tick()} WHERE session_id = '{A}'")
    assert versions(made)[f"opencode:{A}"] != before[f"opencode:{A}"], "it is recent again"


def test_listing_reads_no_bodies(tmp_path, folder):
    store = Store(folder).session()
    store.chat()
    seen = []

    class Watched(Logs):
        def database(self, path):
            seen.append(path)
            return super().database(path)

    made = source(tmp_path, reader=Watched(tmp_path / "copies"))
    uris(made)
    uris(made)
    assert seen == [store.path], "what did not change is not opened"


def test_a_tree_session_changes_when_a_file_does(tmp_path, folder):
    tree = Tree(folder)
    tree.session()
    key = tree.say("user", "hello")
    made = source(tmp_path)
    seen = [versions(made)]
    (part,) = (tree.root / "part" / key).iterdir()
    part.write_text(part.read_text().replace("hello", "hello again"))
    seen.append(versions(made))
    tree.say("assistant", "hi")
    seen.append(versions(made))
    tree.session(title="Named")
    seen.append(versions(made))
    assert len({repr(each) for each in seen}) == 4


def test_broken_files_of_the_tree_are_counted(tmp_path, folder):
    tree = Tree(folder)
    tree.session()
    keys = [tree.say("user", f"words {n}") for n in range(4)]
    tree.write(f"message/{A}/{keys[1]}.json", "{bad")
    tree.write(f"part/{keys[2]}/{uid(T, 0, 'prt')}x.json", "")
    tree.write(f"message/{A}/.hidden.json", "{}")
    tree.write(f"message/{A}/deep/x.json", "{}")
    (tree.root / "message" / A / "link.json").symlink_to(tree.root / "migration")
    (result,) = results(source(tmp_path)).values()
    assert [m.text for m in result.messages] == ["words 0", "words 2", "words 3"]
    assert len(result.bad_lines) == 2
    (tree.root / "session/p" / f"{A}.json").write_text("[]")
    (result,) = results(source(tmp_path)).values()
    assert (len(result.messages), len(result.bad_lines)) == (3, 3)


def test_a_damaged_database_is_told_and_the_tree_is_read(tmp_path, folder):
    store = Store(folder).session(A)
    store.chat(A)
    tree = Tree(folder)
    for session in (A, B):
        tree.session(session)
        tree.say("user", "filed", session=session)
    made = source(tmp_path)
    before = uris(made)
    assert before[0] == f"{store.path}#{A}"
    store.path.write_bytes(b"no database" * 1000)
    failures = []
    # What was known of it still counts, so that nothing seems to be in two places.
    assert uris(made, failures=failures) == before
    assert [failure.uri for failure in failures] == [str(store.path)]
    fresh, failures = source(tmp_path), []
    assert len(uris(fresh, failures=failures)) == 2
    assert {row[3] for row in said(fresh)} == {"filed"}


def test_an_empty_database_and_one_of_others_hold_no_session(tmp_path, folder):
    folder.mkdir()
    (folder / "opencode.db").touch()
    with sqlite3.connect(folder / "opencode-x.db") as connection:
        connection.execute("CREATE TABLE other (id text)")
    connection.close()
    failures = []
    assert uris(source(tmp_path), failures=failures) == []


def test_tables_without_expected_columns_are_told(tmp_path, folder):
    folder.mkdir()
    with sqlite3.connect(folder / "opencode.db") as connection:
        connection.execute("CREATE TABLE session (id text)")
    connection.close()
    failures = []
    assert uris(source(tmp_path), failures=failures) == []
    assert "no such column" in failures[0].reason


def test_a_session_that_is_gone_says_nothing(tmp_path, folder):
    store = Store(folder).session(A)
    store.chat()
    made = source(tmp_path)
    (item,) = made.discover([])
    store.run("DELETE FROM session")
    assert list(made.read(item, 0)) == []
    store.path.unlink()
    with pytest.raises((OSError, ForeignDatabaseError)):
        list(made.read(item, 0))


def fork(store, session, keys, **more):
    """A session that took messages over, later, with new ids."""
    store.at += 3_600_000
    store.session(session, title="Cranes (fork #1)", **more)
    for key in keys:
        ((at, data),) = store.run("SELECT time_created, data FROM message WHERE id = ?", key)
        copy = uid(store.tick())
        store.row(copy, session, at, data)
        for number, (part,) in enumerate(
            store.run("SELECT data FROM part WHERE message_id = ? ORDER BY id", key)
        ):
            store.part(copy, number, part, session=session)
        yield copy


def test_a_fork_tells_only_what_is_new_in_it(tmp_path, folder):
    store = Store(folder).session(A)
    keys = store.chat()
    copies = list(fork(store, B, keys))
    store.chat(B, "in the fork", "yes")
    list(fork(store, C, copies))
    store.chat(C, "in its fork", "yes")
    store.chat(A, "after it", "yes")
    made = source(tmp_path)
    rows = [(row[0], row[3]) for row in said(made) if row[1] == "user"]
    assert rows == [
        (A, "Why does the crane overheat?"), (A, "after it"),
        (B, "in the fork"), (C, "in its fork"),
    ]  # fmt: skip
    found = results(made)
    facts = [found[f"opencode:{key}"].sessions[key] for key in (A, B, C)]
    assert [(f.parent, f.relation) for f in facts] == [(None, None), (A, "fork"), (A, "fork")]


def test_a_fork_whose_original_is_gone_tells_all(tmp_path, folder):
    store = Store(folder).session(A)
    list(fork(store, B, store.chat()))
    for table, column in (("session", "id"), ("message", "session_id"), ("part", "session_id")):
        store.run(f"DELETE FROM {table} WHERE {column} = ?", A)
    assert [row[0] for row in said(source(tmp_path))] == [B, B]


def test_a_fork_across_the_end_of_a_period_of_ids(tmp_path, folder):
    store = Store(folder)
    store.at = (T // 2**36 + 1) * 2**36 - 60_000
    keys = store.session(A).chat()
    list(fork(store, B, keys))
    assert min(store.run("SELECT id FROM message"))[0] not in keys, "the copy has a smaller id"
    assert [row[0] for row in said(source(tmp_path))] == [A, A]


def test_the_same_words_at_another_time_are_no_copy(tmp_path, folder):
    store = Store(folder).session(A).session(B)
    store.chat(A)
    store.chat(B)
    assert [row[0] for row in said(source(tmp_path))] == [A, A, B, B]
    assert age_of_id("nothing", T) == 2**36


def test_a_fork_of_the_second_version(tmp_path, folder):
    store = Store(folder, second=True).session(A)
    for words in ("one", "two"):
        store.entry("user", {"text": words})
    store.at += 3_600_000
    store.session(B, fork=A)
    store.entry("user", {"text": "one"}, session=B, at=T + 1000)
    store.entry("user", {"text": "three"}, session=B)
    made = source(tmp_path)
    assert [(row[0], row[3]) for row in said(made)] == [(A, "one"), (A, "two"), (B, "three")]
    facts = results(made)[f"opencode:{B}"].sessions[B]
    assert (facts.parent, facts.relation) == (A, "fork")


def test_a_fork_in_the_tree(tmp_path, folder):
    tree = Tree(folder)
    tree.session(A)
    tree.say("user", "one")
    tree.say("assistant", "two")
    tree.at += 3_600_000
    tree.session(B)
    tree.say("user", "one", session=B, at=T + 1000)
    tree.say("assistant", "two", session=B, at=T + 2000)
    tree.say("user", "three", session=B)
    made = source(tmp_path)
    assert [(row[0], row[3]) for row in said(made)] == [(A, "one"), (A, "two"), (B, "three")]
    assert results(made)[f"opencode:{B}"].sessions[B].parent == A
