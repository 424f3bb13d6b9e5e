"""Digests of files as the hub tells them: SHA-256 of large ones, git's own of small ones."""

import hashlib
from pathlib import Path
from typing import BinaryIO, Final

from cloxy_core.local_models.hub import HubFile

_PIECE: Final = 4 * 1024 * 1024


class Digest:
    """Counts a file's digest piece by piece."""

    def __init__(self, kind: str, size: int) -> None:
        """Begin.

        Args:
            kind: `sha256` or `git-sha1`.
            size: bytes of the whole file, which git's digest begins with.
        """
        if kind == "sha256":
            self._hash = hashlib.sha256()
        else:
            self._hash = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)

    def add(self, data: bytes) -> None:
        """Count the next piece."""
        self._hash.update(data)

    def add_file(self, file: BinaryIO) -> int:
        """Count the rest of an open file; gives its bytes."""
        count = 0
        while piece := file.read(_PIECE):
            self._hash.update(piece)
            count += len(piece)
        return count

    def text(self) -> str:
        """The digest of what was counted, in hexadecimal digits."""
        return self._hash.hexdigest()


def kind_of(file: HubFile) -> str:
    """Which digest the hub tells of a file."""
    return "git-sha1" if file.sha256 is None else "sha256"


def expected(file: HubFile) -> str:
    """The digest that a file must have."""
    return file.blob if file.sha256 is None else file.sha256


def digest_of(path: Path, kind: str, size: int) -> str:
    """Digest of a file on the disk.

    Raises:
        OSError: it cannot be read.
    """
    digest = Digest(kind, size)
    with path.open("rb") as file:
        digest.add_file(file)
    return digest.text()
