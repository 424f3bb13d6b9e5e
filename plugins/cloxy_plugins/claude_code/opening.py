"""Opening files and folders without following links below a trusted folder."""

import errno
import os
import stat
from pathlib import Path

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def identity_of(status: os.stat_result) -> str:
    """What names a file, or a folder, as long as it exists, whatever its path."""
    return f"{status.st_dev}:{status.st_ino}"


def open_root(root: Path) -> int:
    """Open a folder that the user named; links in its own path are the user's business.

    Raises:
        OSError: it cannot be opened, or is no folder.
    """
    return os.open(root, _FOLDER_FLAGS)


def open_folder(name: str, parent: int) -> int:
    """Open a folder inside an open one, never through a link.

    Raises:
        OSError: it cannot be opened, is a link, or is no folder.
    """
    return os.open(name, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=parent)


def open_folder_below(root: Path, parts: tuple[str, ...]) -> int:
    """Open a folder below a trusted one, one part of the path after the other.

    Raises:
        OSError: a part cannot be opened, is a link, or is no folder.
    """
    folder = open_root(root)
    for part in parts:
        try:
            inner = open_folder(part, folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def open_file_below(root: Path, parts: tuple[str, ...], identity: str) -> int:
    """Open a regular file below a trusted folder, if it still is the one that was found.

    Raises:
        OSError: it cannot be opened, a part of its path is a link, it is no regular file, or
            it is another file than the one with this identity.
    """
    folder = open_folder_below(root, parts[:-1])
    try:
        file = os.open(parts[-1], _FILE_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(root.joinpath(*parts)))
        if identity_of(status) != identity:
            raise OSError(errno.ESTALE, "another file stands here now", str(root.joinpath(*parts)))
    except OSError:
        os.close(file)
        raise
    return file
