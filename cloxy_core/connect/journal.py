"""Remembers what was put into which file, so that it can be taken out to the byte.

Only our own words are kept, and hashes: a client's file may hold keys of others.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from cloxy_core.connect.edits import Edit
from cloxy_core.connect.errors import ConnectError
from cloxy_core.identity import write_private

if os.name == "posix":
    import fcntl

FILE_NAME: Final = "connections.json"
_LOCK_NAME: Final = "connections.lock"


@dataclass(frozen=True, slots=True)
class Record:
    """What was done to one file.

    Attributes:
        before: SHA-256 of the file's bytes without our entry; None when there was no file.
        after: SHA-256 of its bytes with it; None when they do not lead back exactly.
        edits: what was inserted, in characters of the text without byte order mark.
        container: whether we made what holds the entries.
        folders: folders that we made for it, the highest first.
    """

    before: str | None
    after: str | None
    edits: tuple[Edit, ...]
    container: bool
    folders: tuple[str, ...]


def digest(raw: bytes | None) -> str | None:
    """SHA-256 of a file's bytes; None when there is no file."""
    return None if raw is None else hashlib.sha256(raw).hexdigest()


class Journal:
    """The file `connections.json` of a data directory."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir
        self._path = data_dir / FILE_NAME

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let no second `cloxy connect` change anything at the same time.

        Raises:
            ConnectError: the data directory cannot be used.
        """
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._folder / _LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ConnectError(
                f"the data directory {self._folder} cannot be used: {error.strerror or error}",
                hint="set CLOXY_DATA_DIR to a folder that you can write to",
            ) from error
        try:
            if os.name == "posix":
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def find(self, path: Path, name: str) -> Record | None:
        """What was done to a file for an entry; None when nothing is known."""
        found = self._read().get(_key(path, name))
        try:
            return None if found is None else _record(found)
        except (KeyError, TypeError, ValueError):
            return None  # an entry is then taken out by what it says

    def keep(self, path: Path, name: str, record: Record | None) -> None:
        """Note what was done to a file, or that nothing is to be remembered of it.

        Raises:
            ConnectError: it cannot be noted.
        """
        values = self._read()
        key = _key(path, name)
        if record is None:
            if key not in values:
                return
            del values[key]
        else:
            values[key] = asdict(record)
        try:
            if values:
                write_private(self._path, json.dumps(values, indent=1) + "\n")
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise ConnectError(
                f"{self._path} cannot be written: {error.strerror or error}",
                hint="without it nothing is changed, since it could not be taken back exactly",
            ) from error

    def _read(self) -> dict[str, object]:
        with suppress(OSError, ValueError):
            found = json.loads(self._path.read_bytes())
            if isinstance(found, dict):
                return found
        return {}


def _key(path: Path, name: str) -> str:
    return f"{name} {path}"


def _record(found: object) -> Record:
    if not isinstance(found, dict):
        raise TypeError("a record is an object")
    return Record(
        before=found["before"],
        after=found["after"],
        edits=tuple(
            Edit(int(each["start"]), str(each["removed"]), str(each["inserted"]))
            for each in found["edits"]
        ),
        container=bool(found["container"]),
        folders=tuple(map(str, found["folders"])),
    )
