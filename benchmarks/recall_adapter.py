"""Drives the recall yardstick through the product: its store, its writer, its recall service.

The yardstick hands over items (id, text, ts, session, role, source) and asks for the ids of the
best ones. Items become messages of transcripts and go through the ordinary writer into a real
database in a temporary directory; questions go to the port that every door asks.
"""

import asyncio
import tempfile
import time
from collections import defaultdict
from datetime import UTC
from pathlib import Path

from sqlalchemy import select

from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.indexing import CommitChannel, Indexing
from cloxy_core.services.recall.ranking import ActiveSignal
from cloxy_core.services.recall.service import RecallService
from cloxy_core.services.write.batch import Cursor, Feed, FileBatch
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_core.services.write.transcripts import TranscriptWriter
from cloxy_core.store.core_migrations import CORE_MIGRATIONS
from cloxy_core.store.engine import Store
from cloxy_hookspecs import InputError, Message, OriginPolicy, Query, SessionFacts
from cloxy_hookspecs.tables import passages
from cloxy_plugins.chunking.messages import MessageChunker
from cloxy_plugins.expansion import plugin as expansion
from cloxy_plugins.fts5 import plugin as fts5
from cloxy_plugins.fts5.index import KeywordIndex
from cloxy_plugins.ranking import plugin as ranking

POLICY = OriginPolicy(
    name="transcript", kind="episodic", tier="working", immutable=True, deduplicates=False
)
ASSISTANTS = {"agent", "assistant"}
PEOPLE = {"user"}
TIME_LIMIT_SECONDS = 5.0
"""Generous, so that a busy machine does not change the figures."""


class Adapter:
    """The yardstick's three calls."""

    def __init__(self, fuser: str = "weighted"):
        self._runner = asyncio.Runner()
        self._fuser = fuser
        self._store = None
        self._temporary = None

    def reset(self):
        """Start with an empty store."""
        self.close()
        self._temporary = tempfile.TemporaryDirectory(prefix="cloxy-bench-")
        self._runner.run(self._open(Path(self._temporary.name)))

    def add(self, items):
        """Write items as messages, a session after the other."""
        self._runner.run(self._write(items))

    def recall(self, query, k, now):
        """Ids of the best items."""
        present = int((time.time() if now is None else now) * 1000)
        question = Query(text=query, top_k=k, now=present, zone=UTC, group="passage")
        try:
            answer = self._runner.run(self._recaller.recall(question))
        except InputError:
            return []
        return [item for hit in answer.hits for item in self._items(hit)]

    def _items(self, hit):
        """The item of a hit, and its copies in the other sessions that the hit names."""
        best = self._uids[hit.passages[0].id]
        copies = self._copies.get(hit.passages[0].text, ())
        return [
            best,
            *(item for session, item in copies if item != best and session in hit.sessions),
        ]

    def close(self):
        """Remove the store."""
        if self._store is not None:
            self._runner.run(self._store.close())
            self._workers.close_blocking()
            self._temporary.cleanup()
            self._store = None

    async def _open(self, folder):
        clock = SystemClock()
        self._workers = Workers()
        migrations = [*CORE_MIGRATIONS, *fts5.cloxy_migrations()]
        self._store = Store.open(
            DataDirectory.open(folder / "data"), clock, self._workers, migrations
        )
        record = next(iter(fts5.cloxy_indexes()))
        channels = [CommitChannel(record, KeywordIndex(self._store, TIME_LIMIT_SECONDS))]
        self._writer = TranscriptWriter(
            Indexing(channels, self._store, clock), Tombstones(folder / "key"), clock
        )
        self._recaller = RecallService(
            self._store,
            [item.create(None) for item in expansion.cloxy_expanders()],
            channels,
            next(f.create(None) for f in ranking.cloxy_fusers() if f.name == self._fuser),
            [ActiveSignal(item, item.create(None)) for item in ranking.cloxy_signals()],
        )
        self._uids = {}

    async def _write(self, items):
        sessions = defaultdict(list)
        for item in items:
            sessions[item["session"]].append(item)
        feed = Feed("bench", "bench", "bench", POLICY, MessageChunker())
        for group in _batched(list(sessions.items()), 50):
            batches = [_batch(feed, key, rows) for key, rows in group]
            await self._store.write(lambda connection, b=batches: self._writer.apply(connection, b))
        self._copies = defaultdict(list)
        for item in items:
            self._copies[item["text"]].append((item["session"], item["id"]))
        self._uids = await self._store.read(
            lambda c: dict(c.execute(select(passages.c.id, passages.c.message_uid)).all())
        )


def _batched(rows, size):
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _batch(feed, key, items):
    """The file of one session."""
    messages = [_message(key, place, item) for place, item in enumerate(items)]
    cursor = Cursor(f"/bench/{key}", key, 0, 0, 0)
    projects = {key: "/bench/" + items[0]["source"]}
    return FileBatch(feed, cursor, messages, {key: SessionFacts(key=key)}, projects)


def _message(key, place, item):
    """One item; who speaks is said in the text when it is neither the user nor the assistant."""
    role = item["role"]
    named = role not in ASSISTANTS | PEOPLE
    return Message(
        uid=item["id"],
        session=key,
        role="assistant" if role in ASSISTANTS else "user",
        author="assistant" if role in ASSISTANTS else "human",
        text=f"{role}: {item['text']}" if named else item["text"],
        at=int(item["ts"] * 1000),
        start=place,
        end=place + 1,
    )
