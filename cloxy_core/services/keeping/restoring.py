"""Putting a backup in the place of the live database, without what was forgotten since.

All is done on a copy. The live database is replaced in one step, by a file that is whole and
was checked; killed before, everything is as it was.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloxy_core.kernel.host import PluginHost
from cloxy_core.runtime.paths import DataDirectory, create_private_file, sync_directory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.doctor.buried import KEY_FILE
from cloxy_core.services.doctor.findings import Tell
from cloxy_core.services.doctor.looking import FOLDER_PREFIX, LookStore, abandoned
from cloxy_core.services.doctor.parts import make_parts, migrations_of
from cloxy_core.services.doctor.quarantine import Quarantine
from cloxy_core.services.doctor.recovery import is_unfinished
from cloxy_core.services.holding import HOLD, Cause, hold_ingest
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.keeping.keys import Choice, choose_key, install_key
from cloxy_core.services.keeping.looking import compare_hashes, key_beside, read_key, sync_file
from cloxy_core.services.keeping.present import Present, graves_in, look_at, marks_of
from cloxy_core.services.keeping.reburying import bury_restored, take_over
from cloxy_core.services.keeping.staging import empty_log, require_backup, stage
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_core.store.backup import back_up, backups, verify
from cloxy_core.store.connections import connect, driver_connection, writer_engine
from cloxy_core.store.failures import explained
from cloxy_core.store.inspection import side_files
from cloxy_core.store.library import driver
from cloxy_core.store.migrations import newest_core_number
from cloxy_hookspecs import Clock, IntegrityError, StoreBusyError, StoreError

REASON: Final = "before-restore"


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did.

    Attributes:
        path: the backup.
        before: where the replaced database is kept; None when there was none.
        memories: memories that are there now.
        messages: messages of sessions that are there now.
        forgotten: passages of the backup that were left out, since they had been forgotten.
        former_key: where a replaced key of what was forgotten is kept.
        warnings: what should be known.
        seconds: how long it took.
    """

    path: Path
    before: Path | None
    memories: int
    messages: int
    forgotten: int
    former_key: Path | None
    warnings: Sequence[str]
    seconds: float


def restore(
    host: PluginHost, paths: DataDirectory, file: Path, clock: Clock, tell: Tell
) -> Restored:
    """Put a backup in place.

    Args:
        host: plugins and settings.
        paths: the data directory, whose lock is held and whose database nobody has open.
        file: the backup; it is only read.
        clock: the time.
        tell: told what is being done.

    Raises:
        NotFoundError: there is no such file.
        ForeignDatabaseError: it, or the database in its future place, is another program's.
        IntegrityError: it is damaged.
        MigrationError: a newer Cloxy wrote it.
        StoreFullError: there is too little room; everything is as it was.
        StoreError: a repair was killed, and has to be finished before.
    """
    began = time.monotonic()
    if is_unfinished(paths):
        # It would put its database in the place of the restored one.
        raise StoreError(
            "a repair was stopped before its end", hint="run `cloxy doctor --repair` before"
        )
    migrations = tuple(migrations_of(host))
    require_backup(file, paths.database, newest_core_number(migrations))
    for left in abandoned(paths.data):
        shutil.rmtree(left, ignore_errors=True)
    prefix = f"{FOLDER_PREFIX}{os.getpid()}-"
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=paths.data))
    try:
        staged = folder / paths.database.name
        stage(file, staged, migrations, clock, tell)
        with explained(paths.database, writing=True, files=True):
            present = look_at(paths.database, clock.now_ms())
            choice = _choose(paths, file, staged, present)
            forgotten = _bury(host, paths, staged, present, choice, clock, tell)
            tell("checking the restored database")
            verify(staged)
            held = compare_hashes(staged, tell)
            sync_file(staged)
            before = _keep_present(paths, present, clock, tell)
            _hold(paths, present, choice)
            former = install_key(paths.data / KEY_FILE, choice.key) if choice.key else None
            _install(paths, staged)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Restored(
        path=file,
        before=before,
        memories=held.memories,
        messages=held.messages,
        forgotten=forgotten,
        former_key=former,
        warnings=_warnings(paths, present, choice),
        seconds=time.monotonic() - began,
    )


