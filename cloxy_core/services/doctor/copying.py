"""Copying what can be read of damaged tables, around what cannot."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cloxy_core.services.doctor.findings import Tell
from cloxy_core.store.library import driver

HIGHEST: Final = (1 << 63) - 1
"""The greatest row id."""

RUN_LIMIT: Final = 150_000
"""Unreadable row ids in a row after which a table of unknown length counts as over: as many as
can hang on one page inside the tree."""

_ROWS_A_PAGE: Final = 400
_ORDINARY: Final = """
    SELECT name, sql FROM old.sqlite_schema
    WHERE type = 'table' AND name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY rowid
"""
Range = tuple[int, int]


@dataclass(slots=True)
class Copied:
    """What became of one table.

    Attributes:
        rows: rows that are in the new one.
        lost: ranges of row ids that could not be read, the last possible one included.
        open_end: whether it is unknown how far the table went.
    """

    rows: int = 0
    lost: list[Range] = field(default_factory=list)
    open_end: bool = False


def tables_of(connection: Any) -> Sequence[tuple[str, str]]:  # noqa: ANN401 - the driver's
    """Name and definition of the tables in `old`, without those behind virtual tables.

    Raises:
        driver.DatabaseError: the schema cannot be read.
    """
    found = [(str(name), str(sql)) for name, sql in connection.execute(_ORDINARY).fetchall()]
    virtual = tuple(f"{name}_" for name, sql in found if is_virtual(sql))
    return [(name, sql) for name, sql in found if not (virtual and name.startswith(virtual))]


def is_virtual(sql: str) -> bool:
    """Whether a definition is that of a virtual table."""
    return sql.lstrip().upper().startswith("CREATE VIRTUAL")


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def columns_of(connection: Any, schema: str, table: str) -> list[str]:  # noqa: ANN401 - the driver's
    """Columns of a table."""
    rows = connection.execute(f"PRAGMA {schema}.table_info({quoted(table)})").fetchall()
    return [str(row[1]) for row in rows]


def copy_table(connection: Any, table: str, pages: int, tell: Tell) -> Copied:  # noqa: ANN401 - the driver's
    """Copy the rows of `old` into `main`; those that are there already stay.

    A range of which a part is unreadable is halved until only that part is left out.

    Args:
        connection: outside of any transaction, so that what was copied stays.
        table: a table in both.
        pages: how many pages the damaged file has; bounds a table whose end is unreadable.
        tell: told how far it is.
    """
    copied = Copied()
    statement = copy_statement(connection, "old", table)
    last, copied.open_end = _end(connection, table, pages)
    waiting = [(1, last)]
    while waiting:
        start, end = waiting.pop()
        tell(f"copying {table}: {copied.rows:,} rows")
        try:
            copied.rows += connection.execute(statement, (start, end)).rowcount
        except driver.Error:
            if start < end:
                middle = (start + end) // 2
                waiting += [(middle + 1, end), (start, middle)]
                continue
            _add(copied.lost, start)
            if copied.open_end and copied.lost[-1][1] - copied.lost[-1][0] > RUN_LIMIT:
                break
    return copied


def copy_statement(connection: Any, schema: str, table: str) -> str:  # noqa: ANN401 - the driver's
    """SQL that copies a range of row ids between the columns that both have."""
    new, old = columns_of(connection, "main", table), columns_of(connection, schema, table)
    if len(new) == len(old):
        # By place: in a damaged file a name may be wrong.
        pairs = list(zip(new, old, strict=True))
    else:
        pairs = [(name, name) for name in old if name in new]
    # Rows keep their ids; only migrations are noted before anything is copied.
    own_id = "id" in new or "seq" in new or table == "schema_migrations"
    if not own_id:
        pairs = [("rowid", "rowid"), *pairs]
    target = ", ".join(quoted(name) for name, _ in pairs)
    wanted = ", ".join(quoted(name) for _, name in pairs)
    # Not through an index, which may be damaged where the table is not.
    return (
        f"INSERT OR IGNORE INTO main.{quoted(table)} ({target}) SELECT {wanted}"  # noqa: S608
        f" FROM {schema}.{quoted(table)} NOT INDEXED WHERE rowid BETWEEN ? AND ?"
    )


def _add(ranges: list[Range], number: int) -> None:
    if ranges and ranges[-1][1] == number - 1:
        ranges[-1] = (ranges[-1][0], number)
    else:
        ranges.append((number, number))


def _end(connection: Any, table: str, pages: int) -> tuple[int, bool]:  # noqa: ANN401 - the driver's
    """The highest row id to look for, and whether that is a guess."""
    named = "SELECT seq FROM old.sqlite_sequence WHERE name = ?"
    # A damaged cell may claim any number, so what is noted counts first.
    if noted := _number(connection, named, (table,)):
        return noted, False
    whole = f"SELECT max(rowid) FROM old.{quoted(table)} NOT INDEXED"  # noqa: S608
    limit = pages * _ROWS_A_PAGE
    found = _number(connection, whole, ())
    return (limit, True) if found is None else (min(found, limit), False)


def _number(connection: Any, statement: str, values: tuple[str, ...]) -> int | None:  # noqa: ANN401 - the driver's
    """The number that a statement gives, 0 for none; None when it cannot be read."""
    try:
        row = connection.execute(statement, values).fetchone()
    except driver.Error:
        return None
    return int(row[0]) if row and isinstance(row[0], int) else 0


def rows_missing(connection: Any, table: str, copied: Copied) -> int:  # noqa: ANN401 - the driver's
    """At most how many rows of the lost ranges are still not there."""
    missing = 0
    for first, last in copied.lost:
        statement = f"SELECT count(*) FROM main.{quoted(table)} WHERE rowid BETWEEN ? AND ?"  # noqa: S608
        (there,) = connection.execute(statement, (first, last)).fetchone()
        missing += last - first + 1 - int(there)
    return missing


def everything() -> Copied:
    """A table of which nothing could be read."""
    return Copied(lost=[(1, HIGHEST)], open_end=True)


def hashed(data: bytes | str | None) -> str:
    """SHA-256 of a value, hexadecimal; offered to SQL."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data or b""
    return hashlib.sha256(raw).hexdigest()
