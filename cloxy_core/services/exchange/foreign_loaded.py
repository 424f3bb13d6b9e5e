"""Rows of another system's export, in tables such as its database has; kept in memory alone."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cloxy_core.services.exchange.foreign_memories import Row
from cloxy_core.services.exchange.foreign_talk import string
from cloxy_core.store.library import driver

_INTEGER: Final = 1 << 63
_ROWS: Final = 256


class LoadedTables:
    """Implements `TableReader` over what was put in before; nothing of it is written to a disk."""

    def __init__(self, tables: Mapping[str, Sequence[str]]) -> None:
        """Make the tables.

        Args:
            tables: columns by the name of a table; all names are ours.
        """
        self._tables = {name: tuple(columns) for name, columns in tables.items()}
        self._connection: Any = driver.connect(":memory:", isolation_level=None)
        for pragma in ("temp_store=MEMORY", "journal_mode=OFF"):
            self._connection.execute(f"PRAGMA {pragma}").fetchall()
        for name, columns in self._tables.items():
            # Without types, so that a value stays what it was.
            self._connection.execute(f"CREATE TABLE {name} ({', '.join(columns)})")

    def put(self, table: str, values: Mapping[str, object]) -> None:
        """Add a row; what has no column is left out."""
        columns = self._tables[table]
        marks = ", ".join("?" * len(columns))
        cells = [_cell(values.get(name)) for name in columns]
        self._connection.execute(f"INSERT INTO {table} VALUES ({marks})", cells)  # noqa: S608 - names of ours

    def run(self, statement: str) -> None:
        """Run a statement of ours."""
        self._connection.execute(statement).fetchall()

    def tables(self) -> frozenset[str]:
        """Names of the tables."""
        return frozenset(self._tables)

    def columns(self, table: str) -> frozenset[str]:
        """Columns of a table; empty when there is none."""
        return frozenset(self._tables.get(table, ()))

    def rows(self, statement: str, parameters: tuple[object, ...] = ()) -> Iterator[Row]:
        """Rows of a SELECT."""
        cursor = self._connection.execute(statement, parameters)
        while batch := cursor.fetchmany(_ROWS):
            yield from batch

    def close(self) -> None:
        """Let go of all of it."""
        self._connection.close()


def _cell(value: object) -> object:
    """A value of JSON as a database has it: lists and objects are text in JSON."""
    if isinstance(value, str):
        return string(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, dict | list):
        return json.dumps(value)
    if isinstance(value, int) and not -_INTEGER <= value < _INTEGER:
        return None
    return value
