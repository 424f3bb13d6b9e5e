"""Two connections for a long time: the store writes and checkpoints, others read all the while.

    python benchmarks/soak.py [--minutes N] [--standard-library] [--seed N]

opens the product's store, writes, changes and deletes memories without pause, reads them through
the store and from a second process, and compares every snapshot with the running count that the
same transaction wrote. With --standard-library the interpreter's own SQLite is used, which in many
distributions has the WAL-reset bug; the store has to say so and work in safe mode. Prints
snapshots that were wrong, damage found at the end, and exits with 1 if there was any.
"""

import argparse
import asyncio
import multiprocessing
import random
import sqlite3
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

COUNT = "SELECT (SELECT count(*) FROM memories), (SELECT value FROM counters WHERE key = 'rows')"


def read_from_outside(path: str, stop, wrong) -> None:
    """Open, read and close again and again, as another program does."""
    while not stop.is_set():
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
        try:
            for _ in range(50):
                rows, expected = connection.execute(COUNT).fetchone()
                wrong.value += rows != expected
        finally:
            connection.close()


async def write(store, until: float, chance: random.Random, done: dict[str, int]) -> None:
    from sqlalchemy import text
    from store_kit import add_memories, memory_row

    def step(connection, first: int, size: int) -> None:
        words = [f"number {n} " * chance.randrange(1, 400) for n in range(first, first + size)]
        add = [memory_row(n, content) for n, content in enumerate(words, first)]
        add_memories(*add)(connection)
        gone = connection.execute(
            text("DELETE FROM memories WHERE id IN (SELECT id FROM memories ORDER BY id LIMIT :n)"),
            {"n": chance.randrange(size * 2) if first > 2000 else 0},
        ).rowcount
        connection.execute(
            text("UPDATE counters SET value = value + :by WHERE key = 'rows'"), {"by": size - gone}
        )

    first = 0
    while time.monotonic() < until:
        size = chance.randrange(1, 60)
        await store.write(partial(step, first=first, size=size), durable=chance.random() < 0.1)
        first += size
        done["writes"] += 1
        if chance.random() < 0.05:
            done["emptied"] += (await store.checkpoint()).emptied


async def read(store, until: float, done: dict[str, int]) -> None:
    while time.monotonic() < until:
        rows, expected = await store.read(lambda c: c.exec_driver_sql(COUNT).one())
        done["reads"] += 1
        done["wrong"] += rows != expected
        await asyncio.sleep(0.001)


async def soak(folder: Path, options: argparse.Namespace) -> dict[str, object]:
    from store_kit import opened

    from cloxy_core.store.checks import ContentCheck, FileCheck

    done = {"writes": 0, "emptied": 0, "reads": 0, "wrong": 0}
    processes = multiprocessing.get_context("spawn")
    stop, wrong = processes.Event(), processes.Value("l", 0)
    async with opened(folder) as store:
        await store.write(lambda c: c.exec_driver_sql("INSERT INTO counters VALUES ('rows', 0)"))
        facts = store.facts()
        reader = processes.Process(target=read_from_outside, args=(str(facts.path), stop, wrong))
        reader.start()
        until = time.monotonic() + options.minutes * 60
        await asyncio.gather(
            write(store, until, random.Random(options.seed), done),
            *(read(store, until, done) for _ in range(2)),
        )
        stop.set()
        reader.join()
        findings = [*await FileCheck(store).run(), *await ContentCheck(store, after=0).run()]
    return {
        "SQLite": f"{facts.library.version_text}, safe mode {facts.safe_mode}",
        "says so": [warning for warning in facts.warnings if "WAL-reset" in warning],
        **done,
        "wrong outside": wrong.value + abs(reader.exitcode or 0),
        "damage": [finding.message for finding in findings if finding.severity != "ok"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--standard-library", action="store_true")
    parser.add_argument("--seed", type=int, default=20_260_729)
    options = parser.parse_args()
    if options.standard_library:
        # As if it were not installed; the product then takes the interpreter's own.
        sys.modules["pysqlite3"] = None
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "store"))
    with tempfile.TemporaryDirectory() as scratch:
        found = asyncio.run(soak(Path(scratch) / "d", options))
        path = Path(scratch) / "d" / "memory.db"
        whole = sqlite3.connect(path).execute("PRAGMA integrity_check").fetchall()
    for name, value in {**found, "integrity": whole[0][0], "seed": options.seed}.items():
        print(f"{name}: {value}")
    bad = found["wrong"] or found["wrong outside"] or found["damage"] or whole != [("ok",)]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
