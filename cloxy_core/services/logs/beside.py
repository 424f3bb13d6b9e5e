"""What lies beside a database of another program, and what that says of how to read it."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloxy_hookspecs import ForeignDatabaseError

_JOURNAL_MAGIC: Final = bytes.fromhex("d9d505f920a163d7")
_COUNTER: Final = slice(24, 28)
_NO_FOLLOW: Final = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
)


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a database file and the files beside it.

    Attributes:
        identity: device and inode of the main file.
        main: its size and modification time (ns).
        wal: those of its write-ahead log; None when there is none, or an empty one.
        shared: whether the index of the log, which its users share, is there.
        journal: size and time of a rollback journal that is in use; None when there is none.
    """

    identity: tuple[int, int]
    main: tuple[int, int]
    wal: tuple[int, int] | None
    shared: bool
    journal: tuple[int, int] | None


def look_at(path: Path) -> Look:
    """Look at a database without opening it, but for the first bytes of a journal.

    Raises:
        ForeignDatabaseError: there is none, or it is no regular file.
    """
    try:
        status = os.lstat(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ForeignDatabaseError(f"{path} cannot be read: {reason}") from error
    if not stat.S_ISREG(status.st_mode):
        raise ForeignDatabaseError(f"{path} cannot be read: it is a link, or no regular file")
    wal = facts_of(beside(path, "-wal"))
    shared = facts_of(beside(path, "-shm")) is not None
    if wal is not None and wal[0] == 0 and not shared:
        wal = None
    return Look(
        (status.st_dev, status.st_ino),
        (status.st_size, status.st_mtime_ns),
        wal,
        shared,
        _journal(beside(path, "-journal")),
    )


def beside(path: Path, ending: str) -> Path:
    """The file of that ending that belongs to a database."""
    return path.with_name(path.name + ending)


def facts_of(path: Path) -> tuple[int, int] | None:
    """Size and modification time (ns) of a regular file; None when there is none."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def change_counter(path: Path) -> bytes:
    """The counter in a database's header that each change outside of a log raises.

    Raises:
        OSError: it cannot be read.
    """
    return _first_bytes(path, _COUNTER.stop)[_COUNTER]


def _journal(path: Path) -> tuple[int, int] | None:
    """Facts of a journal that holds what the main file is to be set back to."""
    facts = facts_of(path)
    if not facts or not facts[0]:
        return None
    try:
        in_use = _first_bytes(path, len(_JOURNAL_MAGIC)) == _JOURNAL_MAGIC
    except FileNotFoundError:
        return None
    except OSError:
        in_use = True
    return facts if in_use else None


def _first_bytes(path: Path, length: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | _NO_FOLLOW)
    try:
        return os.read(descriptor, length)
    finally:
        os.close(descriptor)
