"""Files that are not this version's database are refused, and not a byte changes."""

import struct

import pytest
from store_kit import add_memories, hashes, memory_row, open_store, query, with_store

from cloxy_core.store.connections import APPLICATION_ID
from cloxy_core.store.core_migrations import CORE_MIGRATIONS
from cloxy_core.store.inspection import check_file, read_header
from cloxy_core.store.library import driver
from cloxy_hookspecs.errors import (
    ForeignDatabaseError,
    IntegrityError,
    MigrationError,
    StoreError,
)

CHUNKS = """CREATE TABLE chunks (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL,
content_hash TEXT UNIQUE NOT NULL, source TEXT DEFAULT 'unknown', embedding BLOB,
created_at TEXT DEFAULT CURRENT_TIMESTAMP)"""
META = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)"
COLUMNS = ("project", "session_id", "ts_start", "ts_end", "metadata")
FTS = """CREATE VIRTUAL TABLE chunks_fts USING fts5(content, content='chunks', content_rowid='id',
tokenize="unicode61 tokenchars '_'")"""
VERSIONS = {
    "2": [CHUNKS, "CREATE INDEX idx_hash ON chunks(content_hash)"],
    "4": [CHUNKS, META, "CREATE INDEX idx_source ON chunks(source)"],
    "5": [
        CHUNKS,
        META,
        *(f"ALTER TABLE chunks ADD COLUMN {name} TEXT" for name in COLUMNS),
        "CREATE TABLE ingest_state (path TEXT PRIMARY KEY, committed_offset INTEGER DEFAULT 0)",
        FTS,
    ],
}
ROW = "INSERT INTO chunks (content, content_hash, source) VALUES ('a note', ?, 'manual:chunk0')"


def make(path, statements, *, keep_open=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = driver.connect(str(path), isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    for statement in statements:
        connection.execute(statement)
    if CHUNKS in statements:
        connection.execute(ROW, ("0" * 32,))
    if keep_open:
        return connection
    connection.close()
    return None


def refused(folder, error, words):
    before = hashes(folder)
    with pytest.raises(error, match=words):
        open_store(folder)
    after = hashes(folder)
    changed = {
        name.name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    }
    assert changed <= {"server.lock"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_of_the_original_is_refused_untouched(tmp_path, version):
    make(tmp_path / "d" / "memory.db", VERSIONS[version])
    refused(tmp_path / "d", ForeignDatabaseError, "Cloxy 5 or earlier.*left untouched")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_of_the_original_whose_rows_are_in_the_log(tmp_path, version):
    connection = make(tmp_path / "made" / "memory.db", VERSIONS[version], keep_open=True)
    (tmp_path / "d").mkdir()
    for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
        (tmp_path / "d" / name).write_bytes((tmp_path / "made" / name).read_bytes())
    connection.close()
    assert (tmp_path / "d" / "memory.db-wal").stat().st_size > 0
    refused(tmp_path / "d", ForeignDatabaseError, "Cloxy 5 or earlier")
    assert query(tmp_path / "d" / "memory.db", "SELECT content FROM chunks") == [("a note",)]


def test_a_running_original_is_not_disturbed(tmp_path):
    connection = make(tmp_path / "d" / "memory.db", VERSIONS["5"], keep_open=True)
    refused(tmp_path / "d", ForeignDatabaseError, "Cloxy 5 or earlier")
    connection.execute(ROW, ("1" * 32,))
    assert connection.execute("SELECT count(*) FROM chunks").fetchone() == (2,)
    connection.close()


def test_a_database_of_another_program_is_refused_untouched(tmp_path):
    make(tmp_path / "d" / "memory.db", ["PRAGMA application_id=77", "CREATE TABLE t (a)"])
    refused(tmp_path / "d", ForeignDatabaseError, "another program")


def test_an_empty_database_without_the_mark_is_refused(tmp_path):
    make(tmp_path / "d" / "memory.db", ["CREATE TABLE t (a)", "DROP TABLE t"])
    refused(tmp_path / "d", ForeignDatabaseError, "another program")


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"x" * 5000, b"\0" * 4096])
def test_what_is_no_database_is_refused_untouched(tmp_path, content):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "memory.db").write_bytes(content)
    refused(tmp_path / "d", IntegrityError, "not an SQLite database")


