"""Private copies of databases of other programs, for as long as they are read."""

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cloxy_core.runtime.paths import PRIVATE_DIRECTORY, PRIVATE_FILE
from cloxy_core.services.logs.beside import Look, beside, look_at
from cloxy_hookspecs import ForeignDatabaseError

COPIES: Final = "foreign-copies"
"""Folder of private copies, below the data directory."""

COPY_LIMIT: Final = 256 << 20
_TRIES: Final = 3
_ROOM: Final = 2
_BLOCK: Final = 1 << 20
_FLAGS: Final = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NONBLOCK", 0)
)


@contextlib.contextmanager
def private_copy(path: Path, look: Look, folder: Path) -> Iterator[Path]:
    """A copy of a database with its log or journal; removed at the end of the block.

    Args:
        path: the database.
        look: what was seen beside it.
        folder: of our own, for copies.

    Raises:
        ForeignDatabaseError: it is too large to be copied, changes all the time, or cannot be read.
    """
    _require_small(path, look)
    place: Path | None = None
    try:
        try:
            _make_private(folder)
            place = Path(tempfile.mkdtemp(prefix="copy-", dir=folder))
            copy = _copy(path, look, place)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ForeignDatabaseError(f"{path} cannot be copied to be read: {reason}") from error
        yield copy
    finally:
        if place is not None:
            shutil.rmtree(place, ignore_errors=True)


def remove_copies(folder: Path) -> None:
    """Remove what a process that was killed left; nobody else may use the folder now."""
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise ForeignDatabaseError(f"{folder} is no folder", hint="remove it")


def _copy(path: Path, look: Look, place: Path) -> Path:
    """Copy until nothing changed meanwhile."""
    copy = place / "copy.db"
    for _try in range(_TRIES):
        _require_small(path, look)
        _require_room(place, look)
        try:
            _copy_file(path, copy)
            for ending, facts in (("-wal", look.wal), ("-journal", look.journal)):
                beside(copy, ending).unlink(missing_ok=True)
                if facts is not None:
                    _copy_file(beside(path, ending), beside(copy, ending))
        except FileNotFoundError:
            look = look_at(path)
            continue
        now = look_at(path)
        if now == look:
            return copy
        look = now
    raise ForeignDatabaseError(
        f"{path} cannot be read: it changed while it was copied", hint="it is tried again"
    )


def _require_small(path: Path, look: Look) -> None:
    size = _size(look)
    if size > COPY_LIMIT:
        raise ForeignDatabaseError(
            f"{path} has to be copied to be read, and is too large for that"
            f" ({size >> 20:,} MB; the limit is {COPY_LIMIT >> 20} MB)",
            hint="start the program that it belongs to, or end it properly",
        )


def _require_room(place: Path, look: Look) -> None:
    if shutil.disk_usage(place).free < _ROOM * _size(look):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(place))


def _size(look: Look) -> int:
    sizes = (look.main, look.wal or (0, 0), look.journal or (0, 0))
    return sum(size for size, _time in sizes)


def _copy_file(source: Path, target: Path) -> None:
    reading = os.open(source, os.O_RDONLY | _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(reading).st_mode):
            raise ForeignDatabaseError(f"{source} is no regular file")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _FLAGS
        writing = os.open(target, flags, PRIVATE_FILE)
        try:
            while data := os.read(reading, _BLOCK):
                os.write(writing, data)
        finally:
            os.close(writing)
    finally:
        os.close(reading)
