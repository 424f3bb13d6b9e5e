"""What a file at the database's place is, found out without changing a byte of it or beside it."""

import os
import re
import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloxy_core.store.connections import APPLICATION_ID, connect
from cloxy_core.store.library import driver
from cloxy_hookspecs.errors import ForeignDatabaseError, IntegrityError, MigrationError, StoreError

SIDE_FILES: Final = ("-wal", "-shm", "-journal")
_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_USER_VERSION_AT: Final = 60
_APPLICATION_ID_AT: Final = 68
_WAL_HEADER: Final = struct.Struct(">IIIIIIII")
_FRAME_HEADER: Final = struct.Struct(">IIIIII")
_BLOCK_BYTES: Final = 1 << 20
_PATTERN_BYTES: Final = 64
_CREATES_CHUNKS: Final = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?[\"'`\[]?chunks\b")
_WAL_MAGIC: Final = frozenset({0x377F0682, 0x377F0683})


@dataclass(frozen=True, slots=True)
class Header:
    """The two numbers in a database's header that say whose it is.

    Attributes:
        application_id: the program that it belongs to.
        user_version: the number of its schema.
    """

    application_id: int
    user_version: int


def side_files(path: Path) -> tuple[Path, ...]:
    """The files that SQLite keeps beside a database."""
    return tuple(path.with_name(path.name + suffix) for suffix in SIDE_FILES)


def check_file(path: Path, known_version: int) -> bool:
    """Decide whether a file may be opened as the live database.

    Nothing is written, no lock is taken and no side file is made. No connection of this process
    may have the file open, since closing a descriptor would drop its locks.

    Args:
        path: The database.
        known_version: The newest schema number that this program knows.

    Returns:
        False when there is no file yet.

    Raises:
        ForeignDatabaseError: The file belongs to the original Cloxy or to another program.
        IntegrityError: The file is no SQLite database.
        MigrationError: A newer Cloxy wrote it.
        StoreError: It, or a file beside it, is a link or no regular file of this user.
    """
    for candidate in (path, *side_files(path)):
        _check_kind(candidate)
    if not path.exists():
        _refuse_orphans(path)
        return False
    header = read_header(path)
    if header.application_id != APPLICATION_ID:
        raise _foreign(path)
    if header.user_version > known_version:
        raise newer_error(path, header.user_version, known_version)
    return True


def is_original(path: Path) -> bool:
    """Tell whether a file is a database of Cloxy 2.0 to 5.1, as far as its tables say so.

    As `check_file`, it changes nothing, and no connection of this process may have it open.

    Raises:
        IntegrityError: The file is no SQLite database.
        MigrationError: It has a number, which no version up to 5.1 gave.
        StoreError: It, or a file beside it, is a link or no regular file of this user.
    """
    for candidate in (path, *side_files(path)):
        _check_kind(candidate)
    if not path.exists():
        return False
    header = read_header(path)
    if header.application_id != 0 or not _has_chunks_table(path):
        return False
    if header.user_version:
        raise MigrationError(
            f"{path} looks like a database of Cloxy 5 or earlier, but has the number"
            f" {header.user_version}, which none of them gave",
            hint="upgrade Cloxy; the file was left untouched",
        )
    return True


def newer_error(path: Path, found: int, known: int) -> MigrationError:
    """The refusal of a database that a newer Cloxy wrote."""
    return MigrationError(
        f"{path} was written by a newer Cloxy (schema {found}, this one knows {known})",
        hint="upgrade Cloxy; the file was left untouched",
    )


def read_header(path: Path) -> Header:
    """Read the header, of the write-ahead log where that holds a newer one.

    Raises:
        IntegrityError: The file is no SQLite database.
    """
    with path.open("rb") as file:
        first = file.read(_HEADER_BYTES)
    if len(first) < _HEADER_BYTES or not first.startswith(_MAGIC):
        raise IntegrityError(
            f"{path} is not an SQLite database, or its beginning is damaged",
            hint="run `cloxy doctor --repair`; it keeps the file and makes a new one of the rest",
        )
    wal = path.with_name(path.name + "-wal")
    newest = _first_page_in_wal(wal) if wal.exists() else None
    return _parse(newest or first)


def _parse(page: bytes) -> Header:
    (user_version,) = struct.unpack_from(">i", page, _USER_VERSION_AT)
    (application_id,) = struct.unpack_from(">I", page, _APPLICATION_ID_AT)
    return Header(application_id, user_version)


def _first_page_in_wal(wal: Path) -> bytes | None:
    """The beginning of the last committed page 1 in a write-ahead log, if it holds one.

    Frames of an earlier round carry other salts and end the search. Checksums are not computed:
    a torn frame can only be the last one, whose commit mark is then not reached.
    """
    with wal.open("rb") as file:
        head = file.read(_WAL_HEADER.size)
        if len(head) < _WAL_HEADER.size:
            return None
        magic, _, page_size, _, *salts, _, _ = _WAL_HEADER.unpack(head)
        if magic not in _WAL_MAGIC:
            return None
        pending: bytes | None = None
        committed: bytes | None = None
        while len(frame := file.read(_FRAME_HEADER.size)) == _FRAME_HEADER.size:
            page_number, size_after_commit, *frame_salts, _, _ = _FRAME_HEADER.unpack(frame)
            if frame_salts != salts:
                break
            page_start = file.tell()
            if page_number == 1:
                pending = file.read(_HEADER_BYTES)
            if size_after_commit:
                committed = pending or committed
            file.seek(page_start + page_size)
        return committed if committed and len(committed) == _HEADER_BYTES else None


def _check_kind(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise StoreError(
            f"{path} is a link to {path.readlink()}",
            hint="put the file itself there; set CLOXY_DATA_DIR to keep data on another disk",
        )
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{path} is not a regular file", hint="move it away")
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        raise StoreError(
            f"{path} belongs to another user (uid {found.st_uid})",
            hint="give it to the user that runs Cloxy, or move it away",
        )


def _refuse_orphans(path: Path) -> None:
    """Refuse to start an empty database beside the log of one that was taken away."""
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and wal.stat().st_size > 0:
        raise IntegrityError(
            f"{path} is missing, but {wal.name} with its newest changes is there",
            hint=f"put {path.name} back beside it, or move {wal.name} away to start anew",
        )


def _foreign(path: Path) -> ForeignDatabaseError:
    if _has_chunks_table(path):
        return ForeignDatabaseError(
            f"{path} is a database of Cloxy 5 or earlier, which has not been upgraded yet",
            hint="run `cloxy start` once, which upgrades it; so far it was left untouched",
        )
    return ForeignDatabaseError(
        f"{path} is a database of another program",
        hint="move it away, or set CLOXY_DATA_DIR to another folder; it was left untouched",
    )


def _has_chunks_table(path: Path) -> bool:
    """Tell whether the table of the original is there; a damaged file counts as without.

    Opened as immutable: no lock, no side file, and what is only in the log is not seen.
    """
    if _log_creates_chunks(path.with_name(path.name + "-wal")):
        return True
    connection = connect(path, "mode=ro", "immutable=1")
    try:
        found = connection.execute(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'chunks'"
        ).fetchone()
    except driver.DatabaseError:
        return False
    finally:
        connection.close()
    return found is not None


def _log_creates_chunks(wal: Path) -> bool:
    """Tell whether a write-ahead log holds the definition of the original's table."""
    if not wal.exists():
        return False
    before = b""
    with wal.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            if _CREATES_CHUNKS.search(before + block):
                return True
            before = block[-_PATTERN_BYTES:]
    return False