def test_a_newer_number_that_is_only_in_the_log_is_seen(tmp_path):
    with_store(tmp_path / "made", lambda store: store.write(add_memories(memory_row(1))))
    connection = driver.connect(str(tmp_path / "made" / "memory.db"), isolation_level=None)
    connection.execute("PRAGMA user_version=99")
    connection.execute("INSERT INTO projects (key, path) VALUES ('/a', '/a')")
    (tmp_path / "d").mkdir()
    for name in ("memory.db", "memory.db-wal"):
        (tmp_path / "d" / name).write_bytes((tmp_path / "made" / name).read_bytes())
    connection.close()
    header = (tmp_path / "d" / "memory.db").read_bytes()[60:64]
    assert struct.unpack(">i", header)[0] < 99
    assert read_header(tmp_path / "d" / "memory.db").user_version == 99
    refused(tmp_path / "d", MigrationError, "newer Cloxy .schema 99")


def test_an_uncommitted_or_stale_page_in_the_log_does_not_count(tmp_path):
    with_store(tmp_path / "d", lambda store: store.write(add_memories(memory_row(1))))
    path = tmp_path / "d" / "memory.db"
    connection = driver.connect(str(path), isolation_level=None)
    connection.execute("PRAGMA user_version=5")
    wal = path.with_name("memory.db-wal")
    whole = wal.read_bytes()
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    copy.with_name("copy.db-wal").write_bytes(whole)
    assert read_header(copy).user_version == 5
    # The commit mark of the only frame taken away, then its salt made that of another round.
    copy.with_name("copy.db-wal").write_bytes(whole[:36] + b"\0\0\0\0" + whole[40:])
    assert read_header(copy).user_version == len(CORE_MIGRATIONS)
    copy.with_name("copy.db-wal").write_bytes(whole[:40] + b"\1\2\3\4" + whole[44:])
    assert read_header(copy).user_version == len(CORE_MIGRATIONS)
    copy.with_name("copy.db-wal").write_bytes(whole[:200])
    assert read_header(copy).application_id == APPLICATION_ID
    connection.close()


@pytest.mark.parametrize(
    "name", ["memory.db", "memory.db-wal", "memory.db-shm", "memory.db-journal"]
)
@pytest.mark.parametrize("dangling", [True, False])
def test_planted_links_are_refused_and_their_targets_stay(tmp_path, name, dangling):
    victim = tmp_path / "victim"
    if not dangling:
        victim.write_bytes(b"precious")
    if name != "memory.db":
        with_store(tmp_path / "d", lambda store: store.write(add_memories(memory_row(1))))
    (tmp_path / "d").mkdir(exist_ok=True)
    (tmp_path / "d" / name).symlink_to(victim)
    with pytest.raises(StoreError, match="is a link to"):
        open_store(tmp_path / "d")
    assert victim.exists() is not dangling
    assert dangling or victim.read_bytes() == b"precious"


def test_a_link_where_a_new_database_is_prepared_is_removed_not_followed(tmp_path):
    (tmp_path / "d").mkdir()
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / "d" / "memory.db.new").symlink_to(victim)
    with_store(tmp_path / "d", lambda store: store.write(add_memories(memory_row(1))))
    assert victim.read_bytes() == b"precious"


def test_a_log_without_its_database_is_not_thrown_away(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "memory.db-wal").write_bytes(b"rows" * 100)
    refused(tmp_path / "d", IntegrityError, "newest changes")


def test_an_own_file_passes(tmp_path):
    with_store(tmp_path / "d", lambda store: store.write(add_memories(memory_row(1))))
    assert check_file(tmp_path / "d" / "memory.db", CORE_MIGRATIONS[-1].number)
    assert not check_file(tmp_path / "elsewhere.db", 1)
