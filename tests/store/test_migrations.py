"""Numbered steps: order, refusals, backup, and death at every statement."""

import signal
from dataclasses import replace

import pytest
from sqlalchemy import MetaData, create_engine
from store_kit import child, hashes, open_store, query, sound, with_store
from two_steps import STEPS, add_project

from cloxy_core.store import backup
from cloxy_core.store.core_migrations import CORE_MIGRATIONS
from cloxy_core.store.library import driver
from cloxy_hookspecs.errors import MigrationError, StoreFullError
from cloxy_hookspecs.providers.platform import Migration
from cloxy_hookspecs.tables import CORE_METADATA

FIRST, SECOND, GREETER = STEPS


async def nothing(store):
    return store.facts().path


def columns(path, table):
    return [row[1] for row in query(path, f"PRAGMA table_info({table})")]


def backups(folder):
    return sorted(path.name for path in (folder / "backups").glob("*"))


def test_the_steps_make_exactly_the_declared_tables(tmp_path):
    path = with_store(tmp_path / "d", nothing)
    engine = create_engine(f"sqlite:///{tmp_path / 'declared.db'}", module=driver)
    CORE_METADATA.create_all(engine)
    engine.dispose()

    def shape(file):
        tables = [
            name
            for (name,) in query(
                file,
                "SELECT name FROM sqlite_master WHERE type = 'table' "
                "AND name <> 'sqlite_sequence' ORDER BY name",
            )
        ]
        return {
            name: (
                query(file, f'PRAGMA table_xinfo("{name}")'),
                sorted(row[2:] for row in query(file, f'PRAGMA foreign_key_list("{name}")')),
                sorted(
                    (index[2], index[3], tuple(query(file, f'PRAGMA index_xinfo("{index[1]}")')))
                    for index in query(file, f'PRAGMA index_list("{name}")')
                ),
                sorted(
                    index[1]
                    for index in query(file, f'PRAGMA index_list("{name}")')
                    if index[3] == "c"
                ),
                "AUTOINCREMENT"
                in query(file, "SELECT sql FROM sqlite_master WHERE name = ?", name)[0][0],
            )
            for name in tables
        }

    assert shape(path) == shape(tmp_path / "declared.db")
    assert len(shape(path)) == len(CORE_METADATA.tables)


def test_reflected_types_are_the_declared_ones(tmp_path):
    path = with_store(tmp_path / "d", nothing)
    engine = create_engine(f"sqlite:///{path}", module=driver)
    found = MetaData()
    found.reflect(engine)
    engine.dispose()
    for table in CORE_METADATA.sorted_tables:
        assert {
            c.name: c.type.__visit_name__.upper() for c in found.tables[table.name].columns
        } == {
            c.name: str(c.type.compile(create_engine("sqlite://").dialect)) for c in table.columns
        }


def test_steps_run_once_and_in_order_with_their_notes(tmp_path):
    path = with_store(tmp_path / "d", nothing, (GREETER, SECOND, FIRST))
    notes = query(path, "SELECT owner, number FROM schema_migrations ORDER BY rowid")
    assert notes == [("core", 1), ("core", 2), ("greeter", 1)]
    assert query(path, "PRAGMA user_version") == [(2,)]
    before = query(path, "SELECT * FROM schema_migrations")
    with_store(tmp_path / "d", nothing, STEPS)
    assert query(path, "SELECT * FROM schema_migrations") == before
    assert query(path, "SELECT note FROM greeter_log") == [("hello",)]


@pytest.mark.parametrize("numbers", [(1, 3), (2,), (1, 1), (0, 1), (1, 2, 2)])
def test_gaps_and_doubles_are_refused(tmp_path, numbers):
    steps = [replace(GREETER, number=number) for number in numbers]
    with pytest.raises(MigrationError, match="greeter are numbered"):
        open_store(tmp_path / "d", (FIRST, *steps))


def test_a_gap_in_the_notes_is_refused(tmp_path):
    path = with_store(tmp_path / "d", nothing, STEPS)
    query(path, "DELETE FROM schema_migrations WHERE owner = 'core' AND number = 1")
    with pytest.raises(MigrationError, match="without the one before"):
        open_store(tmp_path / "d", STEPS)


def test_a_newer_core_is_refused_untouched(tmp_path):
    path = with_store(tmp_path / "d", nothing, STEPS)
    before = hashes(tmp_path / "d")
    with pytest.raises(MigrationError, match=r"newer Cloxy .schema 2, this one knows 1"):
        open_store(tmp_path / "d", CORE_MIGRATIONS[:1])
    after = hashes(tmp_path / "d")
    assert after.pop(path.parent.joinpath("server.lock").relative_to(path.parent))
    before.pop(path.parent.joinpath("server.lock").relative_to(path.parent))
    assert after == before


def test_a_newer_plugin_is_refused_and_a_disabled_one_is_left_alone(tmp_path):
    second = Migration(owner="greeter", number=2, summary="more", apply=lambda connection: None)
    path = with_store(tmp_path / "d", nothing, (*STEPS, second))
    with pytest.raises(MigrationError, match="upgrade the plugin greeter"):
        open_store(tmp_path / "d", STEPS)
    with_store(tmp_path / "d", nothing, STEPS[:2])
    assert query(path, "SELECT count(*) FROM greeter_log") == [(1,)]


