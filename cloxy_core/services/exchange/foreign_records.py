"""Rows of a table by the names of their columns, whatever version of a system made it."""

from collections.abc import Iterator, Mapping, Sequence

from cloxy_core.services.exchange.foreign_memories import TableReader, Told
from cloxy_core.services.exchange.foreign_rows import count_rows, present, table_rows

Record = Mapping[str, object]


def records(
    database: TableReader, told: Told, table: str, columns: Sequence[str]
) -> Iterator[Record]:
    """Rows of a table in the order in which they were written, past damaged places.

    Args:
        database: where it lies.
        told: is told of damage.
        table: its name; nothing comes of one that is not there.
        columns: what is wanted; None stands for those that this version does not have.

    Raises:
        ForeignTrouble: it cannot be read at all.
    """
    if table not in database.tables():
        return
    for row in table_rows(database, told, table, present(database, table, columns)):
        yield dict(zip(columns, row, strict=True))


def tell_left_out(database: TableReader, told: Told, table: str, words: str) -> None:
    """Tell how many rows a table has of which nothing is taken over.

    Args:
        database: where it lies, if it is there.
        told: is told.
        table: its name.
        words: what its rows are, in the plural.
    """
    number = count_rows(database, told, table)
    if number:
        told.homeless[f"{words} (left out)"] += number
