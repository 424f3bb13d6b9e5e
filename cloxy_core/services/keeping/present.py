"""What a database that is about to be replaced knows, and must not be lost with it."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cloxy_core.services.doctor.buried import buried_by_index
from cloxy_core.store.connections import APPLICATION_ID, connect
from cloxy_core.store.inspection import read_header
from cloxy_core.store.library import driver
from cloxy_hookspecs import ForeignDatabaseError, IntegrityError

Grave = tuple[str, bytes, int]
"""Scope, keyed hash, and when it was forgotten in milliseconds."""

KEY: Final = "key"
_GRAVES: Final = "SELECT scope, key_hmac, at FROM tombstones"
_TITLES: Final = "SELECT agent, key, title FROM sessions WHERE title IS NOT NULL"
_RULES_EXIST: Final = "SELECT 1 FROM sqlite_master WHERE name = 'project_rules'"
_RULES: Final = 'SELECT "key", path, ignored, keep_days, at FROM project_rules'
_SEQUENCES: Final = "SELECT name, seq FROM sqlite_sequence"


@dataclass(frozen=True, slots=True)
class Present:
    """What is taken over.

    Attributes:
        exists: whether there is a database.
        graves: the list of what was forgotten.
        lost: whether that list may be short, since the database is damaged.
        titles: titles of sessions, by agent and key.
        rules: of projects: key, path, ignored, days, and since when.
        sequences: the highest ids that were ever given, by table.
    """

    exists: bool = False
    graves: Sequence[Grave] = ()
    lost: bool = False
    titles: Mapping[tuple[str, str], str] = field(default_factory=dict)
    rules: Sequence[tuple[object, ...]] = ()
    sequences: Mapping[str, int] = field(default_factory=dict)

    @property
    def marks(self) -> frozenset[bytes]:
        """Of the keys that things were forgotten with."""
        return marks_of(self.graves)


def marks_of(graves: Sequence[Grave]) -> frozenset[bytes]:
    """Of the keys that the hashes of a list were made with."""
    return frozenset(mark for scope, mark, _ in graves if scope == KEY)


def graves_in(connection: Any) -> Sequence[Grave]:  # noqa: ANN401 - the driver's
    """The list of what was forgotten."""
    return [(str(scope), bytes(mark), int(at)) for scope, mark, at in connection.execute(_GRAVES)]


def look_at(database: Path, now: int) -> Present:
    """Read it, as far as it can be read.

    Args:
        database: of the data directory, whose lock is held.
        now: stands for times that were lost, milliseconds.

    Raises:
        ForeignDatabaseError: it is another program's.
    """
    if not database.exists():
        return Present()
    try:
        if read_header(database).application_id != APPLICATION_ID:
            raise ForeignDatabaseError(
                f"{database} is a database of another program, or of Cloxy 5 or earlier",
                hint="move it away, or set CLOXY_DATA_DIR to another folder; it was left untouched",
            )
        with closing(connect(database, "mode=rw")) as connection:
            try:
                return _read(connection)
            except (driver.Error, ValueError, TypeError):
                rows = buried_by_index(connection, "main")
    except (IntegrityError, driver.Error):
        return Present(exists=True, lost=True)
    graves = [(scope, mark, 0 if scope == KEY else now) for _, scope, mark in rows]
    return Present(exists=True, graves=graves, lost=True)


def _read(connection: Any) -> Present:  # noqa: ANN401 - the driver's
    rows = connection.execute(_TITLES).fetchall()
    return Present(
        exists=True,
        graves=graves_in(connection),
        titles={(str(agent), str(key)): str(title) for agent, key, title in rows},
        rules=_rules(connection),
        sequences={str(name): int(last) for name, last in connection.execute(_SEQUENCES)},
    )


def _rules(connection: Any) -> Sequence[tuple[object, ...]]:  # noqa: ANN401 - the driver's
    """Rules of projects; an older schema has none."""
    if connection.execute(_RULES_EXIST).fetchone() is None:
        return ()
    return [tuple(row) for row in connection.execute(_RULES)]
