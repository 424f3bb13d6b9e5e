"""A read that never ends, while others write: how far the write-ahead log grows.

    python benchmarks/endless_reader.py [--seconds N] [--inside]

holds a read transaction open for N seconds, from another process or, with --inside, through the
store itself, while memories are written as fast as they are taken and the log is emptied every
second. Prints the log's peak (bar: 256 MiB), what `status` says, and how long after the reader's
end the log is below 16 MiB (bar: 60 s).
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "store"))
from sqlalchemy import text
from store_kit import add_memories, memory_row, opened

from cloxy_hookspecs.errors import StoreBusyError, StoreError

MEBIBYTE = 1024 * 1024
OUTSIDE = """
import sqlite3, sys
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, isolation_level=None)
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM memories").fetchall()
print("reading", flush=True)
sys.stdin.read()
"""
SLOW = """
    WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n, memories
"""


def endless(connection):
    return connection.execute(text(SLOW)).scalar()


async def write(store, until, seen):
    number = 0
    while time.monotonic() < until:
        rows = [memory_row(n, f"text {n} " * 200) for n in range(number, number + 100)]
        try:
            await store.write(add_memories(*rows))
        except StoreBusyError:
            seen["refused"] += 1
            await asyncio.sleep(0.1)
        else:
            number += 100
            seen["rows"] = number
        facts = store.facts()
        seen["peak"] = max(seen["peak"], facts.log_size)
        seen["warnings"].update(w.partition("because")[2] for w in facts.warnings if "log" in w)


async def empty(store, until, seen):
    while time.monotonic() < until:
        await asyncio.sleep(1)
        seen["ended"] += (await store.checkpoint()).ended_reads


async def hold_inside(store):
    try:
        await store.read(endless)
    except StoreError as error:
        return str(error)
    return "ended by itself"


async def run(folder, options):
    seen = {"rows": 0, "refused": 0, "peak": 0, "warnings": set(), "ended": ()}
    async with opened(folder) as store:
        await store.write(add_memories(memory_row("first")))
        until = time.monotonic() + options.seconds
        if options.inside:
            reading = asyncio.create_task(hold_inside(store))
            await asyncio.sleep(0.2)
        else:
            command = [sys.executable, "-c", OUTSIDE, str(store.facts().path)]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            process = subprocess.Popen(command, **pipes)  # noqa: ASYNC220 - nothing else runs yet
            process.stdout.readline()
        await asyncio.gather(write(store, until, seen), empty(store, until, seen))
        began = time.monotonic()
        if options.inside:
            print(f"the reader was told: {await reading}")
        else:
            process.communicate()
        while store.facts().log_size >= 16 * MEBIBYTE:
            await store.checkpoint()
            await asyncio.sleep(0.05)
        await store.write(add_memories(memory_row("last")))
        seen["back"] = time.monotonic() - began
    return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--inside", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        seen = asyncio.run(run(Path(scratch) / "d", options))
    print(f"rows written: {seen['rows']}, writes refused meanwhile: {seen['refused']}")
    print(f"log at its peak: {seen['peak'] / MEBIBYTE:.0f} MiB; reads ended: {list(seen['ended'])}")
    print(f"status says: {sorted(seen['warnings'])[-1:]}")
    print(f"below 16 MiB and writable {seen['back']:.1f} s after the reader's end")
    return 0 if seen["peak"] < 256 * MEBIBYTE and seen["back"] < 60 else 1


if __name__ == "__main__":
    sys.exit(main())
