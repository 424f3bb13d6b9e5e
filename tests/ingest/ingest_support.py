"""A real server without HTTP over temporary folders, and what its database holds."""

import asyncio
import hashlib
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from cloxy_core.app import open_host
from cloxy_core.core_settings import load_settings
from cloxy_core.engine import Engine
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.services.passage_rows import index_rows
from cloxy_hookspecs import Draft
from cloxy_plugins.chunking.messages import LONGEST, TARGET
from cloxy_plugins.fts5.index import indexed

SEARCH = """
import pathlib, sys
for path in pathlib.Path(sys.argv[1]).rglob("*"):
    if path.is_file() and path.name != "reserve.bin":
        data = path.read_bytes()
        if any(word.encode() in data for word in sys.argv[2:]):
            print(path.name)
"""
LONGEST_LABEL = len("\n\nASSISTANT: ")


@dataclass(frozen=True)
class Part:
    """A stored passage."""

    id: int
    session: str | None
    uid: str | None
    memory: int
    ordinal: int
    part: int
    role: str
    start: int
    end: int
    text: str
    hash: str


class Server:
    """Every call runs to its end on one event loop, so that tests read in order."""

    def __init__(self, folder, *, watch=None, environ=None):
        self.folder = Path(folder)
        self.watched = Path(watch) if watch else self.folder / "projects"
        if watch is None:
            self.watched.mkdir(parents=True, exist_ok=True)
        self.data = self.folder / "data"
        self._environ = environ or {}
        self.engine = None

    def __enter__(self):
        self._runner = asyncio.Runner()
        self.start()
        return self

    def __exit__(self, *_error):
        try:
            self.stop()
        finally:
            self._runner.close()

    @property
    def loop(self):
        """The event loop, for what other threads want of it."""
        return self._runner.get_loop()

    def start(self):
        """Open the data directory."""
        settings = load_settings(
            {
                "CLOXY_DATA_DIR": str(self.data),
                "CLOXY_WATCH_DIRS": str(self.watched),
                "CLOXY_WATCH": "0",
                # What is written behind would disturb those who count the writes.
                "CLOXY_EMBED_PROVIDER": "none",
                "CLOXY_PLUGINS_DISABLED": "exact_index",
                **self._environ,
            }
        )
        host = open_host(settings)
        self.engine = Engine(host, DataDirectory.open(self.data))
        self.do(self.engine.start())

    def stop(self):
        """Close it."""
        if self.engine is not None:
            engine, self.engine = self.engine, None
            self.do(engine.close())

    def restart(self):
        """Stop and start again."""
        self.stop()
        self.start()

    def do(self, work):
        """Run a coroutine to its end."""

        async def run():
            return await work

        return self._runner.run(run())

    def ingest(self, under=None, *, force=False):
        """One pass."""
        return self.do(self.engine.ingest.run(under, force=force))

    def status(self):
        """What the ingest says of itself."""
        return self.do(self.engine.ingest.status())

    def passed_over(self):
        """What the sources leave out by rule."""
        standings = self.engine.ingest.standings.of.values()
        return [f"{uri}: {reason}" for s in standings for uri, reason in s.passed_over.items()]

    def remember(self, text, source="manual"):
        """Store a note; its ids."""
        return self.do(self.engine.memories.remember(Draft(text, "note", source))).ids

    def forget(self, memory):
        """Forget one memory."""
        return self.do(self.engine.memories.forget(memory))

    def forget_source(self, prefix, *, dry_run=False):
        """Forget a source."""
        return self.do(self.engine.memories.forget_source(prefix, dry_run=dry_run))

    def recall(self, query, **more):
        """Results of the recall operation."""
        found = {operation.record.name: operation for operation in self.engine.operations}
        return self.do(found["memory-recall"].run({"query": query, **more})).results

    def read(self, work):
        """Run work in a read transaction."""
        return self.do(self.engine.store.read(work))

    def rows(self, statement, *parameters):
        """Rows of a statement."""
        return self.read(
            lambda c: [tuple(r) for r in c.exec_driver_sql(statement, parameters).all()]
        )

    def value(self, statement, *parameters):
        """The only value of a statement."""
        ((found,),) = self.rows(statement, *parameters)
        return found

    def file(self, name="a.jsonl", folder="-srv-demo-app"):
        """Path of a session file; its folder is made."""
        path = self.watched / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, data, name="a.jsonl", folder="-srv-demo-app"):
        """Write a session file anew."""
        path = self.file(name, folder)
        path.write_bytes(data)
        return path

    def parts(self):
        """Every passage, in order; its text is cut out of the memory's content here."""
        found = self.rows(
            "SELECT p.id, s.key, p.message_uid, p.memory_id, p.ordinal, p.part, p.role,"
            " p.char_start, p.char_end, m.content, p.text_hash FROM passages p"
            " JOIN memories m ON m.id = p.memory_id LEFT JOIN sessions s ON s.id = p.session_id"
            " ORDER BY p.id"
        )
        return [Part(*row[:9], row[9][row[7] : row[8]], row[10]) for row in found]

    def messages(self, session="s1"):
        """Id and verbatim text of a session's messages, in order."""
        return self.sessions().get(session, [])

    def sessions(self):
        """Id and verbatim text of messages by session."""
        found = {}
        for part in self.parts():
            if part.session is not None:
                texts = found.setdefault(part.session, {})
                texts[part.uid] = texts.get(part.uid, "") + part.text
        return {key: list(texts.items()) for key, texts in found.items()}

    def notes(self):
        """Texts of notes."""
        return [part.text for part in self.parts() if part.session is None]

    def contents(self):
        """Contents of all memories, in order."""
        return [row[0] for row in self.rows("SELECT content FROM memories ORDER BY id")]

    def title(self, session="s1"):
        """The title of a session."""
        return self.value("SELECT title FROM sessions WHERE key = ?", session)

    def cursor(self, path):
        """Offset and state of a file."""
        (found,) = self.rows("SELECT byte_offset, state FROM sources WHERE uri = ?", str(path))
        return found

    def check(self, *, bounded=True):
        """Everything that must be true of every database at every time."""
        parts = self.parts()
        contents = dict(self.rows("SELECT id, content FROM memories"))
        by_memory = {}
        for part in parts:
            assert part.text, part
            assert part.hash == hashlib.sha256(part.text.encode()).hexdigest()
            by_memory.setdefault(part.memory, []).append(part)
        assert set(by_memory) == set(contents)
        for memory, inside in by_memory.items():
            self._check_memory(contents[memory], inside, bounded=bounded)
        self._check_messages(parts)
        self._check_index()
        # On the writer's connection: FTS5 checks another one's changes against its old picture.
        damage = self.do(self.engine.store.write(_integrity))
        assert damage == ["ok"], damage
        assert self.rows("PRAGMA foreign_key_check") == []
        hashes = self.rows("SELECT content, content_hash FROM memories")
        assert all(hashlib.sha256(c.encode()).hexdigest() == h for c, h in hashes)
        opened = self.rows("SELECT session_id, count(*) FROM memories WHERE open GROUP BY 1")
        assert all(count == 1 for _session, count in opened)
        assert self.value("SELECT count(*) FROM sessions WHERE indexed_title IS NOT title") == 0

    @staticmethod
    def _check_memory(content, inside, *, bounded):
        assert [part.ordinal for part in inside] == sorted({part.ordinal for part in inside})
        end = 0
        for part in inside:
            lead = content[end : part.start]
            labelled = lead.lstrip("\n").rstrip() in ("USER:", "ASSISTANT:", "SUMMARY:", "NOTE:")
            assert labelled or (not lead and (part.part or part.session is None)), (lead, part)
            assert lead.startswith("\n\n") == (end > 0)
            end = part.end
        assert end == len(content)
        if bounded:
            longest = TARGET if len(inside) > 1 else LONGEST + LONGEST_LABEL
            assert len(content) <= longest

    @staticmethod
    def _check_messages(parts):
        split = {}
        for part in parts:
            if part.uid is not None:
                split.setdefault((part.session, part.uid), []).append(part)
        for message in split.values():
            assert [part.part for part in message] == list(range(len(message)))
            text = "".join(part.text for part in message)
            assert len(message) == 1 or len(text) > LONGEST, "a short message was split"

    def _check_index(self):
        stored = {
            row[0]: row
            for row in self.rows("SELECT passage_id, body, context, parts FROM fts_passages")
        }
        wanted = {row.passage_id: indexed(row) for row in self.read(index_rows)}
        assert stored == wanted
        stats = self.do(self.engine.memories.stats())
        assert stats.indexes["keyword"] == stats.passages == len(wanted)

    def holders(self, *words):
        """Files of the data directory that hold any of some words."""
        # Another process reads: closing the database here would drop this process's locks on it.
        done = subprocess.run(
            [sys.executable, "-c", SEARCH, str(self.data), *words],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return done.stdout.split()


def _integrity(connection):
    return connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()


def age(path, seconds=3600):
    """Set a file's time back, as if nobody had written to it for long."""
    moment = time.time_ns() - int(seconds * 1e9)
    os.utime(path, ns=(moment, moment))


def append(path, data):
    """Append bytes to a file."""
    with Path(path).open("ab") as file:
        file.write(data)
