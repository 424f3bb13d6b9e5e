"""Keeping another program from taking its log away between our look at it and our reading.

SQLite would make a new log for a database that lost it in this moment, and that would be a file
of ours beside a database of others. Where the system has locks that belong to an open file, one
like every reader's is held; elsewhere (macOS, Windows) the moment stays.
"""

import contextlib
import os
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

if sys.platform == "win32":
    _LOCK: Final = None
else:
    import fcntl

    _LOCK: Final = getattr(fcntl, "F_OFD_SETLK", None)
# Where SQLite's own locks lie in a database file.
_PENDING: Final = 0x40000000
_SHARED: Final = (_PENDING + 2, 510)
_STEP: Final = 0.02


class Busy(Exception):
    """Somebody has locked the database for himself."""


@contextlib.contextmanager
def held_open(path: Path, seconds: float) -> Iterator[None]:
    """Hold a reader's lock on a database for the block.

    The file must not be opened and closed by anyone else in this process meanwhile, which would
    end the locks of its connections.

    Args:
        path: the database.
        seconds: how long to wait for somebody who has it for himself.

    Raises:
        Busy: it stays locked.
        OSError: it cannot be opened.
    """
    if _LOCK is None:
        yield
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        _lock(descriptor, seconds)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, seconds: float) -> None:
    assert sys.platform != "win32"
    until = time.monotonic() + seconds
    while True:
        try:
            # As readers of SQLite do: who waits for all of them to go comes first.
            _set(descriptor, fcntl.F_RDLCK, _PENDING, 1)
            try:
                _set(descriptor, fcntl.F_RDLCK, *_SHARED)
            finally:
                _set(descriptor, fcntl.F_UNLCK, _PENDING, 1)
        except (BlockingIOError, PermissionError) as error:
            if time.monotonic() >= until:
                raise Busy from error
            time.sleep(_STEP)
        except OSError:
            return  # a file system without such locks
        else:
            return


def _set(descriptor: int, kind: int, start: int, length: int) -> None:
    assert sys.platform != "win32"
    assert _LOCK is not None
    fcntl.fcntl(descriptor, _LOCK, struct.pack("hhqqi4x", kind, os.SEEK_SET, start, length, 0))
