"""Whole tables of a database of others, also past places that are damaged."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cloxy_core.services.exchange.foreign_limits import DAMAGE_HINT, ForeignDamage
from cloxy_core.services.exchange.foreign_memories import Row, TableReader, Told

MOST_SKIPPED: Final = 1000
"""Damaged rows of a table after which it is not read on in that direction."""

MOST_COUNTED: Final = 10_000_000

_ONE: Final = " LIMIT 1"


def table_rows(
    database: TableReader, told: Told, table: str, columns: Sequence[str]
) -> Iterator[Row]:
    """Rows of a table in the order in which they were written.

    Rows that are damaged are passed over one by one. Where not even their numbers can be read,
    the rest is read from the other end, the newest first.

    Args:
        database: where it lies; the table is there, has rowids and these columns.
        told: is told of the damage.
        table: its name.
        columns: what is wanted of a row: names, or expressions of them.

    Raises:
        ForeignTrouble: it cannot be read any more.
    """
    reading = _Reading(database, told, table, columns)
    stopped = yield from reading.run(_Bounds(), newest_first=False)
    if stopped is not None:
        yield from reading.run(_Bounds(low=stopped.low), newest_first=True)
        told.pass_over(f"{table}: a part of it is damaged, and the rows in it could not be read")


def present(database: TableReader, table: str, columns: Sequence[str]) -> Sequence[str]:
    """Columns for a SELECT, in order: NULL stands for those that a table does not have."""
    there = database.columns(table)
    return [name if name in there else "NULL" for name in columns]


def missing_columns(database: TableReader, needed: Mapping[str, Sequence[str]]) -> str | None:
    """What is missing of the columns that are needed, in words; None when they are there."""
    for table, columns in needed.items():
        there = database.columns(table)
        if not there:
            return f"it has no table {table}"
        missing = [name for name in columns if name not in there]
        if missing:
            return f"its table {table} has no {' and no '.join(missing)}"
    return None


def count_rows(database: TableReader, told: Told, table: str, where: str = "1") -> int:
    """How many rows a table has, up to ten million; 0 where it is not there or damaged."""
    if not database.columns(table):
        return 0
    try:
        # Bounded, since the pages of a damaged file may lead back to earlier ones for ever.
        rows = f"SELECT 1 FROM {table} WHERE {where} LIMIT {MOST_COUNTED}"  # noqa: S608 - names of ours
        found = next(database.rows(f"SELECT count(*) FROM ({rows})"), (0,))[0]  # noqa: S608
    except ForeignDamage:
        told.pass_over(f"{table}: it is damaged, and was not counted")
        return 0
    return found if isinstance(found, int) else 0


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Numbers of rows between which rows are still wanted; None where there is no bound."""

    low: int | None = None
    high: int | None = None

    def behind(self, rowid: int, *, newest_first: bool) -> "_Bounds":
        """What is wanted after a row."""
        return _Bounds(self.low, rowid) if newest_first else _Bounds(rowid, self.high)

    def hold(self, rowid: int) -> bool:
        """Whether a row is wanted."""
        return (self.low is None or rowid > self.low) and (self.high is None or rowid < self.high)

    def condition(self) -> tuple[str, tuple[object, ...]]:
        """As SQL, and its parameters."""
        parts = [
            (text, value)
            for text, value in (("_rowid_ > ?", self.low), ("_rowid_ < ?", self.high))
            if value is not None
        ]
        words = " AND ".join(text for text, _value in parts) or "1"
        return words, tuple(value for _text, value in parts)


@dataclass(slots=True)
class _Reading:
    """One table while it is read."""

    database: TableReader
    told: Told
    table: str
    columns: Sequence[str]

    def run(self, bounds: _Bounds, *, newest_first: bool) -> Generator[Row, None, _Bounds | None]:
        """Rows in one direction; at last what could not be reached, None when all was."""
        for _skipped in range(MOST_SKIPPED):
            is_single = False
            while True:
                rows = self._rows(bounds, newest_first=newest_first, is_single=is_single)
                count = 0
                try:
                    for row in rows:
                        count += 1
                        bounds = self._behind(bounds, row[0], newest_first=newest_first)
                        yield row[1:]
                except ForeignDamage:
                    if is_single:
                        break
                    # Rows come in batches, and one that holds a bad row is lost whole.
                    is_single = True
                else:
                    if not (is_single and count):
                        return None
            nearest = self._nearest(bounds, newest_first=newest_first)
            if nearest is None:
                break
            self.told.pass_over(f"{self.table}: row {nearest} is damaged")
            bounds = bounds.behind(nearest, newest_first=newest_first)
        return bounds

    def _rows(self, bounds: _Bounds, *, newest_first: bool, is_single: bool) -> Iterator[Row]:
        condition, parameters = bounds.condition()
        order = "DESC" if newest_first else "ASC"
        statement = (
            f"SELECT _rowid_, {', '.join(self.columns)} FROM {self.table} "  # noqa: S608 - names of ours
            f"WHERE {condition} ORDER BY _rowid_ {order}{_ONE if is_single else ''}"
        )
        return self.database.rows(statement, parameters)

    def _nearest(self, bounds: _Bounds, *, newest_first: bool) -> int | None:
        """Number of the next row, which is bad; None when that cannot be read either."""
        condition, parameters = bounds.condition()
        nearest = "max" if newest_first else "min"
        statement = f"SELECT {nearest}(_rowid_) FROM {self.table} WHERE {condition}"  # noqa: S608 - names of ours
        try:
            row = next(self.database.rows(statement, parameters), (None,))
        except ForeignDamage:
            return None
        found = row[0]
        return found if isinstance(found, int) and bounds.hold(found) else None

    def _behind(self, bounds: _Bounds, rowid: object, *, newest_first: bool) -> _Bounds:
        """What is wanted after a row.

        Raises:
            ForeignDamage: the row is not one of those that were asked for, as where the pages of
                a damaged file lead back to earlier ones.
        """
        if not isinstance(rowid, int) or not bounds.hold(rowid):
            raise ForeignDamage("its rows are in disorder", DAMAGE_HINT)
        return bounds.behind(rowid, newest_first=newest_first)
