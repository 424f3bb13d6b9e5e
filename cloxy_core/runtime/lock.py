"""One server for each data directory: a lock that the kernel frees when the process ends."""

import json
import os
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final

from cloxy_hookspecs.errors import ConfigError, DataDirectoryInUseError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_INFORMATION_LIMIT: Final = 4096
# Far behind the text, since a locked byte cannot be read by others there.
_WINDOWS_BYTE: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class LockHolder:
    """Who has the lock, for messages only: the lock itself is the kernel's.

    Attributes:
        pid: process id.
        version: version of Cloxy.
        url: where the server listens; empty when it does not.
        started_at: milliseconds since the epoch.
    """

    pid: int
    version: str
    url: str
    started_at: int


def read_holder(path: Path) -> LockHolder | None:
    """Who last wrote into a lock file, or None when that cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    try:
        return _holder_in(descriptor)
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether a process has the lock at this moment.

    It is tried, so ask only when somebody is likely to have it: whoever wants it in the instant
    of the trial is refused.
    """
    if sys.platform == "win32":
        return True  # a trial there would wait
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def _holder_in(descriptor: int) -> LockHolder | None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        found = json.loads(os.read(descriptor, _INFORMATION_LIMIT))
        return LockHolder(
            pid=int(found["pid"]),
            version=str(found["version"]),
            url=str(found["url"]),
            started_at=int(found["started_at"]),
        )
    except (ValueError, TypeError, KeyError):
        return None


def _try_lock(descriptor: int) -> bool:
    """Take the lock on an open file if nobody has it."""
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _WINDOWS_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            # flock, not lockf: a POSIX lock would vanish when any descriptor of the file closes.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _in_use(path: Path, holder: LockHolder | None) -> DataDirectoryInUseError:
    if holder is None:
        return DataDirectoryInUseError(
            f"another process uses the data directory {path.parent}",
            hint="stop it, or set CLOXY_DATA_DIR to another folder",
        )
    since = datetime.fromtimestamp(holder.started_at / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    where = f" at {holder.url}" if holder.url else ""
    return DataDirectoryInUseError(
        f"Cloxy {holder.version} (process {holder.pid}{where}, since {since}) already uses "
        f"the data directory {path.parent}",
        hint="use that server, stop it, or set CLOXY_DATA_DIR to another folder",
    )


class DataDirectoryLock:
    """The lock of a data directory, held until `release` or the end of the process.

    A child made by fork would keep the lock after its parent's death; start children with spawn,
    which closes the descriptor.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object has the lock."""
        return self._descriptor is not None

    def acquire(self, holder: LockHolder) -> None:
        """Take the lock, and write down who has it.

        Raises:
            DataDirectoryInUseError: Somebody has it; the message names them.
            ConfigError: The lock file is a link or cannot be written.
        """
        if self.held:
            return
        descriptor = self._open()
        if not _try_lock(descriptor):
            other = _holder_in(descriptor)
            os.close(descriptor)
            raise _in_use(self._path, other)
        self._descriptor = descriptor
        self._write(descriptor, holder)

    def release(self) -> None:
        """Give the lock back; the file stays, since removing it would be a race."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> "DataDirectoryLock":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        try:
            return os.open(self._path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError as error:
            raise ConfigError(
                f"the lock file {self._path} cannot be opened: {error.strerror}",
                hint="remove it if it is a link, and check who owns the folder",
            ) from error

    def _write(self, descriptor: int, holder: LockHolder) -> None:
        text = json.dumps(asdict(holder)).encode()
        try:
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, text)
        except OSError:
            # The text is information for people; a full disk must not keep the server down.
            return
