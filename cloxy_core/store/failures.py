"""SQLite's error codes, as errors that say what to do."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Final

from sqlalchemy.exc import DBAPIError

from cloxy_core.store.library import driver
from cloxy_hookspecs.errors import (
    CloxyError,
    IntegrityError,
    StoreBusyError,
    StoreError,
    StoreFullError,
)

_FULL_ERRNOS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_READ_ONLY_ERRNOS: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_BUSY: Final = frozenset({5, 6})
_READ_ONLY: Final = 8
_INTERRUPTED: Final = 9
_IO: Final = 10
_DAMAGED: Final = frozenset({11, 26})
_FULL: Final = 13
_UNDECODABLE: Final = "decode to UTF-8"
_CANNOT_OPEN: Final = 14
# Of the I/O errors, those of writing: a quota, a file-size limit, a disk that fails. Not every
# build of the library tells them apart.
_IO_WRITES: Final = frozenset({3, 4, 5, 6, 18, 19, 21})


class QueryTimeLimit(StoreError):
    """A statement took longer than its caller allowed, and was stopped."""

    code: ClassVar[str] = "query_time_limit"
    http_status: ClassVar[int] = 503
    retryable: ClassVar[bool] = True


def error_code(error: BaseException) -> int | None:
    """The extended SQLite code of a driver's error, or of SQLAlchemy's around it."""
    original = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(original, "sqlite_errorcode", None)
    return code if isinstance(code, int) else None


def was_interrupted(error: BaseException) -> bool:
    """Tell whether a statement was stopped by a progress handler or by `interrupt`."""
    code = error_code(error)
    return code is not None and code & 0xFF == _INTERRUPTED


def is_undecodable(error: BaseException) -> bool:
    """Tell whether a text that was read is no text, which only damage can bring about."""
    original = error.orig if isinstance(error, DBAPIError) else error
    return isinstance(original, driver.OperationalError) and _UNDECODABLE in str(original)


def store_error(error: BaseException, path: Path, *, writing: bool) -> CloxyError | None:
    """The error that people see for a driver's error; None when it is not about the store.

    A broken constraint, or SQL that does not compile, is the fault of whoever wrote the
    statement and stays what it is.

    Args:
        error: The driver's error, or SQLAlchemy's around it.
        path: The database, for the words.
        writing: What an I/O error is about when the library does not say.
    """
    if is_undecodable(error):
        return _damaged(path)
    code = error_code(error)
    if code is None:
        return None
    primary, detail = code & 0xFF, code >> 8
    if primary in _BUSY:
        return StoreBusyError(
            f"another program keeps {path} locked", hint="close it, then try again"
        )
    if primary == _READ_ONLY or (primary == _IO and writing and _is_read_only(path)):
        return _read_only(path)
    if primary == _FULL or (primary == _IO and (detail in _IO_WRITES or (writing and not detail))):
        return _full(path)
    if primary in _DAMAGED:
        return _damaged(path)
    if primary in {_IO, _CANNOT_OPEN}:
        return _unreadable(path)
    if primary == _INTERRUPTED:
        return QueryTimeLimit("a query was stopped because it took too long")
    return None


def _is_read_only(path: Path) -> bool:
    return path.exists() and not os.access(path, os.W_OK)


def file_error(error: OSError, path: Path) -> CloxyError | None:
    """The error that people see when a file of the data directory cannot be made or changed."""
    if error.errno in _FULL_ERRNOS:
        return _full(path)
    if error.errno in _READ_ONLY_ERRNOS:
        return _read_only(path)
    if error.errno == errno.EIO:
        return _unreadable(path)
    return None


@contextmanager
def explained(path: Path, *, writing: bool = False, files: bool = False) -> Iterator[None]:
    """Turn a driver's errors inside the block into the store's own, keeping the cause.

    Args:
        path: The database, for the words.
        writing: Whether the block may write.
        files: Whether errors of plain file work are about the database too.
    """
    try:
        yield
    except (DBAPIError, driver.Error) as error:
        known = store_error(error, path, writing=writing)
        if known is None:
            raise
        raise known from error
    except OSError as error:
        known = file_error(error, path) if files else None
        if known is None:
            raise
        raise known from error


def _full(path: Path) -> StoreFullError:
    return StoreFullError(
        f"{path} cannot grow: the disk or a quota is full, a size limit reached, or the disk fails",
        hint="make room on that disk; nothing was changed",
    )


def _read_only(path: Path) -> StoreError:
    return StoreError(
        f"{path} cannot be written: the file, its folder or the disk is read-only",
        hint="check the permissions and the mount",
    )


def _damaged(path: Path) -> IntegrityError:
    return IntegrityError(
        f"the database {path} is damaged",
        hint="stop Cloxy and run `cloxy doctor --repair`; it keeps the damaged file",
    )


def _unreadable(path: Path) -> StoreError:
    return StoreError(
        f"{path} cannot be read: the disk or the folder does not answer",
        hint="check that the disk is mounted and the folder is in place",
    )
