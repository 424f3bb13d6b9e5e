"""The deeper checks of the database, which run behind the server and only read."""

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from sqlalchemy import Connection

from cloxy_hookspecs.context import StorePort
from cloxy_hookspecs.errors import IntegrityError, StoreError
from cloxy_hookspecs.providers.platform import CheckProvider, Finding

ROWS_A_READ: Final = 200
ROWS_A_RUN: Final = 20_000
_EXAMPLES: Final = 5

# As bytes, since damaged text may not decode; `deleted` rows have given up their text.
_MEMORIES: Final = """
    SELECT id, CAST(content AS BLOB), content_hash FROM memories
    WHERE id > ? AND state <> 'deleted' ORDER BY id LIMIT ?
"""
_EXTENT: Final = "SELECT count(*), max(id) FROM memories WHERE state <> 'deleted'"
_PASSAGES: Final = """
    SELECT id, memory_id, char_start, char_end FROM passages
    WHERE memory_id > ? AND memory_id <= ?
"""
_ORPHANS: Final = """
    SELECT id FROM passages
    WHERE NOT EXISTS (SELECT 1 FROM memories WHERE memories.id = passages.memory_id)
    LIMIT ?
"""
_ORDINARY_TABLES: Final = """
    SELECT name FROM sqlite_schema
    WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL TABLE%' ORDER BY name
"""
_RESTORE: Final = "stop Cloxy and run `cloxy doctor --repair`"


async def _look(store: StorePort, look: Callable[[Connection], list[Finding]]) -> list[Finding]:
    """What a read found; what could not be looked at is never called well."""
    try:
        return await store.read(look)
    except IntegrityError as error:
        return [Finding("error", f"{error.message}; {_RESTORE}")]
    except StoreError as error:
        return [Finding("warning", f"a check did not finish: {error.message}")]


def _file(connection: Connection) -> list[Finding]:
    """Whether pages, records and indexes of the file fit together.

    Table by table, the tables behind full-text indexes among them, but not those indexes
    themselves: a connection may have an old picture of one, which would look like damage. Their
    owners check them.
    """
    rows = [
        row
        for (table,) in connection.exec_driver_sql(_ORDINARY_TABLES).all()
        for row in connection.exec_driver_sql(f"PRAGMA integrity_check({_quoted(table)})").scalars()
        if row != "ok"
    ]
    if not rows:
        return [Finding("ok", "the pages and indexes of the database fit together")]
    return [
        Finding("error", f"the database is damaged: {row}; {_RESTORE}") for row in rows[:_EXAMPLES]
    ]


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _references(connection: Connection) -> list[Finding]:
    """Whether every row that is referred to exists."""
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(_EXAMPLES)
    if not broken:
        return [Finding("ok", "every row that others refer to is there")]
    return [
        Finding("error", f"row {row} of {table} refers to a missing row of {parent}; {_RESTORE}")
        for table, row, parent, _ in broken
    ]


def _orphans(connection: Connection) -> list[Finding]:
    """Whether every passage has its memory."""
    orphans = connection.exec_driver_sql(_ORPHANS, (_EXAMPLES,)).scalars().all()
    if not orphans:
        return [Finding("ok", "every passage belongs to a memory")]
    return [Finding("error", f"passages without their memory: {_list(orphans)}; {_RESTORE}")]


def _list(numbers: Sequence[int]) -> str:
    named = ", ".join(str(number) for number in numbers[:_EXAMPLES])
    more = len(numbers) - _EXAMPLES
    return f"{named} and {more} more" if more > 0 else named


def _extent(connection: Connection) -> tuple[int, int]:
    """How many memories can be checked, and the highest id."""
    total, highest = connection.exec_driver_sql(_EXTENT).one()
    return int(total), int(highest or 0)


def _batch(connection: Connection, after: int, limit: int) -> "_Batch":
    """Compare the texts and passages of the next memories behind an id with what they say."""
    rows = connection.exec_driver_sql(_MEMORIES, (after, limit)).fetchall()
    if not rows:
        return _Batch()
    lengths: dict[int, int | None] = {}
    wrong = []
    for identifier, content, expected in rows:
        data = bytes(content or b"")
        lengths[identifier] = _characters(data)
        if hashlib.sha256(data).hexdigest() != expected:
            wrong.append(identifier)
    last = rows[-1][0]
    outside = [
        passage
        for passage, memory, start, end in connection.exec_driver_sql(_PASSAGES, (after, last))
        if not _inside(start, end, lengths.get(memory))
    ]
    return _Batch(len(rows), last, tuple(wrong), tuple(outside))


