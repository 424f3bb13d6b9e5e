"""What other tables say of some rows, looked up a few hundred rows at a time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar

from cloxy_core.services.exchange.foreign_limits import DAMAGE_HINT, ForeignDamage
from cloxy_core.services.exchange.foreign_memories import Row, TableReader, Told

AT_ONCE: Final = 500
MOST: Final = 500_000
"""Rows that may belong to so many ids; pages of a damaged file may lead back to earlier ones."""

_T = TypeVar("_T")


@dataclass(slots=True)
class Related:
    """Looks up rows of other tables; one that is damaged is told once, and then left.

    Attributes:
        database: where they lie.
        told: is told of damage.
    """

    database: TableReader
    told: Told
    _broken: set[str] = field(default_factory=set[str])

    def by_id(
        self, table: str, column: str, wanted: Sequence[str], columns: Sequence[str], source: str
    ) -> Mapping[str, Sequence[Row]]:
        """Rows that belong to some ids.

        Args:
            table: that is read, for what is told; without it there are none.
            column: that holds the id.
            wanted: the ids, at most `AT_ONCE`.
            columns: what is wanted of a row.
            source: what stands behind FROM.
        """
        found: dict[str, list[Row]] = {}
        if not wanted or table in self._broken or not self.database.columns(table):
            return found
        marks = ", ".join("?" * len(wanted))
        statement = (
            f"SELECT {column}, {', '.join(columns)} FROM {source} WHERE {column} IN ({marks})"  # noqa: S608 - names of ours
        )
        try:
            for count, row in enumerate(self.database.rows(statement, tuple(wanted))):
                if count > MOST:
                    raise ForeignDamage("its rows do not end", DAMAGE_HINT)
                if isinstance(row[0], str):
                    found.setdefault(row[0], []).append(row[1:])
        except ForeignDamage:
            self._broken.add(table)
            self.told.pass_over(f"{table}: it is damaged, and a part of it is missing")
        return found


def in_batches(items: Iterator[_T]) -> Iterator[Sequence[_T]]:
    """A few hundred at a time."""
    while batch := list(islice(items, AT_ONCE)):
        yield batch
