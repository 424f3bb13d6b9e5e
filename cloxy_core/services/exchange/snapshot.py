"""A read-only connection of its own to a database that a server may be using."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection

from cloxy_core.store.connections import reader_engine
from cloxy_core.store.core_migrations import CORE_MIGRATIONS
from cloxy_core.store.failures import explained
from cloxy_core.store.inspection import check_file
from cloxy_core.store.migrations import newest_core_number


@contextmanager
def snapshot(database: Path) -> Iterator[Connection]:
    """One read transaction on a database file; no other connection of this process may exist.

    Raises:
        CloxyError: the file is not of this version's kind, or cannot be read.
    """
    check_file(database, newest_core_number(CORE_MIGRATIONS))
    engine = reader_engine(database, 1)
    try:
        with explained(database), engine.connect() as connection, connection.begin():
            yield connection
    finally:
        engine.dispose()
