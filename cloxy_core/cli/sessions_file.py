"""A text file that appears when it is whole, and never in the place of something unasked."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cloxy_core.client_config import ClientError

PRIVATE = 0o600
_FLAGS = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def write_file(path: Path, pieces: Iterable[str], *, force: bool) -> None:
    """Write a file in UTF-8 that only its owner can read; links are not followed.

    Args:
        path: where to.
        pieces: its text.
        force: whether a file that is there may be replaced.

    Raises:
        ClientError: it is there already, is no regular file, or cannot be written; or what the
            pieces raise. Nothing is left behind then.
    """
    check(path, force=force)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        try:
            descriptor = os.open(partial, _FLAGS, PRIVATE)
            with open(descriptor, "wb") as target:  # noqa: PTH123 - a descriptor, no path
                for piece in pieces:
                    target.write(piece.encode("utf-8", "backslashreplace"))
                target.flush()
                os.fsync(target.fileno())
            _put(partial, path, force=force)
        except OSError as error:
            raise ClientError(
                f"{path} cannot be written: {error.strerror or error}",
                code="input",
                hint="name a file in a folder that you can write to, on a disk with room",
            ) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def check(path: Path, *, force: bool) -> None:
    """Look whether a file may be written there.

    Raises:
        ClientError: something is there that is not to be replaced.
    """
    try:
        found = path.lstat()
    except OSError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise ClientError(f"{path} is not a regular file", code="input", hint="name another file")
    if not force:
        raise _there(path)


def _put(partial: Path, path: Path, *, force: bool) -> None:
    """Give a whole file its name; one that came meanwhile is not replaced unasked."""
    if force:
        check(path, force=True)
        partial.replace(path)
        return
    try:
        os.link(partial, path)
    except FileExistsError:
        raise _there(path) from None
    except (OSError, NotImplementedError):
        # A file system without links; a look has to do.
        check(path, force=False)
        partial.replace(path)


def _there(path: Path) -> ClientError:
    return ClientError(
        f"{path} is there already",
        code="conflict",
        hint="name another file, or add --force to replace it",
    )
