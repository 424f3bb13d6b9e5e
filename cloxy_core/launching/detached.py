"""A process of its own: in no session, tree or pipe of whoever started it."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

# Of the Windows headers; the constants of `subprocess` are there on Windows alone.
DETACHED_PROCESS: Final = 0x00000008
CREATE_NEW_PROCESS_GROUP: Final = 0x00000200
CREATE_NO_WINDOW: Final = 0x08000000

# The process in between ends at once, so that the server is nobody's child: editors end their
# helpers with all that descends from them.
_BETWEEN: Final = """
import os, sys
child = os.fork()
if child:
    os.write(1, b"%d" % child)
    os._exit(0)
os.dup2(2, 1)
os.execv(sys.argv[1], sys.argv[1:])
"""
_SECONDS: Final = 30.0


def start_detached(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, log: int
) -> int:
    """Start a program that outlives this one.

    Args:
        command: program by its absolute path, and its arguments.
        environment: the whole environment of it.
        folder: its working directory.
        log: descriptor that both of its streams go to.

    Returns:
        Process id.

    Raises:
        OSError: it cannot be started.
    """
    options = _options(environment, folder, log)
    if os.name == "nt":
        return subprocess.Popen(list(command), stdout=log, **options).pid  # noqa: S603 - ours
    between = [sys.executable, "-I", "-S", "-c", _BETWEEN, *command]
    try:
        told = subprocess.run(  # noqa: S603 - our own words
            between, stdout=subprocess.PIPE, check=True, timeout=_SECONDS, **options
        )
        return int(told.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        raise OSError(f"no process could be started: {error}") from error


def _options(environment: Mapping[str, str], folder: Path, log: int) -> dict[str, Any]:
    common = {
        "stdin": subprocess.DEVNULL,
        "stderr": log,
        "env": dict(environment),
        "cwd": folder,
        "close_fds": True,
    }
    if os.name == "nt":
        flags = DETACHED_PROCESS | CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP
        return {**common, "creationflags": flags}
    return {**common, "start_new_session": True}


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody asks about does not."""
    if os.name == "nt":
        return True  # a signal would end it there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return True
    return status.rpartition(b")")[2].split()[:1] != [b"Z"]
