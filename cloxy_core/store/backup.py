"""A copy of the database that was checked before it was called a backup."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from cloxy_core.runtime.paths import create_private_file, sync_directory
from cloxy_core.store.connections import APPLICATION_ID, connect
from cloxy_hookspecs.errors import IntegrityError

KEEP: Final = 5
BY_HAND: Final = "by-hand"
"""The reason in the name of a backup that a person made; no other code removes such a one."""

_PREFIX: Final = "memory-"
_SUFFIX: Final = ".db"
_PARTIAL: Final = ".partial"
_SIDE_FILES: Final = ("-wal", "-shm", "-journal")
_AUTOMATIC: Final = re.compile(rf"memory-\d{{8}}T\d{{9}}Z-(?!{BY_HAND}\.db).+\.db", re.ASCII)


def back_up(
    source: Any,  # noqa: ANN401 - the driver's connection
    folder: Path,
    *,
    now: datetime,
    reason: str,
    keep: int = KEEP,
) -> Path:
    """Copy the database into a folder, check the copy, and only then give it its name.

    Writers may go on; the copy is one snapshot. The name begins with the time, so that names
    sort by age.

    Args:
        source: A connection outside of any transaction.
        folder: Where backups lie.
        now: The time for the name.
        reason: A few characters for the name, for example `before-core-2`.
        keep: How many of the newest backups stay.

    Returns:
        The backup.

    Raises:
        IntegrityError: The copy is damaged; it was removed and older backups were kept.
    """
    with _appearing(folder, stamped(folder, now, reason)) as (target, partial):
        source.execute("VACUUM INTO ?", (str(partial),))
        verify(partial)
    _prune(folder, keep, newest=target)
    return target


def copy_database(
    source: Any,  # noqa: ANN401 - the driver's connection
    folder: Path,
    *,
    now: datetime,
    reason: str,
    table: str,
    keep: int = KEEP,
) -> Path:
    """As `back_up`, for a database of another kind, which is copied page by page as it is.

    Args:
        source: A connection outside of any transaction.
        folder: Where backups lie.
        now: The time for the name.
        reason: A few characters for the name.
        table: The table whose rows and indexes are checked in the copy.
        keep: How many of the newest backups stay.

    Raises:
        IntegrityError: The copy is damaged; it was removed and older backups were kept.
    """
    with _appearing(folder, stamped(folder, now, reason)) as (target, partial):
        copy = connect(partial, "mode=rw")
        try:
            source.backup(copy)
            # Of its own log nothing may be left beside it.
            copy.execute("PRAGMA journal_mode=DELETE").fetchall()
            found = copy.execute(f"PRAGMA integrity_check({table})").fetchone()[0]
        finally:
            copy.close()
        if found != "ok":
            raise IntegrityError(
                f"the copy of the old database did not pass its check: {found}",
                hint="the disk may be at fault; nothing was changed",
            )
    _prune(folder, keep, newest=target)
    return target


@contextmanager
def _appearing(folder: Path, target: Path) -> Iterator[tuple[Path, Path]]:
    """A backup and the place where it is made; it gets its name at the end, or is removed."""
    remove_partial(folder)
    partial = target.with_name(target.name + _PARTIAL)
    # Made beforehand, since SQLite itself would make it readable for everybody.
    os.close(create_private_file(partial))
    try:
        yield target, partial
        _sync_file(partial)
        partial.replace(target)
    except BaseException:
        for left in (partial, *(partial.with_name(partial.name + s) for s in _SIDE_FILES)):
            left.unlink(missing_ok=True)
        raise
    sync_directory(folder)


def stamped(folder: Path, now: datetime, reason: str) -> Path:
    """Where a backup lies that is named by its time and reason."""
    stamp = now.strftime("%Y%m%dT%H%M%S") + f"{now.microsecond // 1000:03d}Z"
    return folder / f"{_PREFIX}{stamp}-{reason}{_SUFFIX}"


def verify(copy: Path) -> None:
    """Check a file that no one else has open.

    Raises:
        IntegrityError: It is damaged or not a database of Cloxy.
    """
    connection = connect(copy, "mode=ro", "immutable=1")
    try:
        found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
    finally:
        connection.close()
    if found != "ok" or owner != APPLICATION_ID:
        raise IntegrityError(
            f"the backup {copy.name} did not pass its check: {found}",
            hint="the database itself may be damaged: run `cloxy doctor`; keep the older backups",
        )


def backups(folder: Path) -> Sequence[Path]:
    """The backups of a folder, oldest first."""
    return sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}"))


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_partial(folder: Path) -> None:
    """Remove what a killed backup left behind."""
    for left in folder.glob(f"{_PREFIX}*{_PARTIAL}*"):
        left.unlink(missing_ok=True)


def _prune(folder: Path, keep: int, newest: Path) -> None:
    automatic = [path for path in backups(folder) if is_automatic(path)]
    for old in automatic[: -max(keep, 1)]:
        if old != newest:
            old.unlink(missing_ok=True)


def is_automatic(path: Path) -> bool:
    """Whether it was not made by hand, under whatever name; those have their key beside them."""
    by_hand = path.with_name(f"{path.name}.key").exists()
    return not by_hand and _AUTOMATIC.fullmatch(path.name) is not None
