"""A memory that is kept and restored by the real program."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from ingest.ingest_support import Server
from ingest.session_lines import lines, turns
from process.cli_runner import run_cloxy

NOTES = (
    "the blue lantern stands for the staging cluster and its port 5432",
    "the green kettle stands for the production cluster and its port 6543",
)
LATER = "a note of later days about the purple harbour and its old crane"
GONE = "convo:s2"
# Positions in a write-ahead log, and what tells of a start, are no part of what is kept.
# How an index of words is laid out inside differs once it was made anew; what it holds does not,
# and the checks of a started server compare that with the rows.
PASSING = {
    "index_checkpoints",
    "passages_fts_data",
    "passages_fts_idx",
    "sqlite_sequence",
    "sqlite_stat1",
}


class Keeper:
    """A folder with a data directory, session logs and a place for backups."""

    def __init__(self, folder, watched=None):
        self.folder = Path(folder)
        self.data = self.folder / "data"
        self.database = self.data / "memory.db"
        self.watched = Path(watched) if watched else self.folder / "projects"
        self.kept = self.folder / "kept.db"

    @property
    def environment(self):
        return {
            "CLOXY_DATA_DIR": str(self.data),
            "CLOXY_WATCH_DIRS": str(self.watched),
            "CLOXY_WATCH": "0",
            "CLOXY_PORT": "0",
            "CLOXY_EMBED_PROVIDER": "none",
        }

    def server(self):
        """The server over this folder, for a `with` block."""
        return Server(self.folder, watch=self.watched)

    def filled(self):
        self.watched.mkdir()
        with self.server() as server:
            for number in range(4):
                stem = f"lantern queue number {number}"
                made = lines(*turns(12, session=f"s{number}", stem=stem))
                server.write(made, name=f"s{number}.jsonl")
            server.ingest()
            for note in NOTES:
                server.remember(note)
        return self

    def forgetting(self):
        """Keep it, then forget a session and a note, and remember another."""
        self.backup(self.kept)
        with self.server() as server:
            server.forget_source(GONE)
            (hit,) = [h for h in server.recall("blue lantern staging") if "staging" in h.content]
            server.forget(hit.id)
            server.remember(LATER)
        return self

    def run(self, *arguments, **more):
        return run_cloxy(*map(str, arguments), **{**self.environment, **more})

    def backup(self, *arguments, **more):
        """Run `cloxy backup`, which must succeed; what it says as JSON."""
        done = self.run("backup", *arguments, "--json", **more)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    def restore(self, file=None, **more):
        """Run `cloxy restore`, which must succeed; what it says as JSON."""
        done = self.run("restore", file or self.kept, "--yes", "--json", **more)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    def sql(self, *statements):
        with closing(sqlite3.connect(self.database, isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)

    def contents(self):
        return contents(self.database)

    def bytes(self):
        """Every file of the data directory, but for the lock, which names who had it."""
        return {
            str(path.relative_to(self.data)): path.read_bytes()
            for path in sorted(self.data.rglob("*"))
            if path.is_file() and path.name not in ("server.lock", "memory.db-shm")
        }


def contents(database):
    """Contents of all memories of a database, which must be sound."""
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [row[0] for row in connection.execute("SELECT content FROM memories ORDER BY id")]


def dump(database):
    """All rows of all tables that hold what a person or a log brought."""
    with closing(sqlite3.connect(database)) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        ).fetchall()
        return {
            name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr)
            for (name,) in names
            if name not in PASSING
        }


def assert_forgotten(keeper):
    """What was forgotten is not there, and reading all logs again does not bring it back."""
    with keeper.server() as server:
        server.ingest(force=True)
        found = server.sessions()
        assert "s2" not in found
        assert {"s0", "s1", "s3"} <= set(found)
        assert NOTES[0] not in server.notes()
        assert NOTES[1] in server.notes()
        server.check(bounded=False)
    for content in keeper.contents():
        assert "number 2" not in content
        assert NOTES[0] not in content