def test_a_backup_is_made_before_the_first_change_and_only_then(tmp_path):
    with_store(tmp_path / "d", add_project, STEPS[:1])
    assert backups(tmp_path / "d") == []
    path = with_store(tmp_path / "d", nothing, STEPS)
    (name,) = backups(tmp_path / "d")
    assert name.endswith("-before-core-2.db")
    copy = tmp_path / "d" / "backups" / name
    assert sound(copy)
    assert query(copy, "SELECT key, path FROM projects") == [("/a", "/a")]
    assert "nick" not in columns(copy, "projects")
    assert query(copy, "PRAGMA user_version") == [(1,)]
    assert query(path, "SELECT nick FROM projects") == [("n1",)]
    with_store(tmp_path / "d", nothing, STEPS)
    assert len(backups(tmp_path / "d")) == 1


def test_nothing_changes_when_the_backup_fails(tmp_path, monkeypatch):
    path = with_store(tmp_path / "d", add_project, STEPS[:1]) or tmp_path / "d" / "memory.db"

    def full(copy):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup, "verify", full)
    with pytest.raises(StoreFullError):
        open_store(tmp_path / "d", STEPS)
    assert backups(tmp_path / "d") == []
    assert "nick" not in columns(path, "projects")
    assert query(path, "SELECT count(*) FROM schema_migrations") == [(1,)]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("CREATE TABLE greeter_more (", "migration 2 of greeter .more. failed"),
        ("COMMIT", "ended its own transaction|failed"),
        (
            "INSERT INTO sessions (agent, key, title_rank, program, project_id) "
            "VALUES ('a', 'k', 0, 0, 77)",
            "refer to missing rows of projects",
        ),
    ],
)
def test_a_failing_step_leaves_no_trace_and_says_which(tmp_path, statement, words):
    def more(connection):
        connection.exec_driver_sql("CREATE TABLE greeter_new (id INTEGER)")
        connection.exec_driver_sql(statement)

    failing = Migration(owner="greeter", number=2, summary="more", apply=more)
    path = tmp_path / "d" / "memory.db"
    with pytest.raises(MigrationError, match=words):
        open_store(tmp_path / "d", (*STEPS, failing))
    assert query(path, "SELECT max(number) FROM schema_migrations WHERE owner = 'greeter'") == [
        (1,)
    ]
    if statement != "COMMIT":
        assert columns(path, "greeter_new") == []
    with_store(tmp_path / "d", nothing, STEPS)


def test_a_table_can_be_rebuilt_without_losing_the_rows_that_refer_to_it(tmp_path):
    async def fill(store):
        await add_project(store)
        await store.write(
            lambda c: c.exec_driver_sql(
                "INSERT INTO sources (plugin, uri, parser, identity, byte_offset, size, mtime_ns, "
                "head, head_len, before_hash, parser_state, state, records, messages, bad_lines, "
                "updated_at) VALUES ('p','u','x','i',0,0,0,'',0,'','{}','watched',0,0,0,0)"
            )
        )
        await store.write(
            lambda c: c.exec_driver_sql(
                "INSERT INTO dead_letters (source_id, byte_start, byte_end, reason, tries, at) "
                "VALUES (1, 0, 1, 'r', 1, 0)"
            )
        )

    def rebuild(connection):
        connection.exec_driver_sql("CREATE TABLE sources_new AS SELECT * FROM sources")
        connection.exec_driver_sql("DROP TABLE sources")
        connection.exec_driver_sql("CREATE TABLE sources (id INTEGER PRIMARY KEY, uri TEXT)")
        connection.exec_driver_sql("INSERT INTO sources SELECT id, uri FROM sources_new")
        connection.exec_driver_sql("DROP TABLE sources_new")

    step = Migration(owner="core", number=2, summary="rebuild", apply=rebuild)
    with_store(tmp_path / "d", fill, (FIRST,))

    async def enforced(store):
        return await store.write(lambda c: c.exec_driver_sql("PRAGMA foreign_keys").scalar())

    assert with_store(tmp_path / "d", enforced, (FIRST, step)) == 1
    assert query(tmp_path / "d" / "memory.db", "SELECT source_id FROM dead_letters") == [(1,)]


def die_at_every_statement(folder, steps, prepared):
    """Let a process die at each statement in turn; return its folders, the last one survived."""
    process = child("migrating_child.py", folder, steps, int(prepared))
    out, _ = process.communicate(timeout=100)
    assert process.returncode == 0
    ends = [line.split() for line in out.splitlines()]
    assert [end for _, end in ends] == [str(-signal.SIGKILL)] * (len(ends) - 1) + ["0"]
    return [folder / number for number, _ in ends]


@pytest.mark.process
def test_death_at_every_statement_of_a_new_database(tmp_path):
    folders = die_at_every_statement(tmp_path, 1, prepared=False)
    assert len(folders) > 20
    for folder in folders:
        with_store(folder, add_project, STEPS[:1])
        assert sound(folder / "memory.db")
        assert query(folder / "memory.db", "SELECT key FROM projects") == [("/a",)]


@pytest.mark.process
def test_death_at_every_statement_of_an_upgrade(tmp_path):
    folders = die_at_every_statement(tmp_path, 3, prepared=True)
    assert len(folders) > 10
    for folder in folders:
        path = folder / "memory.db"
        # Side files of the dead process stay; SQLite reads them as the next start would.
        number = query(path, "PRAGMA user_version")[0][0]
        assert sound(path)
        assert ("nick" in columns(path, "projects")) is (number == 2)
        assert query(path, "SELECT max(number) FROM schema_migrations WHERE owner = 'core'") == [
            (number,)
        ]
        for name in backups(folder):
            assert name.endswith(".partial") or query(
                folder / "backups" / name, "SELECT key FROM projects"
            ) == [("/a",)]
        with_store(folder, nothing, STEPS)
        assert query(path, "SELECT key, nick FROM projects") == [("/a", "n1")]
        assert query(path, "SELECT note FROM greeter_log") == [("hello",)]
        if number == 1:
            assert not [name for name in backups(folder) if ".partial" in name]
