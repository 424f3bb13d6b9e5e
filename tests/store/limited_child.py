"""Writes under a growing limit of the size of files, each time in a fork.

Argument: folder. Prints the limit, which is the name of a folder in it, how many memories were
acknowledged, and the error.
"""

import asyncio
import os
import resource
import sys
from pathlib import Path

from store_kit import add_memories, memory_row, opened

from cloxy_hookspecs.errors import StoreFullError


async def write(folder, tell):
    async with opened(folder) as store:
        for number in range(60):
            await store.write(add_memories(memory_row(number, "x" * 3000)), durable=number % 2 == 0)
            os.write(tell, b".")


def run(folder, limit, tell):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        asyncio.run(write(folder, tell))
    except StoreFullError:
        os._exit(3)
    os._exit(0)


def main(root):
    for pages in [*range(1, 60, 3), *range(60, 200, 10)]:
        limit = pages * 4096 + 512 * (pages % 3)
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(reading)
            run(root / str(limit), limit, writing)
        os.close(writing)
        acknowledged = 0
        while block := os.read(reading, 4096):
            acknowledged += len(block)
        os.close(reading)
        ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        names = {0: "none", 3: "StoreFullError"}
        print(limit, acknowledged, names.get(ended, f"exit-{ended}"), flush=True)


main(Path(sys.argv[1]))
