"""Open folders, and what lies in them, reached without following a link below a trusted one.

Where the system lets a descriptor of a folder be used, everything is reached through open
descriptors instead of paths, so that a folder that is swapped for a link in the meantime leads
nowhere. Elsewhere (Windows) every step looks at the path before and after, which leaves a
moment in between.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Protocol

_NO_FOLLOW: Final[int] = getattr(os, "O_NOFOLLOW", 0)
_COMMON: Final[int] = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_FOLDER_FLAGS: Final[int] = _COMMON | getattr(os, "O_DIRECTORY", 0)
_FILE_FLAGS: Final[int] = _COMMON | _NO_FOLLOW
_LINK_TAGS: Final = (
    getattr(stat, "IO_REPARSE_TAG_SYMLINK", 0xA000000C),
    getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", 0xA0000003),
)
BY_DESCRIPTOR: Final[bool] = bool(
    os.open in os.supports_dir_fd
    and os.stat in os.supports_dir_fd
    and os.scandir in os.supports_fd
    and _NO_FOLLOW
    and hasattr(os, "O_DIRECTORY")
)


def identity_of(status: os.stat_result) -> str:
    """What names a file, or a folder, as long as it exists, whatever its path."""
    return f"{status.st_dev}:{status.st_ino}"


def is_link(status: os.stat_result) -> bool:
    """Whether an entry leads somewhere else: a symbolic link, or a junction of Windows."""
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) in _LINK_TAGS


class Folder(Protocol):
    """An open folder."""

    @property
    def identity(self) -> str:
        """What names it as long as it exists."""
        ...

    def entries(self) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """What lies in it."""
        ...

    def status(self, name: str) -> os.stat_result:
        """Facts of an entry itself, not of what it may lead to."""
        ...

    def status_of(self, entry: os.DirEntry[str]) -> os.stat_result:
        """Facts of an entry that was just listed, with its identity."""
        ...

    def folder(self, name: str) -> "Folder":
        """Open a folder inside, never through a link."""
        ...

    def file(self, name: str) -> int:
        """Open a file inside, never through a link and never waiting; its descriptor."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def open_root(root: Path) -> Folder:
    """Open a folder that the user named; links in its own path are the user's business.

    Raises:
        OSError: it cannot be opened, or is no folder.
    """
    if BY_DESCRIPTOR:
        return DescriptorFolder(os.open(root, _FOLDER_FLAGS))
    return PathFolder(Path(os.path.realpath(root)))


class DescriptorFolder:
    """A folder held by its descriptor."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @property
    def identity(self) -> str:
        """What names it as long as it exists."""
        return identity_of(os.fstat(self._descriptor))

    def entries(self) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """What lies in it."""
        return os.scandir(self._descriptor)

    def status(self, name: str) -> os.stat_result:
        """Facts of an entry itself."""
        return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)

    def status_of(self, entry: os.DirEntry[str]) -> os.stat_result:
        """Facts of an entry that was just listed."""
        return entry.stat(follow_symlinks=False)

    def folder(self, name: str) -> Folder:
        """Open a folder inside.

        Raises:
            OSError: it cannot be opened, is a link, or is no folder.
        """
        flags = _FOLDER_FLAGS | _NO_FOLLOW
        return DescriptorFolder(os.open(name, flags, dir_fd=self._descriptor))

    def file(self, name: str) -> int:
        """Open a file inside.

        Raises:
            OSError: it cannot be opened, or is a link.
        """
        return os.open(name, _FILE_FLAGS, dir_fd=self._descriptor)

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._descriptor)


class PathFolder:
    """A folder known by its path and identity, where descriptors of folders do not exist."""

    __slots__ = ("_identity", "_path")

    def __init__(self, path: Path) -> None:
        """Look at it.

        Raises:
            OSError: it cannot be looked at, is a link, or is no folder.
        """
        self._path = path
        self._identity = _identity_of_folder(path)

    @property
    def identity(self) -> str:
        """What names it as long as it exists."""
        return self._identity

    def entries(self) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """What lies in it."""
        self._require_same()
        return os.scandir(self._path)

    def status(self, name: str) -> os.stat_result:
        """Facts of an entry itself."""
        self._require_same()
        return os.lstat(self._path / name)

    def status_of(self, entry: os.DirEntry[str]) -> os.stat_result:
        """Facts of an entry that was just listed; a listing alone does not say its identity."""
        return os.lstat(entry.path)

    def folder(self, name: str) -> Folder:
        """Open a folder inside.

        Raises:
            OSError: it cannot be looked at, is a link, or is no folder.
        """
        self._require_same()
        return PathFolder(self._path / name)

    def file(self, name: str) -> int:
        """Open a file inside.

        Raises:
            OSError: it cannot be opened, is no regular file, or was changed meanwhile.
        """
        path = self._path / name
        before = self.status(name)
        if is_link(before):
            raise OSError(errno.ELOOP, "is a link", str(path))
        if not stat.S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        descriptor = os.open(path, _FILE_FLAGS)
        try:
            if identity_of(os.fstat(descriptor)) != identity_of(before):
                raise _replaced(path)
            self._require_same()
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def close(self) -> None:
        """Nothing is held."""

    def _require_same(self) -> None:
        if _identity_of_folder(self._path) != self._identity:
            raise _replaced(self._path)


def _identity_of_folder(path: Path) -> str:
    status = os.lstat(path)
    if is_link(status):
        raise OSError(errno.ELOOP, "is a link", str(path))
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(path))
    return identity_of(status)


def _replaced(path: Path) -> OSError:
    return OSError(errno.ESTALE, "another one stands here now", str(path))
