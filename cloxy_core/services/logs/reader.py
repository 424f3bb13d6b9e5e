"""The engines that sources are made of, as one port."""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from sqlalchemy import Connection

from cloxy_core.services.logs.databases import open_database, signature_of
from cloxy_core.services.logs.known import KnownSessions, known_folders
from cloxy_core.services.logs.lines import LineLogs, find_files
from cloxy_core.services.logs.opening import open_file_below, parts_below
from cloxy_core.services.logs.reading import read_range
from cloxy_hookspecs import ForeignDatabase, LogTree, SourceFailure, SourceItem


class Logs:
    """Implements `LogReader`.

    Attributes:
        folders: working directories known from every source, the newest first; kept up to date by
            whoever reads the sources.
        sessions: which sessions are stored, kept up to date likewise.
    """

    def __init__(self, temporary: Path) -> None:
        """Make it; nothing is read.

        Args:
            temporary: folder of our own for private copies of databases, made when needed.
        """
        self._temporary = temporary
        self.folders: Sequence[Path] = ()
        self.sessions = KnownSessions()

    def lines(self, trees: Sequence[LogTree]) -> LineLogs:
        """Files that grow, below trees."""
        return LineLogs(trees)

    def files(
        self, trees: Sequence[LogTree], failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """Files below trees, for a source that reads them whole."""
        return find_files(trees, failures, under)

    def content(self, root: Path, path: Path, most: int) -> bytes:
        """A whole file below a root.

        Raises:
            OSError: it cannot be opened or read, is no regular file, or is larger than `most`
                bytes.
        """
        parts = parts_below(root, path)
        if not parts:
            raise OSError(errno.EACCES, "not inside its folder", str(path))
        file = open_file_below(root, parts)
        try:
            size = os.fstat(file).st_size
            data = read_range(file, 0, most + 1) if size <= most else b""
        finally:
            os.close(file)
        if size > most or len(data) > most:
            raise OSError(errno.EFBIG, f"larger than {most:,} bytes", str(path))
        return data

    def database(self, path: Path) -> AbstractContextManager[ForeignDatabase]:
        """Open a database of another program; see `open_database`."""
        return open_database(path, self._temporary)

    def signature(self, path: Path) -> tuple[int, int]:
        """Size and modification time (ns) of a database and its `-wal` together."""
        return signature_of(path)

    def look_round(self, connection: Connection) -> None:
        """Let sources know where agents work, and of which sessions there are logs.

        Args:
            connection: a transaction.
        """
        self.folders = known_folders(connection)
        self.sessions.look(connection)

    def known_folders(self) -> Sequence[Path]:
        """Working directories known from every source, the newest first."""
        return self.folders

    def is_told_by_another(self, key: str, agent: str) -> bool:
        """Whether a session is stored from the logs of another agent than this one."""
        return self.sessions.is_told_by_another(key, agent)
