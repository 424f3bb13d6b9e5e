"""A connection to a database of another program, which can do nothing but read.

Its schema and its contents are not trusted: nothing is written, attached or loaded, no function of
the schema runs that could reach outside, and a statement that does not end is broken off.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from cloxy_core.store.library import driver
from cloxy_hookspecs import ForeignDatabaseError

BUSY_SECONDS: Final = 2.0
TRANSACTION_SECONDS: Final = 30.0
ROWS: Final = 256
_CHECK_EVERY: Final = 20_000
_QUIET: Final = (
    "PRAGMA query_only=ON",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
    "PRAGMA mmap_size=0",
    "PRAGMA temp_store=MEMORY",
)
# Numbers of SQLite's own: what one statement, value or row may take. Libraries whose driver
# cannot set them keep the bounds of time.
_LIMITS: Final = (
    (0, 64 << 20),  # bytes of a value or row
    (1, 1 << 20),  # bytes of a statement
    (2, 2000),  # columns
    (3, 200),  # depth of an expression
    (4, 50),  # terms of a compound SELECT
    (7, 0),  # attached databases
    (10, 0),  # depth of triggers
    (11, 0),  # worker threads
)
_FORBIDDEN: Final = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"})
_ALLOWED: Final = frozenset(
    {driver.SQLITE_SELECT, driver.SQLITE_READ, driver.SQLITE_RECURSIVE, driver.SQLITE_TRANSACTION}
)
_KINDS: Final = {
    "SQLITE_BUSY": "it is locked by another program",
    "SQLITE_LOCKED": "it is locked by another program",
    "SQLITE_PROTOCOL": "it is locked by another program",
    "SQLITE_CANTOPEN": "it cannot be opened",
    "SQLITE_READONLY": "it cannot be opened for reading only now",
    "SQLITE_CORRUPT": "it is damaged",
    "SQLITE_NOTADB": "it is no SQLite database, or is encrypted",
    "SQLITE_IOERR": "it cannot be read (an error of the disk or the file system)",
    "SQLITE_TOOBIG": "a value in it is too large",
    "SQLITE_NOMEM": "a value in it is too large",
    "SQLITE_PERM": "it may not be read (permission denied)",
    "SQLITE_AUTH": "the statement may do more than read",
}


class Interrupted(ForeignDatabaseError):
    """Reading took longer than another program's database may be kept in use."""

    code = "foreign_database_slow"


class ForeignConnection:
    """One read transaction; implements `ForeignDatabase`."""

    def __init__(self, name: str, uri: str, seconds: float = TRANSACTION_SECONDS) -> None:
        """Open it and begin the transaction.

        Args:
            name: path to tell in errors.
            uri: of the file, with `mode=ro`.
            seconds: how long the transaction may last.

        Raises:
            ForeignDatabaseError: it cannot be opened or read.
        """
        self._name = name
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._connection: Any = None
        with self._explained():
            self._connection = driver.connect(
                uri,
                uri=True,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
        try:
            with self._explained():
                self._begin()
        except BaseException:
            self.close()
            raise

    def rows(
        self, statement: str, parameters: Sequence[object] = ()
    ) -> Iterator[tuple[object, ...]]:
        """Rows of one SELECT, read in batches.

        Raises:
            ForeignDatabaseError: there is no such table or column, the file is damaged, or reading
                takes too long.
        """
        cursor = self._call(lambda: self._connection.execute(statement, tuple(parameters)))
        try:
            while batch := self._call(lambda: cursor.fetchmany(ROWS)):
                yield from batch
        finally:
            with contextlib.suppress(driver.Error):
                cursor.close()

    def tables(self) -> frozenset[str]:
        """Names of its tables and views."""
        found = self.rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        return frozenset(name for (name,) in found if isinstance(name, str))

    def columns(self, table: str) -> frozenset[str]:
        """Columns of a table; empty when there is none."""
        found = self.rows("SELECT name FROM pragma_table_info(?)", (table,))
        return frozenset(name for (name,) in found if isinstance(name, str))

    def allow(self, seconds: float) -> None:
        """Let the transaction last so long from now; for who reads all of a file once."""
        self._seconds, self._until = seconds, time.monotonic() + seconds

    def close(self) -> None:
        """End the transaction and let go of the file."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(driver.Error):
                connection.rollback()
            with contextlib.suppress(driver.Error):
                connection.close()

    def _begin(self) -> None:
        connection = self._connection
        connection.text_factory = _repaired
        if hasattr(connection, "setlimit"):
            for number, value in _LIMITS:
                connection.setlimit(number, value)
        for pragma in _QUIET:
            connection.execute(pragma).fetchall()
        connection.set_authorizer(_authorize)
        connection.set_progress_handler(self._too_late, _CHECK_EVERY)
        connection.execute("BEGIN")
        # The transaction begins with the first read.
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()

    def _call(self, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - the driver's values
        if self._connection is None:
            raise ForeignDatabaseError(f"{self._name} is closed already")
        if self._too_late():
            raise self._interrupted()
        with self._explained():
            return work()

    def _too_late(self) -> bool:
        return time.monotonic() > self._until

    def _interrupted(self) -> Interrupted:
        return Interrupted(
            f"reading {self._name} took more than {self._seconds:g} s",
            hint="it is tried again; close the program that uses it if that does not help",
        )

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn the driver's errors into ours, without words of the database.

        Raises:
            ForeignDatabaseError: instead of any error of the driver.
        """
        try:
            yield
        except driver.Error as error:
            if self._too_late():
                raise self._interrupted() from error
            raise ForeignDatabaseError(
                f"{self._name} cannot be read: {_reason(error)}", hint="it is tried again"
            ) from error
        except UnicodeDecodeError as error:
            # The driver could not even say what is wrong: the words are those of the database.
            raise ForeignDatabaseError(
                f"{self._name} cannot be read: it is damaged", hint="it is tried again"
            ) from error
        except (OverflowError, MemoryError) as error:
            raise ForeignDatabaseError(
                f"{self._name} cannot be read: a value in it is too large"
            ) from error


def _reason(error: Exception) -> str:
    name = str(getattr(error, "sqlite_errorname", None) or "")
    for kind, words in _KINDS.items():
        if name.startswith(kind):
            return words
    text = str(error)
    # These name what the statement asks for, which is ours.
    if text.startswith(("no such table: ", "no such column: ")):
        return text[:200]
    return f"{type(error).__name__} {name}".strip()


def _authorize(action: int, first: str | None, second: str | None, *_rest: object) -> int:
    """Let statements read, and look at the columns of a table; nothing else."""
    if action in _ALLOWED:
        allowed = True
    elif action == driver.SQLITE_FUNCTION:
        allowed = (second or "").lower() not in _FORBIDDEN
    else:
        allowed = action == driver.SQLITE_PRAGMA and first == "table_info"
    return int(driver.SQLITE_OK if allowed else driver.SQLITE_DENY)


def _repaired(data: bytes) -> str:
    """Text as it is meant to be; bytes that are no UTF-8 become replacement characters."""
    return data.decode("utf-8", "replace")
