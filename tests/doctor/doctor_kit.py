"""A data directory that is damaged and examined; what is damaged is a real database."""

import array
import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from ingest.ingest_support import Server
from ingest.session_lines import lines, turns

from cloxy_core.app import open_host
from cloxy_core.cli.doctor_repair import repair_all
from cloxy_core.core_settings import load_settings
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.services.doctor.examination import examine

PAGE = 4096
SESSIONS = 5
TURNS = 30
NOTES = (
    "the blue lantern stands for the staging cluster and its port 5432",
    "the green kettle stands for the production cluster and its port 6543",
)

SPACE = (
    "INSERT INTO embedding_spaces (id, fingerprint, model, revision, dim, query_prefix,"
    " passage_prefix, active, created_at) VALUES (?, ?, 'm', 'r', 4, '', '', ?, 1)"
)


def silent(_text):
    """Tells nobody."""


class Patient:
    """A folder with session logs and a data directory."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.data = self.folder / "data"
        self.database = self.data / "memory.db"
        self.watched = self.folder / "projects"

    def filled(self, sessions=SESSIONS):
        """Read in some sessions, remember the notes, and stop."""
        with self.server() as server:
            for number in range(sessions):
                stem = f"lantern queue number {number}"
                server.write(
                    lines(*turns(TURNS, session=f"s{number}", stem=stem)), name=f"s{number}.jsonl"
                )
            server.ingest()
            for note in NOTES:
                server.remember(note)
        return self

    def server(self):
        """The server over this folder, for a `with` block."""
        return Server(self.folder)

    @property
    def environment(self):
        """What a child process needs to find this folder."""
        return {
            "CLOXY_DATA_DIR": str(self.data),
            "CLOXY_WATCH_DIRS": str(self.watched),
            "CLOXY_WATCH": "0",
            "CLOXY_PORT": "0",
        }

    def sql(self, *statements):
        """Change the database behind everybody's back."""
        with closing(sqlite3.connect(self.database, isolation_level=None)) as connection:
            connection.execute("PRAGMA foreign_keys=OFF")
            for statement in statements:
                parts = (statement,) if isinstance(statement, str) else statement
                connection.execute(*parts)

    def rows(self, statement, *values):
        """What a statement gives."""
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(statement, values).fetchall()

    def value(self, statement, *values):
        """The only value of a statement."""
        ((found,),) = self.rows(statement, *values)
        return found

    def harm(self, change):
        """Change the bytes of the file, with no log beside it."""
        self.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        data = bytearray(self.database.read_bytes())
        change(data)
        self.database.write_bytes(data)
        for suffix in ("-wal", "-shm"):
            Path(f"{self.database}{suffix}").unlink(missing_ok=True)

    def pages_of(self, table):
        """Numbers of the pages of a table or index, from 1."""
        with closing(sqlite3.connect(self.database)) as connection:
            (root,) = connection.execute(
                "SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)
            ).fetchone()
        return pages_below(self.database.read_bytes(), root)

    def zero(self, *pages):
        """Zero pages."""

        def change(data):
            for page in pages:
                data[(page - 1) * PAGE : page * PAGE] = bytes(PAGE)

        self.harm(change)

    def examine(self):
        """The report of `cloxy doctor`."""
        host, paths = self._open()
        return asyncio.run(examine(host, paths, silent))

    def repair(self):
        """The report and the work of `cloxy doctor --repair`."""
        host, paths = self._open()
        return asyncio.run(repair_all(host, paths, silent))

    def back_up(self):
        """A backup as the server makes one."""
        with self.server() as server:
            return server.do(server.engine.store.back_up())

    def messages(self):
        """Texts of all sessions as the server now has them, by session and id."""
        with self.server() as server:
            return {
                (session, uid): text
                for session, found in server.sessions().items()
                for uid, text in found
            }

    def all_is_well(self, *, in_order=True):
        """After a repair nothing is found, nothing is left to do, and the server agrees.

        `in_order` is whether passages must have been stored in the order in which they stand.
        """
        report = self.examine()
        assert report.well, [problem.message for problem in report.problems]
        assert not report.repairable, report.repairable
        again, work = self.repair()
        assert again.well
        assert not work.done
        if in_order:
            with self.server() as server:
                server.check(bounded=False)

    def _open(self):
        host = open_host(load_settings(self.environment))
        return host, DataDirectory(self.data)


def pages_below(data, page):
    """A page of a b-tree and all pages below it."""
    found = [page]
    start = (page - 1) * PAGE
    header = start + (100 if page == 1 else 0)
    kind = data[header]
    if kind not in (2, 5):
        return found
    cells = int.from_bytes(data[header + 3 : header + 5], "big")
    children = [int.from_bytes(data[header + 8 : header + 12], "big")]
    for number in range(cells):
        pointer = header + 12 + 2 * number
        cell = start + int.from_bytes(data[pointer : pointer + 2], "big")
        children.append(int.from_bytes(data[cell : cell + 4], "big"))
    for child in children:
        found += pages_below(data, child)
    return found


def names(report, *, severity="error"):
    """Names of the problems of a severity."""
    return [problem.name for problem in report.problems if problem.severity == severity]


def vector(*numbers):
    return array.array("f", numbers).tobytes()


def add_vectors(patient):
    """A space of four dimensions, and a good vector of every passage."""
    patient.sql("DELETE FROM embeddings", "DELETE FROM embedding_spaces", (SPACE, (7, "a", 1)))
    patient.sql(
        (
            "INSERT INTO embeddings (passage_id, space_id, text_hash, vector)"
            " SELECT id, 7, text_hash, ? FROM passages",
            (vector(0.6, 0.8, 0, 0),),
        )
    )
