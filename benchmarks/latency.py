"""How long a recall takes, against a bare search of the same data in the same process.

    python benchmarks/latency.py [PASSAGES ...] [--questions 60]

fills a store with generated conversations. A few hundred passages get the vectors of the default
embedder, the others, since this is about searching, those with noise. Then each question is asked
by its words, by its meaning and by both. The reference of the words is one FTS5 statement over the
same index, any word of the question, best first; that of the meaning is the vector of the question
and numpy's product of it with the `float32` matrix of all vectors; that of both is both.
"""

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import time
from datetime import UTC
from functools import partial
from pathlib import Path

import numpy as np
from probing import machine, percentile
from session_logs import WORDS, Corpus, session_key
from sqlalchemy import insert, select

from cloxy_core.app import open_host
from cloxy_core.core_settings import load_settings
from cloxy_core.engine import Engine
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.services.write.batch import Cursor, Feed, FileBatch
from cloxy_core.services.write.transcripts import TranscriptWriter
from cloxy_hookspecs import Message, Query, SessionFacts
from cloxy_hookspecs.tables import embedding_spaces, embeddings, passages

SIZES = (10_000, 100_000)
MODES = ("keyword", "dense", "hybrid")
SESSION_BYTES = 200_000
WORDS_ASKED = 6
LIMIT = 150
AT = 1_780_000_000_000
BLOCK = 5_000
TRUE_VECTORS = 400
NOISE = 0.03
"""Of each dimension; the noise is about half as long as the vector."""
BARE = (
    "SELECT rowid FROM passages_fts WHERE passages_fts MATCH ? ORDER BY bm25(passages_fts) LIMIT ?"
)


class Bare:
    """The reference: searches of the same data with nothing around them."""

    def __init__(self, engine, matrix):
        self._engine = engine
        self._matrix = matrix

    async def keyword(self, question):
        match = " OR ".join(f'"{word}"' for word in question.split())
        await self._engine.store.read(
            lambda connection: connection.exec_driver_sql(BARE, (match, LIMIT)).fetchall()
        )

    async def dense(self, question):
        # The vector of the question itself is remembered.
        vector = await self._engine.embedding.query_vector(f"{question} {WORDS[0]}")
        # Unlike a product of matrices, einsum starts no threads.
        np.argpartition(-np.einsum("ij,j->i", self._matrix, vector), LIMIT)

    async def hybrid(self, question):
        await self.keyword(question)
        await self.dense(question)


def open_engine(folder, **settings):
    given = {**os.environ, "CLOXY_DATA_DIR": str(folder), "CLOXY_WATCH": "0", **settings}
    return Engine(open_host(load_settings(given)), DataDirectory.open(folder))


async def fill(folder, wanted):
    """Some passages with true vectors, and the others with vectors that resemble theirs."""
    engine = open_engine(folder)
    await engine.start()
    sessions = await write(engine, 0, min(TRUE_VECTORS, wanted))
    engine.embedding.wake()
    await until_ready(engine)
    await engine.close()
    engine = open_engine(folder, CLOXY_EMBED_PROVIDER="none")
    await engine.start()
    await write(engine, sessions, wanted - TRUE_VECTORS)
    await engine.store.write(add_vectors)
    await engine.close()


async def write(engine, session, wanted):
    """Write passages from a session on; the first session that is not written."""
    writer = TranscriptWriter(engine.indexing, engine.tombstones, engine.clock)
    policy, chunker = engine.policies["transcript"], engine.chunkers["messages"]
    feed = Feed("bench", "bench", policy.name, policy, chunker)
    corpus = Corpus(1, 0, SESSION_BYTES)
    while wanted > 0:
        messages = list(corpus.said(session))[:wanted]
        batch = batch_of(feed, session, messages)
        await engine.store.write(lambda connection, b=batch: writer.apply(connection, [b]))
        wanted, session = wanted - len(messages), session + 1
    return session


