"""One server for each data directory: a lock that the kernel frees when the process ends."""

import json
import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from cloxy_core.runtime.lock_file import LockHolder, holder_in, is_held, read_holder, try_lock
from cloxy_hookspecs.errors import ConfigError, DataDirectoryInUseError

__all__ = ["DataDirectoryLock", "LockHolder", "is_held", "read_holder"]


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
        if not try_lock(descriptor):
            other = holder_in(descriptor)
            os.close(descriptor)
            raise _in_use(self._path, other)
        self._descriptor = descriptor
        self._write(descriptor, holder)

    def describe(self, holder: LockHolder) -> None:
        """Write down anew who has the lock, once more is known; nothing happens without it."""
        if self._descriptor is not None:
            self._write(self._descriptor, holder)

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
