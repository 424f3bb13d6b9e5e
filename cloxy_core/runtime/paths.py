"""The data directory: where things lie, and that nobody else can read them."""

import errno
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloxy_hookspecs.errors import ConfigError

PRIVATE_UMASK: Final = 0o077
PRIVATE_DIRECTORY: Final = 0o700
PRIVATE_FILE: Final = 0o600
_PLUGIN_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_LOOSE: Final = 0o077


def private_umask() -> int:
    """Let nothing this process creates be readable by others; return the former umask."""
    return os.umask(PRIVATE_UMASK)


def default_data_directory() -> Path:
    """`.cloxy` in the home directory.

    Raises:
        ConfigError: The home directory is unknown.
    """
    try:
        return Path.home() / ".cloxy"
    except RuntimeError as error:
        raise ConfigError(
            "the home directory is unknown", hint="set CLOXY_DATA_DIR to a folder"
        ) from error


def create_private_file(path: Path) -> int:
    """Create a file that must not exist yet, mode 0600, and return its descriptor.

    Raises:
        FileExistsError: Something, perhaps a link, is there already.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), PRIVATE_FILE)


def sync_directory(path: Path) -> None:
    """Make creations and renames in a directory survive a power loss."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_directory(path: Path) -> None:
    """Make a directory with mode 0700 whatever the umask is; parents as the umask has them."""
    if os.path.lexists(path):
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
        path.chmod(PRIVATE_DIRECTORY)
    except OSError as error:
        raise ConfigError(
            f"the folder {path} cannot be made: {error.strerror}",
            hint="set CLOXY_DATA_DIR to a folder that you can write to",
        ) from error


def _check_directory(path: Path) -> None:
    """Refuse what is not a real folder of our own.

    Raises:
        ConfigError: It is a link, no folder, or somebody else's.
    """
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise ConfigError(
            f"{path} is a link to {path.readlink()}, not a folder",
            hint="remove the link, or set CLOXY_DATA_DIR to the folder itself",
        )
    if not stat.S_ISDIR(found.st_mode):
        raise ConfigError(
            f"{path} is not a folder", hint="move the file away, or set CLOXY_DATA_DIR"
        )
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        raise ConfigError(
            f"the folder {path} belongs to another user (uid {found.st_uid})",
            hint="set CLOXY_DATA_DIR to a folder of your own, or run as its owner",
        )


def _tighten(root: Path) -> None:
    """Take the rights of group and others from everything below a directory.

    Raises:
        ConfigError: They cannot be taken, since it is read-only.

    Modes are changed by name, never through a descriptor: closing any descriptor of the database
    would drop the locks that this process holds on it.
    """
    for folder, directories, files in os.walk(root):
        for name in (".", *directories, *files):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if mode & _LOOSE and (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                _take_rights(path, mode)


def _take_rights(path: Path, mode: int) -> None:
    try:
        path.chmod(stat.S_IMODE(mode) & ~_LOOSE)
    except PermissionError as error:
        raise _unchangeable(path, error) from error
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        raise _unchangeable(path, error) from error


def _unchangeable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"others can read {path}, and its permissions cannot be changed: {error.strerror}",
        hint="check whose it is and whether it, or its disk, is read-only",
    )


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """The layout of one data directory; `open` makes and checks it.

    Attributes:
        data: the folder itself.
    """

    data: Path

    @classmethod
    def open(cls, root: Path | None = None) -> "DataDirectory":
        """Make the directory if there is none, check whose it is, and tighten loose modes.

        Args:
            root: The folder; `~` is expanded. `~/.cloxy` when None.

        Raises:
            ConfigError: It is a link, no folder, somebody else's, or cannot be made.
        """
        chosen = default_data_directory() if root is None else root.expanduser()
        directory = cls(Path(os.path.abspath(chosen)))  # noqa: PTH100 - resolve() follows links
        _make_directory(directory.data)
        _check_directory(directory.data)
        if os.name == "posix":
            _tighten(directory.data)
        return directory

    @property
    def database(self) -> Path:
        """The database file."""
        return self.data / "memory.db"

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.data / "config.toml"

    @property
    def lock(self) -> Path:
        """The file that a running server keeps locked."""
        return self.data / "server.lock"

    @property
    def reserve(self) -> Path:
        """Space kept for the day the disk is full."""
        return self.data / "reserve.bin"

    @property
    def logs(self) -> Path:
        """The folder of log files, made on first use."""
        return self._folder("logs")

    @property
    def backups(self) -> Path:
        """The folder of database backups, made on first use."""
        return self._folder("backups")

    def plugin(self, name: str) -> Path:
        """A folder of a plugin's own, made on first use.

        Raises:
            ConfigError: The name is not one a plugin can have.
        """
        if not _PLUGIN_NAME.fullmatch(name):
            raise ConfigError(
                f"{name!r} cannot name a plugin's folder",
                hint="use lower-case letters, digits, - and _",
            )
        _check_made(self.data / "plugins")
        return self._folder("plugins", name)

    def _folder(self, *parts: str) -> Path:
        return _check_made(self.data.joinpath(*parts))


def _check_made(path: Path) -> Path:
    _make_directory(path)
    _check_directory(path)
    return path
