"""A command in one fork after another, each killed one step later than the one before.

Arguments: the folder of a memory, a folder for copies of it, how many steps are between two kills,
and the command; `{}` in it stands for the folder of the copy. A step is a file that is opened,
renamed, removed, linked or synced, a connection, or a word of progress. Prints how each ended.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

from cloxy_core.cli import backup, main
from cloxy_core.cli.doctor_text import ProgressLine
from cloxy_core.services.keeping import copying, restoring

EVENTS = {"open", "os.rename", "os.remove", "os.link", "os.mkdir", "sqlite3.connect"}
assert backup
assert copying
assert restoring


def run(copy, at, command):
    os.environ["CLOXY_DATA_DIR"] = str(copy / "data")
    steps = 0

    def count(*_):
        nonlocal steps
        steps += 1
        if steps == at:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event, arguments):
        if event in EVENTS and str(copy) in str(arguments[0]):
            count()

    told = ProgressLine.tell
    ProgressLine.tell = lambda self, text: (count(), told(self, text))
    synced = os.fsync
    os.fsync = lambda descriptor: (count(), synced(descriptor), count())
    sys.addaudithook(hook)
    main.main([part.format(copy) for part in command])


def each(source, place, stride, command):
    at = 1
    while True:
        copy = place / str(at)
        shutil.copytree(source, copy)
        process = os.fork()
        if process == 0:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            run(copy, at, command)
            os._exit(9)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print(at, code, flush=True)
        if code != -signal.SIGKILL:
            return
        at += stride


each(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
