"""Reads and replaces a client's file: in one step, and only if nobody changed it meanwhile."""

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloxy_core.connect.errors import ConnectError

_LIMIT: Final = 64 * 1024 * 1024
_BOM: Final = "\ufeff"
_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class ChangedMeanwhileError(Exception):
    """The file was changed by another program since it was read; nothing was written."""


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it was read.

    Attributes:
        path: the file itself, where links lead to.
        raw: its bytes; None when there is no file.
        text: the text without a byte order mark.
        bom: whether a byte order mark comes first.
    """

    path: Path
    raw: bytes | None
    text: str
    bom: bool

    def encoded(self, text: str) -> bytes:
        """Another text as this file would hold it."""
        return ((_BOM if self.bom else "") + text).encode()


def read(path: Path, *, inside: Path | None = None) -> Content:
    """Read a file, or find that there is none.

    Args:
        path: the file, or a link to it.
        inside: a folder that links may not lead out of.

    Raises:
        ConnectError: it cannot be read, is no regular file, or is not UTF-8.
    """
    try:
        target = Path(os.path.realpath(path))
        if inside is not None and not target.is_relative_to(os.path.realpath(inside)):
            raise ConnectError(
                f"{path} leads out of the project, to {target}",
                hint="remove the link, or change that file by hand",
            )
        raw = _bytes(target)
    except OSError as error:
        raise ConnectError(
            f"{path} cannot be read: {error.strerror or error}", hint="it was left as it is"
        ) from error
    if raw is None:
        return Content(target, None, "", bom=False)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        raise ConnectError(
            f"{path}, line {line}, byte {column}: this is not UTF-8",
            hint="save it as UTF-8 first; it was left as it is",
        ) from error
    return Content(target, raw, text.removeprefix(_BOM), bom=text.startswith(_BOM))


def _bytes(path: Path) -> bytes | None:
    try:
        # Not to wait for a pipe that nobody writes into.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(0, "it is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is not a regular file")
        if status.st_size > _LIMIT:
            raise OSError(0, "it is larger than 64 MB")
    except OSError:
        os.close(descriptor)
        raise
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read()


def make_folders(path: Path, *, private: bool) -> tuple[Path, ...]:
    """Make a folder and those above it; the ones that had to be made, the highest first.

    Raises:
        OSError: one cannot be made.
    """
    missing: list[Path] = []
    folder = path
    while not folder.exists():
        missing.insert(0, folder)
        folder = folder.parent
    for each in missing:
        each.mkdir(mode=0o700 if private else 0o755, exist_ok=True)
    return tuple(missing)


def swap(
    content: Content, raw: bytes, *, private: bool, before: Callable[[], None] | None = None
) -> None:
    """Put new bytes in the place of those that were read.

    The file is read once more directly before it is replaced. What another program writes in the
    instant between the two is lost, as with any program that changes this file.

    Args:
        content: what was read.
        raw: the new bytes.
        private: whether a new file is for its owner alone.
        before: called when everything is ready but that last look; for tests.

    Raises:
        ChangedMeanwhileError: the file is not any more what was read.
        ConnectError: it cannot be written.
    """
    path = content.path
    try:
        mode, owner = _status(path, private=private)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.cloxy")
        try:
            _write(temporary, raw, mode, owner)
            if before is not None:
                before()
            if _bytes(path) != content.raw:
                raise ChangedMeanwhileError(path)
            temporary.replace(path)
        finally:
            with suppress(OSError):
                temporary.unlink()
        _sync(path.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error


def delete(content: Content) -> None:
    """Delete a file that is still what was read.

    Raises:
        ChangedMeanwhileError: it is not.
        ConnectError: it cannot be deleted.
    """
    try:
        if _bytes(content.path) != content.raw:
            raise ChangedMeanwhileError(content.path)
        _status(content.path, private=False)
        content.path.unlink(missing_ok=True)
        _sync(content.path.parent)
    except OSError as error:
        raise _cannot_write(content.path, error) from error


def delete_empty(folders: tuple[Path, ...]) -> None:
    """Delete those folders that hold nothing, the lowest first."""
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:
            return


def _status(path: Path, *, private: bool) -> tuple[int, tuple[int, int] | None]:
    """Mode and owner for the new file.

    Raises:
        OSError: its owner does not want it to be changed.
    """
    # The folder's permission alone decides about a rename, even where nobody may write the file.
    if os.name == "posix" and not path.parent.stat().st_mode & _WRITABLE:
        raise PermissionError(0, f"the folder {path.parent} is read-only")
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0o600 if private else 0o644), None
    if not status.st_mode & _WRITABLE:
        raise PermissionError(0, "it is read-only")
    return stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid)


def _write(path: Path, raw: bytes, mode: int, owner: tuple[int, int] | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(raw)
        stream.flush()
        if os.name == "posix":
            if owner is not None:
                with suppress(PermissionError):
                    os.fchown(descriptor, *owner)
            os.fchmod(descriptor, mode)
        os.fsync(descriptor)


def _sync(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _cannot_write(path: Path, error: OSError) -> ConnectError:
    return ConnectError(
        f"{path} cannot be changed: {error.strerror or error}",
        hint="it was left as it is; `cloxy connect --print` shows what belongs there",
    )
