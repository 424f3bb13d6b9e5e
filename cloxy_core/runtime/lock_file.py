"""The file behind the lock of a data directory: how it is locked, and who has it.

Imports only the standard library, so that thin commands can look at it.
"""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK_FILE: Final = "server.lock"

_INFORMATION_LIMIT: Final = 4096
# Far behind the text, since a locked byte cannot be read by others there.
_WINDOWS_BYTE: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class LockHolder:
    """Who has the lock, for messages only: the lock itself is the kernel's.

    Attributes:
        pid: process id.
        version: version of Cloxy.
        url: where the server listens; empty when it does not.
        started_at: milliseconds since the epoch.
    """

    pid: int
    version: str
    url: str
    started_at: int


def read_holder(path: Path) -> LockHolder | None:
    """Who last wrote into a lock file, or None when that cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    try:
        return holder_in(descriptor)
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether a process has the lock at this moment.

    It is tried, so ask only when somebody is likely to have it: whoever wants it in the instant
    of the trial is refused.
    """
    if sys.platform == "win32":
        return True  # a trial there would wait
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def holder_in(descriptor: int) -> LockHolder | None:
    """Who wrote into an open lock file, or None when that cannot be read."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        found = json.loads(os.read(descriptor, _INFORMATION_LIMIT))
        return LockHolder(
            pid=int(found["pid"]),
            version=str(found["version"]),
            url=str(found["url"]),
            started_at=int(found["started_at"]),
        )
    except (ValueError, TypeError, KeyError):
        return None


def try_lock(descriptor: int) -> bool:
    """Take the lock on an open file if nobody has it."""
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _WINDOWS_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            # flock, not lockf: a POSIX lock would vanish when any descriptor of the file closes.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
