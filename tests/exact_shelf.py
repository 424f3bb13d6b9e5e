"""The exact index on a real SQLite file, and a plain scan of all vectors to compare it with."""

import json
import logging

import numpy as np
from sqlalchemy import event

from cloxy_core.store.filters import filter_clause
from cloxy_hookspecs import Filters, Probe, VectorChange, VectorRow
from cloxy_plugins.exact_index.index import ExactIndex

MEMORY = """
INSERT INTO memories (id, uid, origin, kind, tier, state, immutable, content, content_hash, source,
    ordinal, open, created_at, updated_at, version, extra)
VALUES (?, ?, 'note', 'episodic', 'working', 'active', 0, '', '', ?, 0, 0, 0, 0, 1, '{}')
"""
PASSAGE = """
INSERT INTO passages (id, memory_id, ordinal, part, role, author, char_start, char_end, text_hash)
VALUES (?, ?, 0, 0, 'user', 'human', 0, 0, '')
"""
SPACE = """
INSERT INTO embedding_spaces (fingerprint, model, revision, dim, query_prefix, passage_prefix,
    active, created_at) VALUES (?, 'm', '1', ?, '', '', ?, 0)
"""


class Store:
    """The part of the store that the index asks."""

    def filter_clause(self, connection, filters):
        return filter_clause(connection, filters)


class Shelf:
    """Passages with vectors, in the store and in the index."""

    def __init__(self, engine, dim=64):
        self.engine, self.dim = engine, dim
        self.index = ExactIndex(Store(), logging.getLogger("exact"))
        self.vectors, self.links, self.sources = {}, {}, {}
        self.statements = []
        self.sql(SPACE, [("old", dim, False), ("now", dim, True)])
        event.listen(
            engine, "before_cursor_execute", lambda *given: self.statements.append(given[2])
        )

    def sql(self, statement, rows=((),)):
        with self.engine.begin() as connection:
            if some := list(rows):
                connection.exec_driver_sql(statement, some)

    def store(self, vectors, sources=None, links=None):
        """Write passages with their vectors to the store; the index hears nothing of them."""
        new = [number for number in vectors if number not in self.vectors]
        sources = sources or {}
        self.sql(MEMORY, [(n, str(n), sources.get(n, "rest")) for n in new])
        self.sql(PASSAGE, [(n, n) for n in new])
        self.vectors |= vectors
        self.links |= {number: (links or {}).get(number, (None, None)) for number in vectors}
        self.sources |= {number: sources.get(number, "rest") for number in vectors}
        self.sql(
            "INSERT OR REPLACE INTO embeddings (passage_id, space_id, text_hash, vector)"
            " VALUES (?, 2, '', ?)",
            [(number, self.bytes(number)) for number in vectors],
        )

    def bytes(self, number):
        return np.asarray(self.vectors[number], dtype="<f4").tobytes()

    def row(self, number):
        return VectorRow(number, self.bytes(number), *self.links[number])

    def put(self, vectors, sources=None, links=None):
        """Write passages with their vectors to the store and to the index."""
        self.store(vectors, sources, links)
        self.apply(*vectors)

    def apply(self, *numbers):
        changes = [VectorChange(number, self.row(number)) for number in numbers]
        self.index.apply(changes, self.index.checkpoint() + 1)

    def rebuild(self):
        self.index.rebuild((self.row(number) for number in self.vectors), 1)

    def forget(self, numbers):
        """Take passages out of the store; the index hears nothing of it."""
        given = (json.dumps(list(numbers)),)
        for table in ("embeddings", "passages", "memories"):
            column = "passage_id" if table == "embeddings" else "id"
            self.sql(
                f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))", [given]
            )
        for number in numbers:
            del self.vectors[number]

    def remove(self, numbers):
        """Take passages out of the store and of the index."""
        self.forget(numbers)
        changes = [VectorChange(number, None) for number in numbers]
        self.index.apply(changes, self.index.checkpoint() + 1)

    def ask(self, vector, limit=50, filters=None):
        """(passage, score) pairs."""
        probe = Probe("", (), filters or Filters(), np.asarray(vector, dtype=np.float32))
        with self.engine.begin() as connection:
            self.statements.clear()
            hits = self.index.search(connection, probe, limit).hits
        return [(hit.passage_id, hit.score) for hit in hits]

    def scan(self, vector, limit=50, source=None):
        """The same by a plain scan with 64-bit numbers."""
        numbers = [n for n in self.vectors if source in {None, self.sources[n]}]
        if not numbers:
            return []
        asked = unit(vector)
        place = {number: row for row, number in enumerate(self.vectors)}
        units = np.array([*self.vectors.values(), np.zeros(self.dim)], dtype=np.float64)
        units[:-1] /= np.linalg.norm(units[:-1], axis=1, keepdims=True)
        beside = np.array([[place.get(n, -1) for n in self.links[number]] for number in numbers])
        smoothed = units[[place[n] for n in numbers]] + 0.3 * units[beside].sum(axis=1)
        scores = smoothed @ asked / np.linalg.norm(smoothed, axis=1)
        pairs = zip(numbers, scores.tolist(), strict=True)
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:limit]


def unit(vector):
    wide = np.asarray(vector, dtype=np.float64)
    return wide / np.linalg.norm(wide)


def clustered(chance, count, dim=64, clusters=30):
    """Unit vectors around some directions, as texts on some subjects have them."""
    centres = chance.standard_normal((clusters, dim))
    vectors = centres[chance.integers(clusters, size=count)]
    vectors = vectors + 0.7 * chance.standard_normal((count, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


def sessions(numbers, length=12):
    """Neighbours of passages that stand in sessions of some length."""
    links = {}
    for start in range(0, len(numbers), length):
        part = [None, *numbers[start : start + length], None]
        for before, number, after in zip(part, part[1:], part[2:], strict=False):
            links[number] = (before, after)
    return links
