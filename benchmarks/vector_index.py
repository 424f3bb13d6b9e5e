"""What the index of vectors costs: `python benchmarks/vector_index.py [ROWS ...]`.

For each size a process of its own builds the index from a real SQLite file, and then scans the same
vectors with plain numpy, so that the ratios do not depend on the machine.
"""

import argparse
import logging
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sqlalchemy import create_engine

from cloxy_core.store.filters import filter_clause
from cloxy_core.store.library import driver
from cloxy_hookspecs import Filters, Probe, VectorChange, VectorRow
from cloxy_hookspecs.tables import CORE_METADATA
from cloxy_plugins.exact_index import codes
from cloxy_plugins.exact_index.index import ExactIndex

DIM = 384
SESSION = 20
SIZES = (10_000, 100_000, 300_000)
QUESTIONS = 40
CHANGES = 1000
SHARES = {"half": 0.5, "ten": 0.1, "one": 0.01}
"""Share of the passages that a source has."""

MEMORY = """
INSERT INTO memories (id, uid, origin, kind, tier, state, immutable, content, content_hash, source,
    ordinal, open, created_at, updated_at, version, extra)
VALUES (?, ?, 'transcript', 'episodic', 'working', 'active', 0, ?, '', ?, 0, 0, 0, 0, 1, '{}')
"""
PASSAGE = """
INSERT INTO passages (id, memory_id, ordinal, part, role, author, char_start, char_end, text_hash)
VALUES (?, ?, 0, 0, ?, 'human', 0, 600, ?)
"""
SPACE = """
INSERT INTO embedding_spaces (fingerprint, model, revision, dim, query_prefix, passage_prefix,
    active, created_at) VALUES ('f', 'm', '1', 384, '', '', TRUE, 0)
"""
EMBEDDING = """
INSERT INTO embeddings (passage_id, space_id, text_hash, vector) VALUES (?, 1, ?, ?)
"""


class Store:
    """The part of the store that the index asks."""

    def filter_clause(self, connection, filters):
        return filter_clause(connection, filters)


