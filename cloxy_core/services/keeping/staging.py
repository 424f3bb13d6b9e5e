"""A copy of a backup, made fit beside the live database before it takes its place."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from cloxy_core.runtime.paths import create_private_file
from cloxy_core.services.doctor.findings import Tell
from cloxy_core.services.keeping.looking import Held, compare_hashes
from cloxy_core.store.backup import verify
from cloxy_core.store.connections import APPLICATION_ID, connect, driver_connection, writer_engine
from cloxy_core.store.failures import explained
from cloxy_core.store.inspection import newer_error, read_header, side_files
from cloxy_core.store.library import driver
from cloxy_core.store.migrations import migrate
from cloxy_hookspecs import (
    Clock,
    ForeignDatabaseError,
    InputError,
    IntegrityError,
    NotFoundError,
)
from cloxy_hookspecs.providers.platform import Migration

DAMAGED_HINT: Final = "nothing was changed; restore another backup"


def require_backup(file: Path, database: Path, known: int) -> None:
    """Look at a file's beginning, and refuse it before anything is copied.

    Args:
        file: what is to be restored.
        database: the live one.
        known: the newest schema that this program knows.

    Raises:
        NotFoundError: it is not there.
        InputError: it is the live database, or a database in use.
        ForeignDatabaseError: it is another program's.
        IntegrityError: it is no database.
        MigrationError: a newer Cloxy wrote it.
    """
    if not file.is_file():
        raise NotFoundError(f"there is no file {file}", hint="backups lie in the folder `backups`")
    if database.exists() and file.samefile(database):
        raise InputError(f"{file} is the memory itself", hint="name a backup of it")
    if any(side.exists() and side.stat().st_size for side in side_files(file)):
        raise InputError(
            f"{file} has changes beside it that are not in it yet, so it is no finished backup",
            hint="make a backup with `cloxy backup`",
        )
    try:
        header = read_header(file)
    except IntegrityError as error:
        raise IntegrityError(
            f"{file} is not a database, or its beginning is damaged", hint=DAMAGED_HINT
        ) from error
    if header.application_id != APPLICATION_ID:
        raise ForeignDatabaseError(
            f"{file} is not a backup of this Cloxy", hint="nothing was changed"
        )
    if header.user_version > known:
        raise newer_error(file, header.user_version, known)


def stage(
    file: Path, staged: Path, migrations: tuple[Migration, ...], clock: Clock, tell: Tell
) -> Held:
    """Copy a backup, check it, and bring its schema up to date.

    Args:
        file: the backup; it is only read.
        staged: the copy.
        migrations: steps of the core and of every enabled plugin.
        clock: the time.
        tell: told what is being done.

    Returns:
        What it holds.

    Raises:
        IntegrityError: it is damaged.
        ForeignDatabaseError: it holds a trigger or a view.
        MigrationError: a newer Cloxy, or a newer plugin, wrote it.
        StoreFullError: there is too little room.
    """
    with explained(staged, writing=True, files=True):
        tell("copying the backup")
        with file.open("rb") as old, open(create_private_file(staged), "wb") as new:  # noqa: PTH123 - a descriptor
            shutil.copyfileobj(old, new, 1 << 20)
        tell("checking the backup")
        try:
            _require_tables_only(staged, file)
            verify(staged)
        except (IntegrityError, driver.DatabaseError) as error:
            raise _damaged(file) from error
        _migrate(staged, migrations, clock)
        try:
            return compare_hashes(staged, tell)
        except IntegrityError as error:
            raise IntegrityError(f"{file}: {error.message}", hint=DAMAGED_HINT) from error


def _require_tables_only(staged: Path, file: Path) -> None:
    """Refuse what could act by itself in a file that anybody may have made.

    Raises:
        ForeignDatabaseError: there is a trigger or a view; no Cloxy of this kind makes one.
    """
    with closing(connect(staged, "mode=ro", "immutable=1")) as connection:
        found = connection.execute(
            "SELECT type FROM sqlite_master WHERE type NOT IN ('table', 'index')"
        ).fetchone()
    if found is not None:
        raise ForeignDatabaseError(
            f"{file} holds a {found[0]}, which no backup of Cloxy does",
            hint="somebody changed it; nothing was changed here, restore another backup",
        )


def _damaged(file: Path) -> IntegrityError:
    return IntegrityError(f"the backup {file} is damaged", hint=DAMAGED_HINT)


def _migrate(staged: Path, migrations: tuple[Migration, ...], clock: Clock) -> None:
    engine = writer_engine(staged)
    try:
        with engine.connect() as connection:
            # The backup itself is the copy from before.
            migrate(connection, migrations, now_ms=clock.now_ms, back_up=lambda _step: None)
            empty_log(connection)
    finally:
        engine.dispose()


def empty_log(connection: Connection) -> None:
    """Have everything in the file itself."""
    driver_connection(connection).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
