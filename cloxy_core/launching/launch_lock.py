"""The right to start the server of a data directory, which one process has at a time."""

import os
from pathlib import Path
from typing import Final

from cloxy_core.client_config import ClientError
from cloxy_core.runtime.lock_file import try_lock

FILE_NAME: Final = "launch.lock"
_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600


class LaunchLock:
    """A lock that the kernel frees when its process ends, so that it is never stale."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / FILE_NAME
        self._descriptor: int | None = None

    def try_acquire(self) -> bool:
        """Take the lock if nobody has it.

        Raises:
            ClientError: the file cannot be opened.
        """
        descriptor = self._open()
        if not try_lock(descriptor):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Give the lock back, if this object has it; the file stays."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            self._path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            return os.open(self._path, flags, _FILE_MODE)
        except OSError as error:
            raise ClientError(
                f"{self._path} cannot be opened: {error.strerror or error}",
                code="launch",
                hint="check who owns the folder, or set CLOXY_DATA_DIR to one of your own",
            ) from error
