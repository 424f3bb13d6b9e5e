"""Writes numbered memories with their passages, and prints each number once it is committed.

Arguments: folder, rows in each transaction.
"""

import asyncio
import itertools
import sys

from sqlalchemy import insert, text
from store_kit import memory_row, opened, passage_row

from cloxy_hookspecs.tables import memories, passages

folder, size = sys.argv[1], int(sys.argv[2])


def add(connection, first):
    rows = [memory_row(n, f"text number {n}") for n in range(first, first + size)]
    connection.execute(insert(memories), rows)
    highest = connection.execute(text("SELECT max(id) FROM memories")).scalar()
    ids = range(highest - size + 1, highest + 1)
    connection.execute(insert(passages), [passage_row(identifier) for identifier in ids])
    connection.execute(
        text("INSERT OR REPLACE INTO counters VALUES ('offset', :end)"), {"end": first + size}
    )


async def run():
    async with opened(folder) as store:
        start = await store.read(
            lambda c: c.execute(text("SELECT value FROM counters WHERE key = 'offset'")).scalar()
        )
        for first in itertools.count(int(start or 0), size):
            await store.write(lambda c, first=first: add(c, first), durable=first % 3 == 0)
            print(first + size, flush=True)


asyncio.run(run())
