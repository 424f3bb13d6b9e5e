"""Making removed words unreadable in the bytes of the index.

FTS5 itself only marks what is removed, and drops it when it merges segments. Merging all of them
takes about half a second for 100,000 passages. A library that can erase at once is told to do so
from the first scrub on: that one still merges everything, since older removals left their words,
and later ones have nothing to do.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

ERASES_SINCE = (3, 51, 3)
"""SQLite knows the option since 3.42; before this version it, or the log beside it, had faults.

Up to 3.53 a file that somebody made for it can overflow a buffer in the code that erases. It is
used there all the same, because an index of that kind never gets here: this one is always built
by this plugin, in a directory that only its owner can write to. A restore builds the index of the
file anew before it removes anything, an upgrade, an import and a repair take over rows alone.
"""

_SWITCH = "secure-delete"
_OLD_FORMAT = 4


def scrub(connection: "Connection") -> None:
    """Merge all segments, unless every removal since the last merge erased what it removed."""
    if not can_erase(connection):
        _merge(connection)
        return
    if is_erasing(connection):
        return
    _merge(connection)
    connection.exec_driver_sql(
        "INSERT INTO passages_fts(passages_fts, rank) VALUES(?, 1)", (_SWITCH,)
    )


def part(connection: "Connection") -> None:
    """Have removals written before anything is put in again.

    FTS5 marks a passage that is removed and put in at once as one that is in the place of an
    older one. The mark survives every merge, and when such a passage is erased later, its words
    stay behind in an entry that says that it is gone. A savepoint has FTS5 write what it holds.
    """
    connection.exec_driver_sql("SAVEPOINT removed")
    connection.exec_driver_sql("RELEASE removed")


def make_readable(connection: "Connection") -> None:
    """Let a library that cannot erase use an index again in which one that can has done so.

    It refuses every statement on it until then. The index must be emptied directly after.
    """
    if can_erase(connection):
        return
    connection.exec_driver_sql("DELETE FROM passages_fts_config WHERE k = ?", (_SWITCH,))
    connection.exec_driver_sql(
        "UPDATE passages_fts_config SET v = ? WHERE k = 'version'", (_OLD_FORMAT,)
    )


def can_erase(connection: "Connection") -> bool:
    """Whether the library can erase words when they are removed."""
    version = str(connection.exec_driver_sql("SELECT sqlite_version()").scalar_one())
    return tuple(int(part) for part in version.split(".")[:3]) >= ERASES_SINCE


def is_erasing(connection: "Connection") -> bool:
    """Whether the index was told to erase words when they are removed."""
    found = connection.exec_driver_sql("SELECT v FROM passages_fts_config WHERE k = ?", (_SWITCH,))
    return bool(found.scalar())


def _merge(connection: "Connection") -> None:
    connection.exec_driver_sql("INSERT INTO passages_fts(passages_fts) VALUES('optimize')")
