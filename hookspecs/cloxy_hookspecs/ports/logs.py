"""Reading what agents leave on disk, safely: the engines that sources are made of."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from cloxy_hookspecs.types.ingest import RawLine, SourceFailure, SourceItem

Parts: TypeAlias = tuple[str, ...]
"""A path below a root, part by part."""


def _everywhere(parts: Parts) -> bool:
    del parts
    return True


@dataclass(frozen=True, slots=True)
class LogTree:
    """A folder with logs.

    Attributes:
        root: absolute; it need not exist.
        wanted: whether a file below it is a log.
        enter: whether a folder below it may hold logs; others are not looked into.
    """

    root: Path
    wanted: Callable[[Parts], bool]
    enter: Callable[[Parts], bool] = _everywhere


class LineFiles(Protocol):
    """Files that grow line by line; what a `FolderSource` needs of them.

    Links below a root are never followed, only regular files of the same owner are opened, and
    what is read is the file that was discovered.
    """

    def roots(self) -> Sequence[Path]:
        """Roots of the trees."""
        ...

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """As `Source.discover`."""
        ...

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """As `Source.read`."""
        ...

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """As `Source.excerpt`."""
        ...

    def of(self, folder: Path) -> "LineFiles":
        """The same kind of files below another folder."""
        ...


class ForeignDatabase(Protocol):
    """A SQLite database of another program, open for reading.

    Values come as SQLite has them: text, bytes, numbers or None; text that is no UTF-8 is repaired.
    """

    def rows(
        self, statement: str, parameters: Sequence[object] = ()
    ) -> Iterator[tuple[object, ...]]:
        """Rows of one SELECT.

        Raises:
            ForeignDatabaseError: there is no such table or column, or the file is damaged.
        """
        ...

    def tables(self) -> frozenset[str]:
        """Names of its tables and views."""
        ...

    def columns(self, table: str) -> frozenset[str]:
        """Columns of a table; empty when there is none."""
        ...


class LogReader(Protocol):
    """Engines for sources. All of it blocks: it is for the `io` worker."""

    def lines(self, trees: Sequence[LogTree]) -> LineFiles:
        """Files that grow, below trees."""
        ...

    def files(
        self, trees: Sequence[LogTree], failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """Files below trees, for a source that reads them whole; discovered as lines are."""
        ...

    def content(self, root: Path, path: Path, most: int) -> bytes:
        """A whole file below a root, opened without following a link below it.

        Raises:
            OSError: it cannot be opened or read, is no regular file, or is larger than `most`
                bytes.
        """
        ...

    def database(self, path: Path) -> AbstractContextManager[ForeignDatabase]:
        """Open a database of another program without creating or changing anything of it.

        With a `-wal` and a `-shm` beside it, it is read in one read-only transaction; without a
        `-wal`, as immutable, and its size, times and change counter are compared afterwards;
        with a `-wal` alone, from a private copy of both. Leaving the block ends the transaction;
        what was read while the file changed under an immutable connection raises then.

        Raises:
            ForeignDatabaseError: it cannot be read, or changed meanwhile; to be tried again.
        """
        ...

    def signature(self, path: Path) -> tuple[int, int]:
        """Size and modification time (ns) of a database and its `-wal` together, (0, 0) without.

        As cheap as a look at both; differs whenever something was written.
        """
        ...

    def known_folders(self) -> Sequence[Path]:
        """Working directories known from every source, the newest first, at most 1,000.

        Agents that keep their store in a repository are looked for there, and nowhere else.
        """
        ...

    def is_told_by_another(self, key: str, agent: str) -> bool:
        """Whether a session is stored from the logs of another agent than this one.

        For copies that a program makes of the logs of agents. As of the last look at what is
        known: before a source of things that are rewritten is read.

        Args:
            key: id of the session.
            agent: whose logs do not count.
        """
        ...
