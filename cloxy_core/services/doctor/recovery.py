"""A new database from what can be read of a damaged one, of its backups, and nothing else.

The damaged file stays in its place until the new one is whole and was checked, and in the
quarantine folder after that.
"""

import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from cloxy_core.runtime.paths import DataDirectory, sync_directory
from cloxy_core.services.doctor.building import Recovery, build_database
from cloxy_core.services.doctor.buried import mark_of
from cloxy_core.services.doctor.findings import Tell
from cloxy_core.services.doctor.header import mended_copy, needs_mending
from cloxy_core.services.doctor.looking import FOLDER_PREFIX
from cloxy_core.services.doctor.quarantine import Quarantine
from cloxy_core.services.holding import Cause, hold_ingest
from cloxy_core.store.backup import verify
from cloxy_core.store.creation import create_database
from cloxy_core.store.failures import explained
from cloxy_core.store.inspection import side_files
from cloxy_core.store.migrations import newest_core_number
from cloxy_hookspecs import Clock
from cloxy_hookspecs.providers.platform import Migration

BUILDING: Final = ".recovering"
FINISHED: Final = ".recovered"


def is_unfinished(paths: DataDirectory) -> bool:
    """Whether a recovery was killed when its database was whole but not in its place."""
    return _beside(paths.database, FINISHED).exists()


def install_finished(paths: DataDirectory, quarantine: Quarantine) -> bool:
    """Finish a recovery that was killed after its database was whole; whether there was one."""
    finished = _beside(paths.database, FINISHED)
    if not finished.exists():
        return False
    _install(paths, finished, quarantine)
    return True


def recover(
    paths: DataDirectory,
    migrations: Sequence[Migration],
    quarantine: Quarantine,
    clock: Clock,
    tell: Tell,
) -> Recovery:
    """Put a new database in the place of a damaged one.

    Args:
        paths: the data directory, whose lock is held and whose database nobody has open.
        migrations: steps of the core and of every enabled plugin.
        quarantine: gets the damaged file.
        clock: the time.
        tell: told what is being done.

    Raises:
        StoreFullError: there is too little room; everything is as it was.
        IntegrityError: the new database did not pass its check; everything is as it was.
    """
    new = _beside(paths.database, BUILDING)
    with ExitStack() as undo:
        for left in (new, *side_files(new)):
            left.unlink(missing_ok=True)
            undo.callback(left.unlink, missing_ok=True)
        with explained(new, writing=True, files=True):
            source = _readable(paths.database, newest_core_number(migrations), undo)
            create_database(new)
            mark = mark_of(paths.data)
            recovery = build_database(
                new, source, paths.backups, migrations, clock, tell, mark=mark
            )
            verify(new)
            if recovery.forgotten_lost:
                hold_ingest(paths.data, Cause.LIST)
            if recovery.key_lost:
                # Before the database is opened, which makes a new key.
                hold_ingest(paths.data, Cause.KEY_AT_REPAIR)
            finished = _beside(paths.database, FINISHED)
            new.replace(finished)
            sync_directory(paths.data)
    _install(paths, finished, quarantine)
    return recovery


def _beside(database: Path, suffix: str) -> Path:
    return database.with_name(database.name + suffix)


def _readable(database: Path, user_version: int, undo: ExitStack) -> Path:
    """The damaged file, or a copy of it that SQLite agrees to open."""
    if not needs_mending(database):
        return database
    prefix = f"{FOLDER_PREFIX}{os.getpid()}-"
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=database.parent))
    undo.callback(shutil.rmtree, folder, ignore_errors=True)
    copy = folder / database.name
    mended_copy(database, copy, user_version)
    return copy


def _install(paths: DataDirectory, finished: Path, quarantine: Quarantine) -> None:
    """Put the new database in place; killed anywhere in here, the next repair goes on."""
    database = paths.database
    if database.exists():
        quarantine.keep_database(database)
    # The log of the damaged file must not be taken for one of the new file.
    for path in side_files(database):
        path.unlink(missing_ok=True)
    finished.replace(database)
    sync_directory(paths.data)
