"""The database of threads: a row for each, with a document that is written anew with each change.

Columns were added over time: those of the first version have to be there, others may be.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from cloxy_hookspecs import ForeignDatabase, ForeignDatabaseError, LogTree
from cloxy_hookspecs.logs import turns
from cloxy_hookspecs.logs.databases import Version
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import Record, decode, is_record, usable_id
from cloxy_plugins.zed.documents import Row, thread_records
from cloxy_plugins.zed.inflating import inflated
from cloxy_plugins.zed.places import database_below

MOST = 128 << 20
"""Bytes that a document may have, unpacked; it is held in memory whole."""

_TABLE = "threads"
_NEEDED = frozenset({"id", "data_type", "data"})
_FACTS = ("summary", "created_at", "updated_at", "folder_paths", "folder_paths_order", "parent_id")
_VERSIONED = ("updated_at", "summary")
_LATEST = 2**53
_MILLION = 1_000_000


class Threads:
    """What distinguishes Zed's databases; implements `Talks`."""

    def tree(self, folder: Path) -> LogTree:
        """The database in a folder of Zed's."""
        return database_below(folder)

    def versions(self, database: ForeignDatabase) -> Mapping[str, Version]:
        """The threads of a database, told without reading a document.

        Raises:
            ForeignDatabaseError: it cannot be read, or has no such table as is known.
        """
        columns = _columns(database)
        if columns is None:
            return {}
        # Columns behind the document would have SQLite read all of it.
        facts = _named(_VERSIONED, columns)
        statement = f"SELECT id, length(data), {facts} FROM {_TABLE} ORDER BY rowid"  # noqa: S608 - of constants
        found = {
            key: _version(size, updated, summary)
            for key, size, updated, summary in database.rows(statement)
            if isinstance(key, str)
        }
        # A damaged table may seem to be empty; its index, which is asked here, is another place.
        if not found and any(database.rows(f"SELECT id FROM {_TABLE}")):  # noqa: S608 - of constants
            raise ForeignDatabaseError("its threads are damaged")
        return found

    def records(self, database: ForeignDatabase, path: Path, key: str) -> Iterable[Record]:
        """Records of turns of a thread.

        Raises:
            ForeignDatabaseError: the database cannot be read, or the thread is gone.
        """
        del path
        columns = _columns(database)
        if columns is None:
            return
        statement = (
            f"SELECT data_type, length(data), CASE WHEN length(data) <= {MOST} THEN data END,"  # noqa: S608 - of constants
            f" {_named(_FACTS, columns)} FROM {_TABLE} WHERE "
        )
        rows = list(database.rows(f"{statement} id = ?", (key,)))
        # The plus has the table read instead of an index, which may be damaged alone.
        rows = rows or list(database.rows(f"{statement} +id = ?", (key,)))
        if not rows:
            raise ForeignDatabaseError("the thread is gone")
        for kind, size, data, *facts in rows:
            row = Row(key, **dict(zip(_FACTS, facts, strict=True)))
            if "parent_id" in columns:
                row.grandparent = _parent_of(database, row.parent_id)
            yield from _thread(row, kind, size, data)


def _columns(database: ForeignDatabase) -> frozenset[str] | None:
    """Columns of the table of threads; None when it is not there, as before the first thread."""
    if _TABLE not in database.tables():
        return None
    columns = database.columns(_TABLE)
    if missing := _NEEDED - columns:
        raise ForeignDatabaseError(f"its threads have no {', '.join(sorted(missing))}")
    return columns


def _named(names: Iterable[str], columns: frozenset[str]) -> str:
    return ", ".join(name if name in columns else "NULL" for name in names)


def _version(size: object, updated: object, summary: object) -> Version:
    """A version that differs whenever the document or its title was written."""
    length = size if isinstance(size, int) else 0
    moment = instant(updated, _LATEST) or 0
    # Times have a millisecond's precision here; the rest of the number tells other changes apart.
    told = repr((length, updated, summary)).encode("utf-8", "replace")
    return Version(length, moment * _MILLION + zlib.crc32(told) % _MILLION)


def _parent_of(database: ForeignDatabase, key: object) -> str | None:
    """The thread that started a thread."""
    if usable_id(key) is None:
        return None
    rows = database.rows(f"SELECT parent_id FROM {_TABLE} WHERE id = ?", (key,))  # noqa: S608 - of constants
    return next((usable_id(parent) for (parent,) in rows), None)


def _thread(row: Row, kind: object, size: object, data: object) -> Iterator[Record]:
    try:
        document = decode(_plain(kind, size, data))
    except ValueError as error:
        reason = str(error) if type(error) is ValueError else "is no JSON"
        yield turns.damaged(reason if reason.startswith("a thread") else "a thread is no JSON")
        return
    if is_record(document):
        yield from thread_records(document, row)
    else:
        yield turns.damaged("a thread is no JSON object")


def _plain(kind: object, size: object, data: object) -> bytes:
    """The document of a row as JSON.

    Raises:
        ValueError: it is damaged or too large; with a reason for people.
    """
    if isinstance(data, str):
        data = data.encode()
    if not isinstance(data, bytes):
        large = isinstance(size, int) and size > MOST
        reason = f"a thread has more than {MOST >> 20} MB" if large else "a thread has no data"
        raise ValueError(reason)
    if kind == "json":
        return data
    if kind == "zstd":
        return inflated(data, MOST)
    raise ValueError(f"a thread is stored as {str(kind)[:20]!r}, which is not known")
