"""A database of another memory system, opened for reading alone; see `services.logs`."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cloxy_core.services.exchange.foreign_limits import (
    DAMAGE_HINT,
    ForeignDamage,
    ForeignTrouble,
)
from cloxy_core.services.exchange.foreign_memories import Row
from cloxy_core.services.logs.databases import open_database
from cloxy_core.services.logs.foreign import ForeignConnection, Interrupted
from cloxy_hookspecs import ForeignDatabaseError

SECONDS: Final = 300.0
"""How long the next rows may take to come; who takes the lines may be as slow as he likes."""

AGAIN: Final = "close the program that uses it, and import again: what is here is not doubled"
_DAMAGE: Final = ("SQLITE_CORRUPT", "SQLITE_TOOBIG", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ")


class Tables:
    """Implements `TableReader`."""

    def __init__(self, path: Path, connection: ForeignConnection) -> None:
        self._path = path
        self._connection = connection

    def tables(self) -> frozenset[str]:
        """Names of its tables and views."""
        self._connection.allow(SECONDS)
        with explained(self._path):
            return self._connection.tables()

    def columns(self, table: str) -> frozenset[str]:
        """Columns of a table; empty when there is none."""
        self._connection.allow(SECONDS)
        with explained(self._path):
            return self._connection.columns(table)

    def rows(self, statement: str, parameters: tuple[object, ...] = ()) -> Iterator[Row]:
        """Rows of a SELECT.

        Raises:
            ForeignDamage: a place in the file is damaged, or a value is too large.
            ForeignTrouble: it cannot be read any more.
        """
        found = self._connection.rows(statement, parameters)
        while True:
            self._connection.allow(SECONDS)
            with explained(self._path):
                row = next(found, None)
            if row is None:
                return
            yield row


@contextlib.contextmanager
def opened_tables(path: Path, temporary: Path) -> Iterator[Tables]:
    """Open a database for the block; nothing is written to it or beside it.

    Args:
        path: the file, no link.
        temporary: a folder of our own, for a copy where one is needed.

    Raises:
        ForeignTrouble: it cannot be read, or changed meanwhile.
    """
    with contextlib.ExitStack() as stack:
        with explained(path):
            connection = stack.enter_context(open_database(path, temporary))
        try:
            yield Tables(path, connection)
        except BaseException:
            with contextlib.suppress(ForeignDatabaseError):
                stack.close()
            raise
        with explained(path):
            stack.close()


def is_cut(path: Path) -> bool:
    """Whether a database is shorter than it says itself; what is missing would be read as zeros."""
    try:
        if path.with_name(f"{path.name}-wal").exists():
            return False  # the file may be behind its log
        with path.open("rb") as file:
            head = file.read(100)
        size = path.stat().st_size
    except OSError:
        return False
    page = int.from_bytes(head[16:18]) if head[16:18] != b"\0\1" else 65536
    # The number of pages counts only where whoever wrote last knew of it.
    return head[24:28] == head[92:96] and size < int.from_bytes(head[28:32]) * page


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn troubles with a database into those of an import.

    Raises:
        ForeignTrouble: instead of an error of the database.
    """
    try:
        yield
    except ForeignDatabaseError as error:
        words = error.message.replace(str(path), "it")
        cause = str(getattr(error.__cause__, "sqlite_errorname", None) or "")
        is_damage = isinstance(error.__cause__, UnicodeDecodeError | MemoryError | OverflowError)
        if isinstance(error, Interrupted):
            raise ForeignTrouble(words, AGAIN) from error
        if is_damage or cause.startswith(_DAMAGE):
            raise ForeignDamage(words, DAMAGE_HINT) from error
        raise ForeignTrouble(words, AGAIN) from error
