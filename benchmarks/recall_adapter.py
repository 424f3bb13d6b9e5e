"""Drives the recall yardstick through the product as it is installed, in its default configuration.

The yardstick hands over items (id, text, ts, session, role, source) and asks for the ids of the
best ones. Items become messages of transcripts and go through the ordinary writer into a real
database in a temporary directory; the ordinary embedder fills in their vectors; questions go to
the port that every door asks.

`CLOXY_*` variables change the configuration, for example `CLOXY_EMBED_PROVIDER=none`.
"""

import asyncio
import os
import tempfile
import time
from collections import defaultdict
from datetime import UTC
from pathlib import Path

from sqlalchemy import select

from cloxy_core.app import open_host
from cloxy_core.core_settings import load_settings
from cloxy_core.engine import Engine
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.services.write.batch import Cursor, Feed, FileBatch
from cloxy_core.services.write.transcripts import TranscriptWriter
from cloxy_hookspecs import InputError, Message, OriginPolicy, Query, SessionFacts
from cloxy_hookspecs.tables import passages

POLICY = OriginPolicy(
    name="transcript", kind="episodic", tier="working", immutable=True, deduplicates=False
)
ASSISTANTS = {"agent", "assistant"}
PEOPLE = {"user"}
TIME_LIMIT_SECONDS = "5"
"""Of a keyword search; generous, so that a busy machine does not change the figures."""


class Adapter:
    """The yardstick's three calls."""

    def __init__(self):
        self._runner = asyncio.Runner()
        self._engine = None
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
            answer = self._runner.run(self._engine.recaller.recall(question))
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
        if self._engine is not None:
            self._runner.run(self._engine.close())
            self._temporary.cleanup()
            self._engine = None

    async def _open(self, folder):
        environment = {
            **os.environ,
            "CLOXY_DATA_DIR": str(folder / "data"),
            "CLOXY_WATCH": "0",
            "CLOXY_FTS5_TIME_LIMIT": TIME_LIMIT_SECONDS,
        }
        host = open_host(load_settings(environment))
        self._engine = Engine(host, DataDirectory.open(folder / "data"))
        await self._engine.start()
        engine = self._engine
        self._writer = TranscriptWriter(engine.indexing, engine.tombstones, engine.clock)
        self._uids = {}

    async def _filled(self):
        """Wait until every item has its vector, and the index has them all."""
        engine = self._engine
        if engine.embedding.info is None:
            return
        engine.embedding.wake()
        while True:
            status = await engine.embedding.status()
            if status.state == "failed":
                raise SystemExit(f"the embedder failed: {status.reason}")
            vectors = await engine.indexing.vectors()
            if not status.backlog and engine.indexing.ready("dense") and vectors == status.embedded:
                return
            await asyncio.sleep(0.05)

    async def _write(self, items):
        sessions = defaultdict(list)
        for item in items:
            sessions[item["session"]].append(item)
        store, chunker = self._engine.store, self._engine.chunkers["messages"]
        feed = Feed("bench", "bench", "bench", POLICY, chunker)
        for group in _batched(list(sessions.items()), 50):
            batches = [_batch(feed, key, rows) for key, rows in group]
            await store.write(lambda connection, b=batches: self._writer.apply(connection, b))
        self._copies = defaultdict(list)
        for item in items:
            self._copies[item["text"]].append((item["session"], item["id"]))
        self._uids = await store.read(
            lambda c: dict(c.execute(select(passages.c.id, passages.c.message_uid)).all())
        )
        await self._filled()


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
