"""Databases of the original, built as its versions built them, and what becomes of them."""

import asyncio
import hashlib
import json
import math
import random
import sqlite3
import struct
from contextlib import asynccontextmanager, closing
from datetime import datetime, timedelta
from pathlib import Path

from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.projects import ProjectResolver
from cloxy_core.services.redaction import clean
from cloxy_core.store.core_migrations import CORE_MIGRATIONS
from cloxy_core.store.engine import Store
from cloxy_core.store.legacy.wording import Helpers

VERSIONS = ("2.0", "3", "4", "5.0", "5.1")
DIMENSIONS = 384
SESSION = "0f5a7c9e-1111-4222-8333-444455556666"
PROJECT = "/home/ada/code/shop"
TITLE = "Queues and locks"
FIRST_DAY = datetime(2026, 3, 1, 8, 0, 0)
CHUNKS = """
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    content TEXT NOT NULL,
    content_hash TEXT UNIQUE NOT NULL,
    source TEXT DEFAULT 'unknown',
    embedding BLOB,
    created_at TEXT DEFAULT CURRENT_TIMESTAMP
)
"""
META = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)"
ADDED = ("project", "session_id", "ts_start", "ts_end", "metadata")
STATE = """
CREATE TABLE ingest_state (
    path TEXT PRIMARY KEY, session_id TEXT, project TEXT, title TEXT, git_branch TEXT,
    committed_offset INTEGER DEFAULT 0, next_index INTEGER DEFAULT 0, tail_chunk_id INTEGER,
    tail_hash TEXT, size INTEGER, mtime REAL, chunks INTEGER DEFAULT 0,
    legacy_cleared INTEGER DEFAULT 0, updated_at TEXT
)
"""
FTS = (
    "CREATE VIRTUAL TABLE chunks_fts USING fts5(content, content='chunks', content_rowid='id',"
    " tokenize=\"unicode61 tokenchars '_'\")",
    "CREATE TRIGGER chunks_ai AFTER INSERT ON chunks BEGIN"
    " INSERT INTO chunks_fts(rowid, content) VALUES (new.id, new.content); END",
    "CREATE TRIGGER chunks_ad AFTER DELETE ON chunks BEGIN"
    " INSERT INTO chunks_fts(chunks_fts, rowid, content)"
    " VALUES ('delete', old.id, old.content); END",
    "CREATE TRIGGER chunks_au AFTER UPDATE OF content ON chunks BEGIN"
    " INSERT INTO chunks_fts(chunks_fts, rowid, content) VALUES ('delete', old.id, old.content);"
    " INSERT INTO chunks_fts(rowid, content) VALUES (new.id, new.content); END",
    "INSERT INTO chunks_fts(chunks_fts) VALUES ('rebuild')",
)
TURNS = (
    ("user", "How long does the queue keep a job that no worker takes from it?"),
    ("assistant", "Seven days; after that the lavender sweeper moves it to the dead letters."),
    ("user", "And who is told about it, and on which channel are they told?"),
    ("assistant", "The owner of the queue, by mail; the address is in the marmalade table."),
    ("user", "Then the mail should say which job it was, and why nobody took it."),
    ("assistant", "It names the job; the reason would need another column, which is easy."),
)
NOTES = (("manual", "Grüße aus Kōbe: 東京の鍵は棚の上"), ("decision", "We keep the orange crane."))
CONVERSATIONS = len(TURNS) // 2


def vector(seed, dimensions=DIMENSIONS):
    """A vector of unit length, as bytes."""
    chance = random.Random(seed)
    numbers = [chance.gauss(0, 1) for _ in range(dimensions)]
    length = math.hypot(*numbers)
    return struct.pack(f"<{dimensions}f", *(number / length for number in numbers))


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def md5(text):
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def stamp(days):
    """A time of so many days after the first, as the original wrote it."""
    return (FIRST_DAY + timedelta(days=days)).strftime("%Y-%m-%d %H:%M:%S")


def milliseconds(days):
    """The same for us."""
    return int((FIRST_DAY + timedelta(days=days) - datetime(1970, 1, 1)).total_seconds() * 1000)