def _choose(paths: DataDirectory, file: Path, staged: Path, present: Present) -> Choice:
    with closing(connect(staged, "mode=ro", "immutable=1")) as connection:
        there = marks_of(graves_in(connection))
    here = read_key(paths.data / KEY_FILE)
    return choose_key(here, read_key(key_beside(file)), present.marks, there)


def _bury(
    host: PluginHost,
    paths: DataDirectory,
    staged: Path,
    present: Present,
    choice: Choice,
    clock: Clock,
    tell: Tell,
) -> int:
    """Leave out what was forgotten, in rows and indexes and the bytes of the file."""
    tell("leaving out what was forgotten")
    key_file = staged.with_name(f"{staged.name}.key")
    if choice.key is not None:
        with os.fdopen(create_private_file(key_file), "wb") as file:
            file.write(choice.key)
    # Without a key one is made that recognises nothing; logs are held back then.
    buried = Tombstones(key_file)
    store = LookStore(staged, private=True)
    indexing = Indexing(make_parts(host, paths, store, Workers()).channels, store, clock)
    engine = writer_engine(staged)
    try:
        with engine.connect() as connection:
            with connection.begin():
                take_over(connection, present)
                # The file may be anybody's: its rows were read and compared, and of its indexes
                # nothing is trusted, since SQLite itself trusts what it reads there.
                indexing.renew_words(connection)
                now = clock.now_ms()
                gone = bury_restored(connection, indexing, buried, present.titles, now)
                if gone:
                    indexing.scrub(connection)
            if gone:
                # Pages that were put in order keep old bytes in their gaps, secure delete or not.
                driver_connection(connection).execute("VACUUM")
            empty_log(connection)
    finally:
        engine.dispose()
    return gone


def _keep_present(paths: DataDirectory, present: Present, clock: Clock, tell: Tell) -> Path | None:
    """Keep the database that is replaced: a checked copy, or the bytes where it is damaged."""
    database = paths.database
    logs = [path for path in side_files(database) if path.exists() and path.stat().st_size]
    if not present.exists and not logs:
        return None
    tell("keeping the present database")
    if present.exists and not present.lost:
        try:
            with closing(connect(database, "mode=rw")) as connection:
                # So that the file is whole without its log, which cannot stay for the new one.
                (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if busy:
                    raise StoreBusyError(
                        f"another program reads {database}", hint="close it, then try again"
                    )
                # None is removed for this one: the backup that is restored may be the oldest.
                keep = len(backups(paths.backups)) + 1
                return back_up(connection, paths.backups, now=clock.now(), reason=REASON, keep=keep)
        except (IntegrityError, driver.DatabaseError) as error:
            if not _is_damage(error):
                raise
    quarantine = Quarantine(paths.data, clock.now())
    quarantine.keep_database(database)
    return quarantine.folder() / database.name


def _is_damage(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, IntegrityError) or (isinstance(code, int) and code & 0xFF in {11, 26})


def _hold(paths: DataDirectory, present: Present, choice: Choice) -> None:
    if present.lost:
        hold_ingest(paths.data, Cause.LIST)
    if not choice.fits:
        hold_ingest(paths.data, Cause.KEY)


def _install(paths: DataDirectory, staged: Path) -> None:
    """Put the new database in place of the old one, whose log was emptied or kept before."""
    for path in side_files(paths.database):
        path.unlink(missing_ok=True)
    sync_directory(paths.data)
    staged.replace(paths.database)
    sync_directory(paths.data)


def _warnings(paths: DataDirectory, present: Present, choice: Choice) -> Sequence[str]:
    said = [choice.words] if choice.words else []
    if present.lost:
        said.append(
            "the replaced database is damaged, and its list of what was forgotten may be short"
        )
    if present.lost or not choice.fits:
        said.append(f"session logs are not read until you remove {paths.data / HOLD}")
    return said
