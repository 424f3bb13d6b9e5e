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
    last = last_id(connection, table)
    return range(last + 1, last + 1 + count)


def last_id(connection: Connection, table: Table) -> int:
    """The highest id that a table ever gave, those of deleted rows included; 0 for none."""
    last: int | None = connection.execute(_COUNTER, {"name": table.name}).scalar()
    return last or 0