def batch_of(feed, number, messages):
    key = session_key(number)
    said = [
        Message(
            uid=uid,
            session=key,
            role=role,
            author="assistant" if role == "assistant" else "human",
            text=text,
            at=AT + 60_000 * (number * 1_000 + place),
            start=place,
            end=place + 1,
        )
        for place, (uid, role, text) in enumerate(messages)
    ]
    cursor = Cursor(f"/bench/{key}", key, 0, 0, 0)
    return FileBatch(feed, cursor, said, {key: SessionFacts(key=key)}, {key: "/bench"})


def add_vectors(connection):
    """Vectors for all passages that have none: those of others, with noise."""
    space = connection.execute(select(embedding_spaces.c.id).where(embedding_spaces.c.active))
    space = space.scalar_one()
    true = read_vectors(connection)
    with_vector = select(embeddings.c.passage_id)
    rows = connection.execute(
        select(passages.c.id, passages.c.text_hash).where(passages.c.id.not_in(with_vector))
    ).all()
    chance = np.random.default_rng(1)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        made = chance.standard_normal((len(block), true.shape[1])) * NOISE
        made += true[chance.integers(len(true), size=len(block))]
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        values = [
            {"passage_id": i, "space_id": space, "text_hash": h, "vector": vector.tobytes()}
            for (i, h), vector in zip(block, made.astype("<f4"), strict=True)
        ]
        connection.execute(insert(embeddings), values)


def read_vectors(connection):
    blobs = connection.execute(select(embeddings.c.vector)).scalars().all()
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1)


def questions_of(seed, count):
    chooser = random.Random(seed)
    return [
        " ".join(WORDS[int(len(WORDS) * chooser.random() ** 3)] for _ in range(WORDS_ASKED))
        for _ in range(count)
    ]


async def until_ready(engine):
    """Wait for the model, for all vectors, and for the index of them."""
    while True:
        status = await engine.embedding.status()
        if status.state == "failed":
            raise SystemExit(f"the embedder failed: {status.reason}")
        filled = status.state == "ready" and not status.backlog
        if filled and engine.indexing.ready("dense"):
            return
        await asyncio.sleep(0.1)


async def recall(engine, mode, question):
    query = Query(text=question, top_k=5, now=AT, zone=UTC, mode=mode)
    answer = await engine.recaller.recall(query)
    if mode != "keyword" and "dense" not in answer.channels:
        raise SystemExit(f"meaning was not searched: {answer.notes}")


async def timed(search, questions):
    seconds = []
    for question in questions:
        began = time.perf_counter()
        await search(question)
        seconds.append(time.perf_counter() - began)
    return seconds


async def run(size, count):
    with tempfile.TemporaryDirectory(prefix="cloxy-latency-") as scratch:
        folder = Path(scratch)
        await fill(folder, size)
        engine = open_engine(folder)
        await engine.start()
        await until_ready(engine)
        bare = Bare(engine, await engine.store.read(read_vectors))
        for mode in MODES:
            ask = partial(recall, engine, mode)
            # New words each time: what they cost the first time is part of it.
            warm, *asked = questions_of(mode, count + 1)
            await ask(warm)
            ours = await timed(ask, asked)
            alone = await timed(getattr(bare, mode), asked)
            print(
                f"{size:7d} passages, {mode:7s}: p50 {percentile(ours, 50):6.1f} ms, "
                f"p95 {percentile(ours, 95):6.1f} ms; bare p50 {percentile(alone, 50):6.2f} ms; "
                f"ratio of medians {statistics.median(ours) / statistics.median(alone):.2f}",
                flush=True,
            )
        await engine.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES, metavar="PASSAGES")
    parser.add_argument("--questions", type=int, default=60)
    options = parser.parse_args()
    print(machine())
    for size in options.sizes:
        asyncio.run(run(size, options.questions))


if __name__ == "__main__":
    main()
