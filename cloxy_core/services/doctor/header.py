"""The bytes of a database: a readable copy of a damaged one, and its list of free pages.

The format is that of sqlite.org/fileformat2.html, sections 1.3 and 1.5.
"""

import os
import shutil
import struct
from pathlib import Path
from typing import Final

from cloxy_core.runtime.paths import create_private_file
from cloxy_core.store.connections import APPLICATION_ID

MAGIC: Final = b"SQLite format 3\0"
HEADER_BYTES: Final = 100
PAGE_BYTES: Final = 4096
"""What SQLite takes unless it is told otherwise, and Cloxy never does."""

_HEADER: Final = struct.Struct(">16sHBBBBBB12I20xII")


def needs_mending(database: Path) -> bool:
    """Whether SQLite would refuse the file as a whole."""
    return not _has_magic(database) or _missing_bytes(database) > 0


def mended_copy(database: Path, target: Path, user_version: int) -> None:
    """Copy a database with a new header where the old is none, and zeros for a missing end.

    Args:
        database: the damaged file; it is only read.
        target: the copy; it must not exist.
        user_version: schema number for a new header.
    """
    os.close(create_private_file(target))
    shutil.copyfile(database, target)
    wal = database.with_name(database.name + "-wal")
    if wal.exists():
        copy = target.with_name(target.name + "-wal")
        os.close(create_private_file(copy))
        shutil.copyfile(wal, copy)
    with target.open("r+b") as file:
        if not _has_magic(target):
            pages = max(1, target.stat().st_size // PAGE_BYTES)
            file.write(_new_header(pages, user_version))
            file.truncate(max(pages * PAGE_BYTES, PAGE_BYTES))
        elif missing := _missing_bytes(target):
            size = target.stat().st_size
            # Half a page would be read as one with rows of which the rest is zero.
            file.truncate(size // PAGE_BYTES * PAGE_BYTES)
            file.truncate(size + missing)


def free_list_faults(database: Path) -> list[str]:
    """What is wrong with the list of free pages, which not every SQLite checks by itself.

    A write that takes a page from a damaged list fails, or overwrites a page that is in use.

    Args:
        database: a file without a log beside it that has anything in it.
    """
    with database.open("rb") as file:
        first = file.read(HEADER_BYTES)
        page, noted = struct.unpack_from(">II", first, 32)
        (size,) = struct.unpack_from(">H", first, 16)
        size = 65_536 if size == 1 else size
        last = database.stat().st_size // size
        found: set[int] = set()
        while page:
            if not 1 < page <= last or page in found:
                return [f"the list of free pages leads to page {page}, which cannot be free"]
            found.add(page)
            file.seek((page - 1) * size)
            data = file.read(size)
            following, count = struct.unpack_from(">II", data)
            if count > size // 4 - 2:
                return [f"the list of free pages is damaged on page {page}"]
            free = struct.unpack_from(f">{count}I", data, 8)
            if any(not 1 < number <= last or number in found for number in free):
                return [f"the list of free pages on page {page} names pages that cannot be free"]
            found.update(free)
            page = following
    wrong = len(found) != noted
    return [f"{len(found)} pages are free, {noted} were noted"] if wrong else []


def _has_magic(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(HEADER_BYTES).startswith(MAGIC)


def _missing_bytes(path: Path) -> int:
    """How many bytes the file is shorter than its header says."""
    with path.open("rb") as file:
        first = file.read(HEADER_BYTES)
    if len(first) < HEADER_BYTES:
        return 0
    (size,) = struct.unpack_from(">H", first, 16)
    (pages,) = struct.unpack_from(">I", first, 28)
    page = 65_536 if size == 1 else size
    return max(0, pages * page - path.stat().st_size) if page >= 512 else 0


def _new_header(pages: int, user_version: int) -> bytes:
    fields = [
        *(1, pages, 0, 0),  # change counter, size, no free pages
        *(1, 4, 0, 0),  # schema cookie and format, default cache, no auto-vacuum
        *(1, user_version, 0, APPLICATION_ID),  # UTF-8
    ]
    # In a write-ahead log; the three constants are the fractions of payload.
    return _HEADER.pack(MAGIC, PAGE_BYTES, 2, 2, 0, 64, 32, 32, *fields, 1, 3_040_000)
