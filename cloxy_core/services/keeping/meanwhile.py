"""Copies that are made while something is forgotten: they are made again.

Who forgets looks for copies that are known; who makes a copy looks, once it is known, whether
something was forgotten since it was begun. So one of the two finds out.
"""

from contextlib import closing
from pathlib import Path
from typing import Any, Final

from cloxy_core.store.connections import connect
from cloxy_hookspecs import StoreBusyError

TRIES: Final = 5
_MARK: Final = "SELECT count(*), max(at), sum(at) FROM tombstones"

Mark = tuple[object, ...]
"""Is another one after something was forgotten."""


def forgotten_so_far(connection: Any) -> Mark:  # noqa: ANN401 - the driver's connection
    """The mark of a database."""
    return tuple(connection.execute(_MARK).fetchone())


def forgotten_until_now(database: Path) -> Mark:
    """The mark of the live database; no connection of this process may be open."""
    with closing(connect(database, "mode=ro")) as connection:
        return forgotten_so_far(connection)


def too_often(target: Path) -> StoreBusyError:
    """The refusal to leave a copy that may hold what was forgotten."""
    return StoreBusyError(
        f"text was being forgotten all the time while {target} was made",
        hint="nothing is left of it; try again when that is done",
    )
