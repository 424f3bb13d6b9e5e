"""A file that is being downloaded: written piece by piece, and gone on with by a later run."""

import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from cloxy_core.local_models.digests import Digest, expected, kind_of
from cloxy_core.local_models.hub import HubFile
from cloxy_core.runtime.paths import PRIVATE_FILE
from cloxy_hookspecs.errors import ConfigError, FetchError

_NAME_DIGITS: Final = 12


def part_of(target: Path, file: HubFile) -> Path:
    """The name of a file's part.

    It holds the beginning of the digest that is expected, so that what belongs to another version
    of the file is never gone on with.
    """
    return target.with_name(f"{target.name}.{expected(file)[:_NAME_DIGITS]}.part")


class PartFile:
    """An open part, with the digest of what is in it."""

    def __init__(self, path: Path, file: HubFile) -> None:
        """Open or make it, and read what is in it.

        Raises:
            ConfigError: something else is in its place, or it cannot be written.
        """
        self._path = path
        self._wanted = file
        flags = os.O_RDWR | os.O_CREAT
        for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
            flags |= getattr(os, name, 0)
        try:
            descriptor = os.open(path, flags, PRIVATE_FILE)
        except OSError as error:
            raise ConfigError(
                f"{path} cannot be written: {error.strerror or error}",
                hint="check whose folder it is, and move away what is in its place",
            ) from error
        self._file = os.fdopen(descriptor, "r+b")
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ConfigError(f"{path} is no file", hint="move it away")
            self._digest = self._fresh()
            self.have = self._digest.add_file(self._file)
            if self.have > file.size:
                self.restart()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, data: bytes) -> None:
        """Write the next piece.

        Raises:
            FetchError: it is more than the file has.
            OSError: it cannot be written.
        """
        if self.have + len(data) > self._wanted.size:
            self.restart()
            raise FetchError(
                f"more came of {self._wanted.path} than the hub announced",
                hint="try again; check HF_ENDPOINT, and whether a proxy stands between",
            )
        self._file.write(data)
        self._digest.add(data)
        self.have += len(data)

    def restart(self) -> None:
        """Throw away what is there."""
        self._file.seek(0)
        self._file.truncate(0)
        self._digest = self._fresh()
        self.have = 0

    def finish(self, target: Path) -> None:
        """Check the whole file and put it in its place.

        Raises:
            FetchError: it is not what it should be; it was thrown away.
            OSError: it cannot be put there.
        """
        self._file.flush()
        os.fsync(self._file.fileno())
        found, wanted = self._digest.text(), expected(self._wanted)
        if found != wanted:
            self._file.close()
            self._path.unlink()
            raise FetchError(
                f"{self._wanted.path} is not what the hub announced ({kind_of(self._wanted)} "
                f"{found[:16]}… instead of {wanted[:16]}…) and was thrown away",
                hint="try again; if it stays so, check HF_ENDPOINT and your proxy, or tell the "
                "owner of the repository",
            )
        self._file.close()
        self._path.replace(target)

    def _fresh(self) -> Digest:
        return Digest(kind_of(self._wanted), self._wanted.size)
