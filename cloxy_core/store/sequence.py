"""Ids given out before the rows are written.

A bulk insert that knows its ids is one statement for all rows. There is one writer, so that the
next free id is certain inside its transaction; ids are never reused, because the tables are
declared AUTOINCREMENT and SQLite raises the counter to every id that is inserted.
"""

from sqlalchemy import Connection, Table, text

_COUNTER = text("SELECT seq FROM sqlite_sequence WHERE name = :name")


def next_ids(connection: Connection, table: Table, count: int) -> range:
    """The next `count` ids of a table, ascending; they must be inserted in this transaction."""
    if not count:
        return range(0)
    last = connection.execute(_COUNTER, {"name": table.name}).scalar() or 0
    return range(last + 1, last + 1 + count)
