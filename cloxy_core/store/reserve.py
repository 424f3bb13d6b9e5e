"""Space that is kept free, and what may still be written when little is left."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloxy_core.runtime.paths import create_private_file
from cloxy_hookspecs.errors import StoreError

MEBIBYTE: Final = 1024 * 1024
RESERVE_BYTES: Final = 16 * MEBIBYTE
INGEST_NEEDS_BYTES: Final = 200 * MEBIBYTE
REMEMBER_NEEDS_BYTES: Final = 50 * MEBIBYTE


@dataclass(frozen=True, slots=True)
class Room:
    """What the free space allows.

    Attributes:
        free: bytes free for this user.
        ingest: whether sources may be read in.
        remember: whether single memories may be stored. Forgetting is always allowed.
    """

    free: int
    ingest: bool
    remember: bool

    def warnings(self) -> tuple[str, ...]:
        """What `status` says, in words with what to do."""
        if self.ingest:
            return ()
        left = f"only {self.free // MEBIBYTE} MiB are free on the disk of the data directory"
        stopped = "new conversations are not read in"
        if not self.remember:
            stopped += " and nothing can be remembered"
        return (f"{left}: {stopped} until there is room.",)


def room(
    folder: Path,
    *,
    ingest_needs: int = INGEST_NEEDS_BYTES,
    remember_needs: int = REMEMBER_NEEDS_BYTES,
) -> Room:
    """Look how much space is free.

    Args:
        folder: The data directory.
        ingest_needs: Bytes below which ingest stops.
        remember_needs: Bytes below which remembering stops too.

    Raises:
        StoreError: The folder is gone or cannot be looked at.
    """
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise StoreError(
            f"the data directory {folder} cannot be looked at: {error.strerror}",
            hint="check that the disk is mounted and the folder is in place",
        ) from error
    return Room(free=free, ingest=free >= ingest_needs, remember=free >= remember_needs)


class Reserve:
    """A file of nothing that is given up first when the disk is full."""

    def __init__(
        self, path: Path, *, size: int = RESERVE_BYTES, spare: int = INGEST_NEEDS_BYTES
    ) -> None:
        self._path = path
        self._size = size
        self._spare = spare

    @property
    def held(self) -> bool:
        """Whether the reserve is there."""
        return self._path.is_file()

    def ensure(self) -> bool:
        """Make the file again if there is plenty of room for it; tell whether it is there."""
        if self.held:
            return True
        if room(self._path.parent).free < self._size + self._spare:
            return False
        try:
            self._fill()
        except OSError:
            self.release()
            return False
        return True

    def release(self) -> bool:
        """Give the space back; tell whether there was any."""
        try:
            self._path.unlink()
        except OSError:
            # Not there, or on a disk that became read-only.
            return False
        return True

    def _fill(self) -> None:
        descriptor = create_private_file(self._path)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, self._size)
            else:
                for _ in range(0, self._size, MEBIBYTE):
                    # Random, since zeros are stored as nothing on some file systems.
                    os.write(descriptor, os.urandom(MEBIBYTE))
        finally:
            os.close(descriptor)
