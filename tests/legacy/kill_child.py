"""An upgrade in one fork after another, each killed one step later than the one before.

Arguments: a data directory with an old database, a folder for copies of it, how many steps are
between two kills. A step is a file that is opened, renamed, removed or synced, a statement, a
commit, or a word of progress. Prints the name of each copy and how it ended.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

from legacy.legacy_kit import upgrade
from sqlalchemy import Engine, event

EVENTS = {"open", "os.rename", "os.remove", "sqlite3.connect"}


def run(copy, at):
    steps = 0

    def count(*_):
        nonlocal steps
        steps += 1
        if steps == at:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(name, arguments):
        if name in EVENTS and str(copy) in str(arguments[0]):
            count()

    synced = os.fsync
    os.fsync = lambda descriptor: (count(), synced(descriptor), count())
    for name in ("before_cursor_execute", "commit", "begin"):
        event.listen(Engine, name, count)
    sys.addaudithook(hook)
    upgrade(copy, count)


def each(source, place, stride):
    at = 1
    while True:
        copy = place / str(at)
        shutil.copytree(source, copy)
        process = os.fork()
        if process == 0:
            run(copy, at)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print(at, code, flush=True)
        if code != -signal.SIGKILL:
            return
        at += stride


each(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
