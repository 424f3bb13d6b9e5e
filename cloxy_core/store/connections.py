"""Connections to the database: one that writes, some that only read."""

import sys
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool, StaticPool

from cloxy_core.store.library import driver
from cloxy_hookspecs.errors import StoreError

APPLICATION_ID: Final = 0x436C6F78  # "Clox"
BUSY_SECONDS: Final = 5.0
_WAL_LIMIT_BYTES: Final = 16 * 1024 * 1024
_CHECKPOINT_PAGES: Final = 1000
_STATEMENT_CACHE: Final = 256

_EVERY_CONNECTION: Final = (
    "PRAGMA foreign_keys=ON",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
    # A failing or shortened file under a memory map is a crash, not an error.
    "PRAGMA mmap_size=0",
)
_WRITER: Final = (
    "PRAGMA synchronous=NORMAL",
    "PRAGMA secure_delete=ON",
    f"PRAGMA journal_size_limit={_WAL_LIMIT_BYTES}",
    f"PRAGMA wal_autocheckpoint={_CHECKPOINT_PAGES}",
)
_READER: Final = ("PRAGMA query_only=ON",)
_MACOS: Final = ("PRAGMA fullfsync=ON", "PRAGMA checkpoint_fullfsync=ON")


def file_uri(path: Path, *options: str) -> str:
    """The URI of a database file; every character of the path is itself."""
    return f"{path.absolute().as_uri()}?{'&'.join(options)}"


def connect(path: Path, *options: str) -> Any:  # noqa: ANN401 - the driver's connection
    """Open a plain connection of the driver, without transactions of its own.

    Args:
        path: The file.
        options: URI parameters such as `mode=ro`.
    """
    return driver.connect(
        file_uri(path, *options),
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENT_CACHE,
    )


def driver_connection(connection: Connection) -> Any:  # noqa: ANN401 - the driver's connection
    """The driver's own connection below SQLAlchemy's."""
    return connection.connection.driver_connection


def writer_engine(path: Path) -> Engine:
    """An engine of exactly one connection, whose transactions are `BEGIN IMMEDIATE`.

    It is the only connection that writes and the only one that checkpoints, which is also what
    makes libraries with the WAL-reset bug safe.
    """

    def open_writer() -> Any:  # noqa: ANN401 - the driver's connection
        connection = connect(path, "mode=rw")
        macos = _MACOS if sys.platform == "darwin" else ()
        _run(connection, (*_EVERY_CONNECTION, *_WRITER, *macos))
        _require_log(connection, path)
        return connection

    # The words of an error go to the log, where what people said has no place: no parameters.
    engine = create_engine(
        "sqlite://",
        creator=open_writer,
        module=driver,
        poolclass=StaticPool,
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin_immediate)
    return engine


def reader_engine(path: Path, connections: int, *options: str) -> Engine:
    """An engine of read-only connections, each of whose transactions is one snapshot.

    Args:
        path: The file.
        connections: How many there may be at once.
        options: Further URI parameters.
    """

    def open_reader() -> Any:  # noqa: ANN401 - the driver's connection
        # Read-only by its mode too, so that the last one to close does not checkpoint.
        connection = connect(path, "mode=ro", *options)
        _run(connection, (*_EVERY_CONNECTION, *_READER))
        return connection

    engine = create_engine(
        "sqlite://",
        creator=open_reader,
        module=driver,
        poolclass=QueuePool,
        pool_size=connections,
        max_overflow=0,
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin)
    return engine


def _require_log(connection: Any, path: Path) -> None:  # noqa: ANN401 - the driver's connection
    """Set the journal mode, which the file keeps, again in case that somebody changed it."""
    try:
        (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
        if mode != "wal":
            raise StoreError(
                f"SQLite cannot keep a write-ahead log beside {path}: its file system lacks "
                "shared memory",
                hint="set CLOXY_DATA_DIR to a folder on a local disk",
            )
    except BaseException:
        connection.close()
        raise


def _run(connection: Any, statements: tuple[str, ...]) -> None:  # noqa: ANN401 - the driver's
    try:
        for statement in statements:
            connection.execute(statement).fetchall()
    except BaseException:
        connection.close()
        raise


# Begun below SQLAlchemy, whose own way to run a statement costs more than a small read itself.
def _begin_immediate(connection: Connection) -> None:
    driver_connection(connection).execute("BEGIN IMMEDIATE")


def _begin(connection: Connection) -> None:
    driver_connection(connection).execute("BEGIN")
