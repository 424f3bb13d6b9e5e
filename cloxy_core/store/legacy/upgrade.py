"""A database of the original becomes one of ours, at its place, or stays as it is.

    copy of the old one in `backups` -> new one beside it -> the new one takes its name

The old file is read and never written to. The rename is the one step that counts: a process
that is killed before it leaves the old file, and one that is killed after it the new one.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final

from cloxy_core.runtime.paths import DataDirectory, sync_directory
from cloxy_core.store.backup import copy_database
from cloxy_core.store.facts import file_size
from cloxy_core.store.inspection import side_files
from cloxy_core.store.legacy.books import Books
from cloxy_core.store.legacy.building import new_database, remove
from cloxy_core.store.legacy.reading import BATCH, Twins, opened_alone, require_sound, rows_of
from cloxy_core.store.legacy.report import REASON, UNINDEXED, UpgradeReport
from cloxy_core.store.legacy.rows import Converter, NewRow, OldRow
from cloxy_core.store.legacy.shape import Shape, shape_of
from cloxy_core.store.legacy.sources import Sorter
from cloxy_core.store.legacy.vectors import vectors_of
from cloxy_core.store.legacy.wording import Helpers
from cloxy_core.store.reserve import MEBIBYTE, room
from cloxy_hookspecs.context import Clock
from cloxy_hookspecs.errors import ForeignDatabaseError, StoreError, StoreFullError
from cloxy_hookspecs.providers.platform import Migration

BESIDE: Final = "memory.db.upgrading"
TIMES_ITS_SIZE: Final = 3
"""Room that is needed: for the copy, for the new database, and for its index of words."""

SPARE_BYTES: Final = 8 * MEBIBYTE
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TENTHS: Final = 10
_TELL_FROM: Final = 5_000
"""Rows from which it takes long enough that somebody wants to know how far it is."""


def upgrade(
    paths: DataDirectory, clock: Clock, migrations: Sequence[Migration], helpers: Helpers
) -> UpgradeReport:
    """Convert the database of a data directory, whose lock is held.

    Args:
        paths: The data directory; its database is one of the original.
        clock: The time.
        migrations: All steps of this version, of the core and of every plugin.
        helpers: What the store cannot do itself.

    Raises:
        ForeignDatabaseError: It only looks like one of the original.
        IntegrityError: It is damaged.
        StoreBusyError: An older Cloxy has it open.
        StoreError: It, or its folder, cannot be written to.
        StoreFullError: There is too little room; nothing was done.
    """
    database, beside = paths.database, paths.data / BESIDE
    _require_writable(paths)
    remove(beside)
    _require_room(paths)
    with opened_alone(database) as old:
        shape = shape_of(old)
        if shape is None:
            raise ForeignDatabaseError(
                f"{database} is a database of another program",
                hint="move it away, or set CLOXY_DATA_DIR to another folder; it was left untouched",
            )
        helpers.tell(
            f"upgrading the memory of Cloxy {shape.version}: {shape.rows:,} rows; please wait"
        )
        require_sound(old, database)
        now = clock.now()
        reason = REASON + shape.version
        backup = copy_database(old, paths.backups, now=now, reason=reason, table="chunks")
        helpers.tell(f"the old database is copied to {backup}")
        before = database.stat().st_ino
        try:
            at = (now - _EPOCH) // timedelta(milliseconds=1)
            report = _build(old, shape, beside, at, clock, migrations, helpers)
            _take_its_place(old, beside, database)
        except BaseException:
            if database.stat().st_ino == before:
                # Nothing was changed, so that nobody needs the copy.
                remove(beside)
                backup.unlink(missing_ok=True)
            raise
    helpers.tell("upgraded " + report.words(paths.backups))
    return report


def _build(
    old: Any,  # noqa: ANN401 - the driver's connection
    shape: Shape,
    beside: Path,
    at: int,
    clock: Clock,
    migrations: Sequence[Migration],
    helpers: Helpers,
) -> UpgradeReport:
    """Make the new database; what it tells of itself stands in it."""
    books = Books(helpers)
    vectors = vectors_of(old, shape)
    converter = Converter(shape.version, at, Sorter.of(old), vectors, books, helpers)
    rows = vectors_kept = 0
    with new_database(beside, clock.now_ms) as new:
        new.begin(migrations, vectors.space)
        for some in _batches(_converted(old, shape, converter, helpers)):
            new.add(some)
            rows += len(some)
            vectors_kept += sum(row.vector is not None for row in some)
        redactions = converter.redactions + books.redactions
        report = UpgradeReport(
            version=shape.version,
            at=at,
            rows=rows,
            conversations=converter.conversations,
            sessions=books.sessions,
            vectors=vectors_kept,
            redacted=redactions.total(),
            problems=dict(converter.problems),
        )
        counts = {f"redacted.{kind}": count for kind, count in redactions.items()}
        counts |= {**report.counts(), UNINDEXED: 0}
        new.finish(books.project_rows(), books.session_rows(), shape.last_id, counts)
        new.modernise(migrations)
        new.require_whole(rows)
    return report


def _converted(
    old: Any,  # noqa: ANN401 - the driver's connection
    shape: Shape,
    converter: Converter,
    helpers: Helpers,
) -> Iterator[NewRow]:
    """The rows as memories, those that are there twice once; tells how far it is."""
    twins = Twins(old, shape)
    told = 0
    for number, row in enumerate(rows_of(old, shape), 1):
        if twins.is_later(row):
            converter.problems["duplicates"] += 1
        elif (new := converter.convert(_with_vector(row, twins))) is not None:
            yield new
        tenths = number * _TENTHS // max(shape.rows, 1)
        if tenths > told and shape.rows >= _TELL_FROM:
            told = tenths
            helpers.tell(f"upgrading: {number:,} of {shape.rows:,} rows")


def _with_vector(row: OldRow, twins: Twins) -> OldRow:
    vector = twins.vector(row)
    return row if vector is row.embedding else replace(row, embedding=vector)


def _batches(rows: Iterator[NewRow]) -> Iterator[list[NewRow]]:
    while some := list(islice(rows, BATCH)):
        yield some


def _take_its_place(old: Any, beside: Path, database: Path) -> None:  # noqa: ANN401 - the driver's
    """Give the new file the name of the old one; the log of the old one is gone before."""
    _sync(beside)
    # Its log would be taken for one of the new file. Nobody can begin another: the lock stays.
    (mode,) = old.execute("PRAGMA journal_mode=DELETE").fetchone()
    if mode not in (b"delete", "delete"):
        raise StoreError(f"the log of {database} cannot be put away", hint="try again")
    for left in side_files(database):
        left.unlink(missing_ok=True)
    if os.name == "nt":
        # An open file cannot be replaced there.
        old.close()
    beside.replace(database)
    sync_directory(database.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _require_writable(paths: DataDirectory) -> None:
    for place in (paths.database, paths.data):
        if not os.access(place, os.W_OK):
            raise StoreError(
                f"{paths.database} is of an earlier version and cannot be upgraded:"
                f" {place} is read-only",
                hint="check the permissions and the mount; nothing was changed",
            )


def _require_room(paths: DataDirectory) -> None:
    size = sum(file_size(path) for path in (paths.database, *side_files(paths.database)))
    needed = size * TIMES_ITS_SIZE + SPARE_BYTES
    free = room(paths.data).free
    if free < needed:
        raise StoreFullError(
            f"{paths.database} is of an earlier version; to upgrade it, about"
            f" {-(-needed // MEBIBYTE):,} MiB must be free, and {free // MEBIBYTE:,} MiB are",
            hint="make room on that disk, or copy the folder to a larger one and set"
            " CLOXY_DATA_DIR; nothing was changed",
        )
