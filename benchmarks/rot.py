"""Bytes that rot on disk: what the checks find, and whether wrong text is served as right.

    python benchmarks/rot.py [--seed N] [--share F]

builds a database with the real engine, damages copies of it (single bits, zeroed pages, torn
sectors, truncations; --share scales their numbers), opens each with the engine, runs its checks,
and recalls. A bit that no table reads back differently (but for letter case in the index's own copy
of the words) is counted apart.
Exits with 1 if a damage that matters stayed unseen more often than the bar allows, or if a recalled
text was not the stored one.
"""

import argparse
import logging
import random
import sqlite3
import sys
import tempfile
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "ingest"))
from ingest_support import Server
from session_lines import lines, turns

from cloxy_hookspecs import CloxyError, Query

PAGE = 4096
SECTOR = 512
SESSIONS = 40
NOW = 1_790_000_000_000
QUESTIONS = ("cache", "queue port", "token flag", "lantern", "number 17")
KINDS = {"single bits": 200, "zeroed pages": 100, "torn sectors": 60, "truncations": 30}
BARS = {"single bits": 0.9, "zeroed pages": 1.0, "torn sectors": 0.9, "truncations": 1.0}


def flip(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def zero(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data) // PAGE) * PAGE
    data[start : start + PAGE] = bytes(PAGE)


def tear(data: bytearray, chance: random.Random) -> None:
    """A sector holds what belongs to another page."""
    at, other = chance.sample(range(len(data) // SECTOR), 2)
    data[at * SECTOR : (at + 1) * SECTOR] = data[other * SECTOR : (other + 1) * SECTOR]


def shorten(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(1, len(data)) :]


HARM: dict[str, Callable[[bytearray, random.Random], None]] = {
    "single bits": flip,
    "zeroed pages": zero,
    "torn sectors": tear,
    "truncations": shorten,
}


def build(folder: Path) -> tuple[bytes, dict[str, str]]:
    """A database at rest, and its texts by the ids that answers carry."""
    words = ["cache", "queue", "token", "port", "flag", "lantern", "migration", "socket"]
    with Server(folder) as server:
        for number in range(SESSIONS):
            stem = " ".join(random.Random(number).choices(words, k=60))
            data = lines(*turns(40, session=f"s{number}", stem=stem))
            server.write(data, name=f"s{number}.jsonl")
        server.ingest()
        texts = dict(server.rows("SELECT uid, content FROM memories"))
    return (folder / "data" / "memory.db").read_bytes(), texts


def rows_of(path: Path) -> dict[str, int] | None:
    """A hash of the rows of each table; None when they cannot be read.

    The keyword index's own copy of the words is never shown, and counts without letter case.
    """
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        text = {"fts_passages": lambda data: data.lower()}
        names = "SELECT name FROM sqlite_schema WHERE sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY 1"
        found = {}
        for (name,) in connection.execute(names).fetchall():
            if not name.startswith("ix_"):
                connection.text_factory = text.get(name, bytes)
                found[name] = hash(tuple(connection.execute(f'SELECT * FROM "{name}"')))
        return found
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    finally:
        connection.close()


def judge(folder: Path, texts: dict[str, str]) -> tuple[bool, Counter[str]]:
    """Whether the product found the damage, and what its answers were like."""
    seen: Counter[str] = Counter()
    found = False
    try:
        with Server(folder) as server:
            server.do(server.engine.checks.run())
            found = not server.engine.checks.healthy()
            for question in QUESTIONS:
                try:
                    answer = server.do(server.engine.recaller.recall(Query(question, 20, NOW)))
                except CloxyError:
                    seen["recalls refused"] += 1
                    continue
                seen["recalls answered"] += 1
                seen["recalls that left out memories"] += any("damaged" in n for n in answer.notes)
                wrong = sum(texts.get(hit.uid) != hit.content for hit in answer.hits)
                seen["wrong text served as right"] += wrong
    except CloxyError:
        found = True
        seen["did not open"] += 1
    except Exception:
        seen["unexplained errors"] += 1
        traceback.print_exc(limit=-3)
        found = True
    return found, seen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=20_260_729)
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    logging.disable()
    total: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "source"
        source.mkdir()
        good, texts = build(source)
        path = source / "data" / "memory.db"
        before = rows_of(path)
        for kind, count in KINDS.items():
            for _ in range(max(1, round(count * options.share))):
                data = bytearray(good)
                HARM[kind](data, chance)
                for left in path.parent.glob("memory.db-*"):
                    left.unlink()
                path.write_bytes(data)
                after = rows_of(path)
                unused = after == before
                found, seen = judge(source, texts)
                total += seen
                if not found and not unused:
                    missed.update(
                        name for name in before if (after or {}).get(name) != before[name]
                    )
                kinds[kind][
                    "found"
                    if found
                    else "missed, unused bytes or letter case"
                    if unused
                    else "missed"
                ] += 1
    good_enough = not total["wrong text served as right"] and not total["unexplained errors"]
    print(f"database: {len(good) // 1024} KiB, seed {options.seed}")
    for kind, counts in kinds.items():
        share = counts["found"] / max(counts["found"] + counts["missed"], 1)
        good_enough = good_enough and share >= BARS[kind]
        print(f"{kind}: {dict(counts)}, {share:.0%} of those that changed anything")
    print(f"tables of what was missed: {dict(missed)}")
    print(
        f"wrong text served as right: {total.pop('wrong text served as right', 0)}; {dict(total)}"
    )
    return 0 if good_enough else 1


if __name__ == "__main__":
    sys.exit(main())
