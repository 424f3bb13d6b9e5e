"""Where damaged things are kept that had to leave their place; nothing in it is ever deleted."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from cloxy_core.runtime.paths import PRIVATE_DIRECTORY, create_private_file, sync_directory
from cloxy_core.store.inspection import side_files

FOLDER = "quarantine"
ROWS = "rows.jsonl"


class Quarantine:
    """A folder of one repair, named by its time and made when it is first needed."""

    def __init__(self, data: Path, now: datetime) -> None:
        """Make nothing yet.

        Args:
            data: the data directory.
            now: the time for the name.
        """
        self._data = data
        self._stamp = now.strftime("%Y%m%dT%H%M%S") + f"{now.microsecond // 1000:03d}Z"
        self._folder: Path | None = None

    @property
    def used(self) -> Path | None:
        """The folder, if anything was put into it."""
        return self._folder

    def folder(self) -> Path:
        """The folder, mode 0700."""
        if self._folder is None:
            parent = self._data / FOLDER
            parent.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
            folder = parent / self._stamp
            number = 1
            while folder.exists():
                number += 1
                folder = parent / f"{self._stamp}-{number}"
            folder.mkdir(mode=PRIVATE_DIRECTORY)
            sync_directory(parent)
            self._folder = folder
        return self._folder

    def keep_database(self, database: Path, *, copy: bool = False) -> None:
        """Keep a database and its side files; they stay in their place, too.

        No connection of this process may have it open.

        Args:
            database: the file.
            copy: whether the file itself will be written to, so that a second name is not enough.
        """
        for path in (database, *side_files(database)):
            if path.exists() and not path.name.endswith("-shm"):
                _keep(path, self.folder() / path.name, copy=copy)
        sync_directory(self.folder())

    def keep_rows(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Keep rows as lines of JSON, on disk before this returns."""
        if not rows:
            return
        path = self.folder() / ROWS
        if not path.exists():
            os.close(create_private_file(path))
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)
            file.flush()
            os.fsync(file.fileno())
        sync_directory(self.folder())


def _keep(path: Path, target: Path, *, copy: bool) -> None:
    """A second name of a file, or a copy where that is wanted or the disk knows no such names."""
    if not copy:
        with suppress(OSError):
            os.link(path, target)
            return
    if target.exists():
        return  # an earlier round of the same repair kept it as it was at first
    os.close(create_private_file(target))
    shutil.copyfile(path, target)
