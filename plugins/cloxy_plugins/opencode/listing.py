"""Which sessions a database has, and what shows that they changed, without reading a body."""

from collections.abc import Mapping
from dataclasses import dataclass

from cloxy_hookspecs import ForeignDatabase
from cloxy_plugins.opencode.values import milliseconds, usable_id
from cloxy_plugins.opencode.versions import Version

SESSIONS = ("session_v2", "session")
"""Tables of sessions; a row of the first counts more."""

_ROWS = ("message", "part", "session_message")
_RECENT = 2 * 86_400_000


def sessions_in(database: ForeignDatabase) -> Mapping[str, Version]:
    """Sessions of a database and what shows that they changed.

    Counts and times of creation come from indexes. Rows are written anew while an answer comes,
    and not later, so that only rows of recent sessions are asked when they were.

    Raises:
        ForeignDatabaseError: it cannot be read.
    """
    tables = database.tables()
    found: dict[str, _Marks] = {}
    for table in SESSIONS:
        if table in tables:
            for key, updated in database.rows(f"SELECT id, time_updated FROM {table}"):  # noqa: S608
                if (usable := usable_id(key)) is not None:
                    marks = found.setdefault(usable, _Marks())
                    marks.session = max(marks.session, milliseconds(updated))
    present = [table for table in _ROWS if table in tables]
    for table in present:
        _count(database, found, table)
    newest = max((marks.latest for marks in found.values()), default=0)
    for key, marks in found.items():
        if marks.latest >= newest - _RECENT:
            marks.updated = tuple(_updated(database, key, table) for table in present)
    return {
        key: Version(marks.count, (marks.session, marks.created, *marks.updated))
        for key, marks in found.items()
    }


@dataclass(slots=True)
class _Marks:
    """What shows that a session changed; times in milliseconds."""

    count: int = 0
    session: int = 0
    created: int = 0
    updated: tuple[int, ...] = ()

    @property
    def latest(self) -> int:
        return max(self.session, self.created)


def _count(database: ForeignDatabase, found: Mapping[str, _Marks], table: str) -> None:
    created = "max(time_created)" if table != "part" else "0"
    statement = f"SELECT session_id, count(*), {created} FROM {table} GROUP BY session_id"  # noqa: S608
    for key, count, newest in database.rows(statement):
        marks = found.get(key) if isinstance(key, str) else None
        if marks is not None and isinstance(count, int):
            marks.count += count
            marks.created = max(marks.created, milliseconds(newest))


def _updated(database: ForeignDatabase, key: str, table: str) -> int:
    statement = f"SELECT max(time_updated) FROM {table} WHERE session_id = ?"  # noqa: S608
    return max(milliseconds(updated) for (updated,) in database.rows(statement, (key,)))