def _characters(data: bytes) -> int | None:
    """Characters of a text; counted here, since SQL's length stops at a NUL."""
    try:
        return len(data.decode())
    except UnicodeDecodeError:
        return None


def _inside(start: int, end: int, length: int | None) -> bool:
    """Tell whether a passage lies in its text; a text that is unreadable was told already."""
    return length is None or 0 <= start <= end <= length


class FileCheck:
    """The file as SQLite sees it: pages, indexes, references, passages without memory."""

    def __init__(self, store: StorePort) -> None:
        self._store = store

    async def run(self) -> Sequence[Finding]:
        """What was found; each part is one read of its own."""
        found: list[Finding] = []
        for look in (_file, _references, _orphans):
            found += await _look(self._store, look)
        return found


class ContentCheck:
    """Whether texts are what was stored, by their hashes, and passages lie inside them.

    Each run looks at a limited number of memories in many short reads, and the next one goes on
    behind them, from the end back to the start; the first begins anywhere.
    """

    def __init__(
        self, store: StorePort, *, rows: int = ROWS_A_RUN, after: int | None = None
    ) -> None:
        """Prepare a check.

        Args:
            store: The database.
            rows: Memories looked at in one run.
            after: The memory id behind which the first run begins; by chance when None.
        """
        self._store = store
        self._rows = rows
        self._after = after

    async def run(self) -> Sequence[Finding]:
        """What was found, with how much was looked at."""
        tally = _Tally()
        try:
            total, highest = await self._store.read(_extent)
            if self._after is None:
                self._after = random.randrange(highest + 1)  # noqa: S311 - no secret
            await self._walk(self._after, tally)
        except IntegrityError as error:
            return [*tally.faults(), Finding("error", f"{error.message}; {_RESTORE}")]
        except StoreError as error:
            return [*tally.faults(), Finding("warning", f"a check did not finish: {error.message}")]
        return tally.faults() or [tally.summary(total)]

    async def _walk(self, start: int, tally: "_Tally") -> None:
        position, wrapped = start, start == 0
        while tally.memories < self._rows:
            limit = min(ROWS_A_READ, self._rows - tally.memories)
            batch = await self._store.read(partial(_batch, after=position, limit=limit))
            tally.add(batch)
            position = self._after = batch.last
            if batch.memories == 0:
                if wrapped:
                    return
                wrapped = True
            elif wrapped and 0 < start <= position:
                return


@dataclass(frozen=True, slots=True)
class _Batch:
    """What one read saw: how many memories up to which id, and the ids at fault."""

    memories: int = 0
    last: int = 0
    wrong: tuple[int, ...] = ()
    outside: tuple[int, ...] = ()


@dataclass(slots=True)
class _Tally:
    """What the reads of one run saw together."""

    memories: int = 0
    wrong: list[int] = field(default_factory=list)
    outside: list[int] = field(default_factory=list)

    def add(self, batch: _Batch) -> None:
        self.memories += batch.memories
        self.wrong += batch.wrong
        self.outside += batch.outside

    def faults(self) -> list[Finding]:
        found = []
        if self.wrong:
            text = f"the text of memories {_list(self.wrong)} is not what was stored"
            found.append(Finding("error", f"{text}; {_RESTORE}"))
        if self.outside:
            text = f"passages {_list(self.outside)} lie outside of their memory's text"
            found.append(Finding("error", f"{text}; {_RESTORE}"))
        return found

    def summary(self, total: int) -> Finding:
        looked = min(self.memories, total)
        return Finding("ok", f"the texts of {looked} of {total} memories are what was stored")


CORE_CHECKS: Final = (
    CheckProvider(
        name="database-file",
        summary="pages, indexes and references of the database",
        create=lambda context: FileCheck(context.store),
    ),
    CheckProvider(
        name="database-content",
        summary="hashes of stored texts, some thousands a run",
        create=lambda context: ContentCheck(context.store),
    ),
)