def vectors(first, count):
    """Unit vectors of passages, session by session: each session has its subject."""
    chance = np.random.default_rng(first)
    common = np.random.default_rng(0).standard_normal(DIM)
    subjects = chance.standard_normal((-(-count // SESSION), DIM))
    made = 0.5 * common + np.repeat(subjects, SESSION, axis=0)[:count]
    made += chance.standard_normal((count, DIM))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made.astype("<f4")


def fill(engine, rows):
    """Write passages, a memory for each, and their vectors."""
    text, text_hash = "word " * 120, "0" * 64
    chance = np.random.default_rng(1)
    names, weights = [*SHARES, "rest"], [*SHARES.values(), 1 - sum(SHARES.values())]
    with engine.begin() as connection:
        connection.exec_driver_sql(SPACE)
        for first in range(1, rows + 1, 10_000):
            ids = range(first, min(first + 10_000, rows + 1))
            sources = chance.choice(names, p=weights, size=len(ids))
            labels = list(zip(ids, map(str, sources), strict=True))
            connection.exec_driver_sql(MEMORY, [(n, str(n), text, label) for n, label in labels])
            roles = {label: "note" if label == "one" else "user" for label in names}
            connection.exec_driver_sql(
                PASSAGE, [(n, n, roles[label], text_hash) for n, label in labels]
            )
            blobs = zip(ids, vectors(first, len(ids)), strict=True)
            connection.exec_driver_sql(EMBEDDING, [(n, text_hash, v.tobytes()) for n, v in blobs])


def stored(connection, rows):
    """Rows of the index, read one after the other."""
    cursor = connection.exec_driver_sql("SELECT passage_id, vector FROM embeddings ORDER BY id")
    for number, vector in cursor:
        yield linked(number, vector, rows)


def linked(number, vector, rows):
    """A row with its neighbours in the session."""
    place = (number - 1) % SESSION
    previous = number - 1 if place else None
    following = number + 1 if place < SESSION - 1 and number < rows else None
    return VectorRow(number, vector, previous, following)


def resident():
    """Megabytes of memory, now and at most."""
    status = Path("/proc/self/status").read_text()
    return [int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) / 1024 for name in ("VmRSS", "VmHWM")]


def measure(works):
    """Median milliseconds of wall and processor that calls take."""
    wall, processor = [], []
    for work in works:
        begin, spent = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - begin)
        processor.append(time.process_time() - spent)
    return statistics.median(wall) * 1000, statistics.median(processor) * 1000


def say(what, wall, processor, reference):
    """Print a line; the reference is the processor time of the plain scan."""
    print(f"{what:<34}{wall:>10.2f}{processor:>10.2f}{processor / reference:>10.2f}")


def build(engine, rows):
    """The index, built from the file."""
    index = ExactIndex(Store(), logging.getLogger("benchmark"))
    before, _ = resident()
    begin, spent = time.perf_counter(), time.process_time()
    with engine.begin() as connection:
        index.rebuild(stored(connection, rows), 1)
    spent, begin = time.process_time() - spent, time.perf_counter() - begin
    held, most = resident()
    print(f"built in {begin:.2f} s, {spent:.2f} s of processor, {rows / begin:,.0f} rows a second")
    print(f"memory: +{held - before:.0f} MB held, +{most - before:.0f} MB at most while building")
    return index, before


def questions(rows):
    """Vectors of questions, each near to some passage."""
    chance = np.random.default_rng(7)
    made = vectors(1, min(rows, 10_000))[chance.integers(min(rows, 10_000), size=QUESTIONS)]
    made = made + 0.6 * chance.standard_normal(made.shape) / np.sqrt(DIM) * 2
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def smoothed(matrix):
    """The vectors that scores are about, from a matrix of all vectors in order of their ids."""
    total = matrix.copy()
    for start in range(0, len(matrix), SESSION):
        part = matrix[start : start + SESSION]
        total[start : start + SESSION - 1][: len(part) - 1] += 0.3 * part[1:]
        total[start + 1 : start + SESSION][: len(part) - 1] += 0.3 * part[:-1]
    return total / np.linalg.norm(total, axis=1, keepdims=True)


def run(rows, path):
    """Measure one size, in this process."""
    name = "simsimd" if codes.SIMSIMD is not None else "numpy"
    print(f"\n{rows:,} rows of {DIM}, products by {name}")
    engine = create_engine(f"sqlite:///{path}", module=driver)
    asked = questions(rows)
    index, before = build(engine, rows)
    with engine.begin() as connection:

        def ask(vector, limit=50, **filters):
            probe = Probe("", (), Filters(**filters), vector)
            return index.search(connection, probe, limit).hits

        results = {
            f"search, {limit} wanted": measure([lambda v=v, n=limit: ask(v, n) for v in asked])
            for limit in (50, 150)
        }
        for source, share in SHARES.items():
            works = [lambda v=v, s=source: ask(v, source=s) for v in asked]
            results[f"search within {share:.0%}, 50 wanted"] = measure(works)
        works = [lambda v=v: ask(v, roles=("note",)) for v in asked]
        results["search within 1% without an index"] = measure(works)
        print(f"memory after searches: +{resident()[0] - before:.0f} MB")
        matrix = np.concatenate(
            [vectors(n, min(10_000, rows + 1 - n)) for n in range(1, rows + 1, 10_000)]
        )
        plain = measure([lambda v=v: np.argpartition(matrix @ v, -50)[-50:] for v in asked])
        exact = smoothed(matrix)
        shares = [
            len({h.passage_id - 1 for h in ask(v)} & set(np.argpartition(exact @ v, -50)[-50:]))
            for v in asked
        ]
    results |= change(index, rows)
    print(f"{'':<34}{'wall ms':>10}{'cpu ms':>10}{'ratio':>10}")
    say("plain scan, float32, best 50", *plain, plain[1])
    for what, (wall, processor) in results.items():
        say(what, wall, processor, plain[1])
    print(f"of the best 50 found: {sum(shares) / len(shares) / 50:.4f}")


def change(index, rows):
    """Times of adding and removing a thousand rows, one batch each, in the middle of 5."""
    results = {}
    fresh = vectors(12_345, CHANGES * 5)
    ids = range(rows + 1, rows + 1 + len(fresh))
    made = [linked(n, v.tobytes(), ids[-1]) for n, v in zip(ids, fresh, strict=True)]
    batches = [made[n : n + CHANGES] for n in range(0, len(made), CHANGES)]
    for what in ("add", "put again", "remove"):
        works = [
            lambda batch=batch, kept=what != "remove": index.apply(
                [VectorChange(row.passage_id, row if kept else None) for row in batch], 2
            )
            for batch in batches
        ]
        results[f"{what} {CHANGES:,} rows"] = measure(works)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=SIZES)
    parser.add_argument("--numpy", action="store_true", help="as if there were no simsimd")
    parser.add_argument("--on", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.on is not None:
        if given.numpy:
            codes.SIMSIMD = None
        run(given.rows[0], given.on)
        return
    for rows in given.rows:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "vectors.db"
            engine = create_engine(f"sqlite:///{path}", module=driver)
            CORE_METADATA.create_all(engine)
            fill(engine, rows)
            engine.dispose()
            command = [sys.executable, __file__, str(rows), "--on", str(path)]
            subprocess.run([*command, *["--numpy"] * given.numpy], check=True)


if __name__ == "__main__":
    main()