class OldDatabase:
    """A database of one version that is being filled."""

    def __init__(self, path, version="5.1", **meta):
        self.path, self.version = Path(path), version
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        run = self.connection.execute
        run("PRAGMA journal_mode=WAL").fetchall()
        run(CHUNKS)
        run("CREATE INDEX idx_hash ON chunks(content_hash)")
        self.has_meta, self.has_columns = version >= "4", version >= "5"
        if self.has_meta:
            run("CREATE INDEX idx_source ON chunks(source)")
            run(META)
            kept = {"embed_model": "BAAI/bge-small-en-v1.5", "embed_dim": str(DIMENSIONS)}
            if version == "5.1":
                kept["embed_passage_prefix"] = ""
            for key, value in (kept | meta).items():
                if value is not None:
                    run("INSERT INTO meta VALUES (?, ?)", (key, value))
        if self.has_columns:
            for name in ADDED:
                run(f"ALTER TABLE chunks ADD COLUMN {name} TEXT")
            run("CREATE INDEX idx_project ON chunks(project)")
            run("CREATE INDEX idx_ts_start ON chunks(ts_start)")
            run(STATE)

    def add(self, content, source="manual:chunk0", *, hashed=None, embedding="", days=0, **more):
        """One row; its id."""
        text = content if isinstance(content, str) else content.decode(errors="replace")
        if embedding == "":
            embedding = vector(text)
        values = {
            "content": content,
            "content_hash": hashed or (md5(text) if self.version == "2.0" else sha(text)),
            "source": source,
            "embedding": embedding,
            "created_at": stamp(days),
        }
        if self.has_columns:
            values |= more
        names, places = ", ".join(values), ", ".join("?" * len(values))
        return self.connection.execute(
            f"INSERT INTO chunks ({names}) VALUES ({places})", list(values.values())
        ).lastrowid

    def converse(self, turns=TURNS, session=SESSION, *, tells=True, days=3):
        """A conversation in pieces of two turns, as this version stored it."""
        for number in range(0, len(turns), 2):
            pair = turns[number : number + 2]
            index, day = number // 2, days + number
            if self.has_columns and tells:
                at = FIRST_DAY + timedelta(days=day)
                head = f"[{at:%Y-%m-%d %H:%M} · shop · {TITLE}]\n"
                text = head + "\n\n".join(f"{role.upper()}: {said}" for role, said in pair)
                self.add(
                    text,
                    f"convo:{session}:{index}",
                    days=100 + index,
                    project=PROJECT,
                    session_id=session,
                    ts_start=at.isoformat() + ".000Z",
                    ts_end=(at + timedelta(minutes=5)).isoformat() + ".000Z",
                    metadata=json.dumps({"title": TITLE, "git_branch": "main", "path": "/x.jsonl"}),
                )
                continue
            whole = "\n\n".join(f"[{role.upper()}]: {said}" for role, said in turns[: number + 2])
            start = max(whole.index(f"]: {pair[0][1]}") - len(pair[0][0]) - 1, 0)
            # Later pieces overlap with the one before them, and so begin in the middle of a word.
            self.add(whole[max(start - 30, 0) :], f"convo:{session}:chunk{index}", days=day)

    def note(self, source, text, *, days=20):
        """A note, as this version stored it."""
        at = (FIRST_DAY + timedelta(days=days)).isoformat() + "+00:00"
        return self.add(text, f"{source}:chunk0", days=days, ts_start=at, ts_end=at)

    def fill(self):
        """What the tests of all versions convert: conversation, notes, a gap, a row without."""
        self.converse()
        for number, (source, text) in enumerate(NOTES):
            self.note(source, text, days=40 + number)
        gone = self.add("this row is deleted, so that the ids have a gap", "manual:chunk1")
        self.add("a row that has no vector", "manual:chunk0", embedding=None, days=60)
        last = self.add("the last row, which is deleted as well", "manual:chunk2")
        for identifier in (gone, last):
            self.connection.execute("DELETE FROM chunks WHERE id = ?", (identifier,))
        return self

    def close(self):
        """End as the program ended: version 5 has its words indexed by then."""
        if self.has_columns:
            for statement in FTS:
                self.connection.execute(statement)
        self.connection.close()
        return self.path


def build(folder, version="5.1", fill=OldDatabase.fill, **meta):
    """A data directory with a database of a version; what it held."""
    old = OldDatabase(Path(folder) / "memory.db", version, **meta)
    fill(old)
    return old.close()


def old_rows(path, columns="id, content, source, embedding, created_at"):
    """The rows of an old database that no one has open."""
    return rows(path, f"SELECT {columns} FROM chunks ORDER BY id")


def rows(path, statement, *parameters):
    """Rows of a database that no one has open."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement, parameters).fetchall()


def sound(path):
    """Whether SQLite finds nothing wrong with it."""
    return rows(path, "PRAGMA integrity_check") == [("ok",)] and not rows(
        path, "PRAGMA foreign_key_check"
    )


def is_ours(path):
    """Whether a database was converted."""
    return rows(path, "PRAGMA application_id") != [(0,)]


def helpers(told=None):
    """What the store is given by the server."""

    def cleaned(text):
        result = clean(text)
        return result.text, result.counts

    return Helpers(cleaned, ProjectResolver().resolve, (lambda _: None) if told is None else told)


@asynccontextmanager
async def opened(folder, told=None, migrations=CORE_MIGRATIONS):
    """The store of a data directory, upgraded if need be."""
    workers = Workers()
    try:
        store = Store.open(
            DataDirectory.open(Path(folder)),
            SystemClock(),
            workers,
            migrations,
            upgrading=helpers(told),
        )
    except BaseException:
        workers.close_blocking()
        raise
    try:
        yield store
    finally:
        await store.close()
        await workers.close()


def upgrade(folder, told=None):
    """Convert what lies in a data directory; the path of the database."""

    async def run():
        async with opened(folder, told):
            pass

    asyncio.run(run())
    return Path(folder) / "memory.db"


def report(path):
    """The counts that the upgrade left."""
    found = rows(path, "SELECT key, value FROM counters WHERE key LIKE 'upgrade.%'")
    return {key.removeprefix("upgrade."): value for key, value in found}


def backups(folder):
    """The copies of old databases."""
    return sorted((Path(folder) / "backups").glob("memory-*-before-upgrade-from-*.db"))
