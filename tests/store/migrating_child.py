"""Opens stores with migrations, each in a fork that kills itself one statement later.

Arguments: folder, number of migrations, whether the first step has been run before. Prints the
number of each fork, which is the name of its folder, and how it ended.
"""

import asyncio
import itertools
import os
import signal
import sys
from pathlib import Path

from sqlalchemy import Engine, event
from store_kit import opened
from two_steps import STEPS, add_project


def die_at(fatal):
    """Kill this process at one of the statements, begins and commits to come."""
    numbers = itertools.count(1)

    def count(*_):
        if next(numbers) == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    for name in ("before_cursor_execute", "commit", "begin"):
        event.listen(Engine, name, count)


async def prepare(folder):
    async with opened(folder, STEPS[:1]) as store:
        await add_project(store)


async def migrate(folder, steps):
    async with opened(folder, STEPS[:steps]):
        pass


def main(root, steps, prepared):
    for fatal in itertools.count(1):
        folder = root / str(fatal)
        process = os.fork()
        if process == 0:
            if prepared:
                asyncio.run(prepare(folder))
            die_at(fatal)
            asyncio.run(migrate(folder, steps))
            os._exit(0)
        ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print(fatal, ended, flush=True)
        if ended == 0:
            return


main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1")
