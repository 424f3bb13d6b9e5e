"""The store: one writer, several readers, and everything that keeps the file whole."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy import ColumnElement, Connection, Engine

from cloxy_core import __version__
from cloxy_core.runtime.changes import note_change
from cloxy_core.runtime.lock import DataDirectoryLock, LockHolder
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_core.store import filesystem
from cloxy_core.store.backup import KEEP, back_up
from cloxy_core.store.connections import (
    BUSY_SECONDS,
    connect,
    driver_connection,
    reader_engine,
    writer_engine,
)
from cloxy_core.store.creation import create_database
from cloxy_core.store.facts import (
    DEFAULT_LIMITS,
    Checkpoint,
    StoreFacts,
    StoreLimits,
    file_size,
    log_warning,
)
from cloxy_core.store.failures import explained
from cloxy_core.store.filters import filter_clause
from cloxy_core.store.inspection import check_file, is_original, newer_error
from cloxy_core.store.legacy.upgrade import upgrade
from cloxy_core.store.legacy.wording import Helpers
from cloxy_core.store.library import library_facts
from cloxy_core.store.migrations import migrate, newest_core_number
from cloxy_core.store.reads import ReadRegistry
from cloxy_core.store.reserve import Reserve, room
from cloxy_core.store.slack import SlackEraser
from cloxy_core.store.trouble import DamagedPages, DamagedTexts, Place
from cloxy_hookspecs.context import Clock
from cloxy_hookspecs.errors import IntegrityError, StoreBusyError, StoreError, StoreFullError
from cloxy_hookspecs.providers.platform import Migration
from cloxy_hookspecs.types.recall import Filters

T = TypeVar("T")

READERS: Final = 4
_CHECKPOINT_WAIT_MS: Final = 100
_CHECKPOINT_PAUSE_SECONDS: Final = 5.0


class Store:
    """The database of one data directory, as `StorePort` and for the application.

    The writer connection is used by the writer thread alone, each reader connection by one
    reader thread at a time. Nothing in this process may open the database file in another way.
    """

    def __init__(
        self,
        paths: DataDirectory,
        clock: Clock,
        workers: Workers,
        lock: DataDirectoryLock,
        limits: StoreLimits,
    ) -> None:
        self._paths = paths
        self._path = paths.database
        self._log = paths.database.with_name(paths.database.name + "-wal")
        self._clock = clock
        self._workers = workers
        self._lock = lock
        self._limits = limits
        self._library = library_facts()
        self._place_warnings = filesystem.warnings(paths.data)
        self._reserve = Reserve(paths.reserve)
        self._reads = ReadRegistry()
        self._next_checkpoint = 0.0
        self._open = True
        # Held by the writer thread; only a `close` that finds that thread gone competes for it.
        self._writing = threading.Lock()
        self._writer_engine = writer_engine(self._path)
        self._reader_engine: Engine = reader_engine(self._path, READERS)
        self._writer: Connection = self._writer_engine.connect()
        # Looked up behind the writer, whose opening makes some file systems copy the file.
        self._place = Place(self._path)
        self._slack = SlackEraser(self._path)
        self.damaged_texts = DamagedTexts()
        self.unerased: str | None = None
        self._damaged_pages = DamagedPages()

    @classmethod
    def open(
        cls,
        paths: DataDirectory,
        clock: Clock,
        workers: Workers,
        migrations: Sequence[Migration],
        *,
        fresh_ok: bool = True,
        lock: DataDirectoryLock | None = None,
        limits: StoreLimits = DEFAULT_LIMITS,
        upgrading: Helpers | None = None,
    ) -> "Store":
        """Open the database of a data directory, made or brought up to date where needed.

        Only the header, the schema and the lock are looked at; deeper checks are `checks.py`'s.

        Args:
            paths: The data directory.
            clock: The time.
            workers: Threads named `writer`, `readers` and `io`; they outlive the store.
            migrations: Steps of the core and of every enabled plugin.
            fresh_ok: Whether a missing database may be made.
            lock: The directory's lock, already held; taken and released here when None.
            limits: When the store acts by itself.
            upgrading: What it takes to upgrade a database of Cloxy 5 or earlier; without it such
                a database is refused.

        Raises:
            DataDirectoryInUseError: Another process has the directory.
            ForeignDatabaseError: The file is not of this version's kind; it is left untouched.
            MigrationError: It is newer, or a step failed.
            StoreError: It cannot be opened; the subclass and the words say why.
        """
        held = lock or DataDirectoryLock(paths.lock)
        held.acquire(LockHolder(os.getpid(), __version__, "", clock.now_ms()))
        try:
            with explained(paths.database, writing=True, files=True):
                known = newest_core_number(migrations)
                if upgrading is not None and is_original(paths.database):
                    upgrade(paths, clock, migrations, upgrading)
                if not check_file(paths.database, known):
                    cls._create(paths, fresh_ok=fresh_ok)
                store = cls(paths, clock, workers, held, limits)
        except BaseException:
            if lock is None:
                held.release()
            raise
        try:
            with explained(paths.database, writing=True, files=True):
                store._prepare(migrations, known)
        except BaseException:
            store._dispose(release=lock is None)
            raise
        return store

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a reader thread in one read transaction, and return its value.

        Raises:
            StoreBusyError: Too many reads already wait.
            QueryTimeLimit: The read was ended because it kept the log from shrinking.
        """
        return await self._workers.run("readers", lambda: self._read(work))

    async def write(self, work: Callable[[Connection], T], *, durable: bool = False) -> T:
        """Run `work` on the writer thread in one `BEGIN IMMEDIATE` transaction.

        Args:
            work: The transaction; an exception rolls everything back and is raised here. It may
                run a second time after the first was rolled back because the disk was full.
            durable: Whether the commit must survive a power loss; such writes also go before
                all others, and may use the space kept in reserve.

        Raises:
            StoreBusyError: Too many writes already wait, or the log has to shrink first.
            StoreFullError: The disk is full; nothing was changed.
        """
        return await self._workers.run(
            "writer", lambda: self._write(work, durable=durable), urgent=durable
        )

    def filter_clause(
        self, connection: Connection, filters: Filters
    ) -> Sequence[ColumnElement[bool]]:
        """Conditions over the `passages` and `memories` tables, to be joined with AND."""
        return filter_clause(connection, filters)

    async def checkpoint(self) -> Checkpoint:
        """Move the write-ahead log into the database and empty it; for a timer, when idle.

        When it has outgrown its limit, reads of this process that are too old are ended first.
        A log that cannot be moved, for whatever reason, stays as it is until the next time.
        """
        return await self._workers.run("writer", self._checkpoint_and_refill)

    async def erase(self) -> bool:
        """Make deleted text unreadable in the files: empty the log, and the gaps in pages.

        Returns:
            Whether all is done; False while a reader, here or in another process, keeps the log.

        Raises:
            StoreError: The disk is full or away; it has to be tried again.
        """
        return await self._workers.run("writer", self._erase, urgent=True)

    async def back_up(self, *, reason: str = "manual", keep: int = KEEP) -> Path:
        """Make a verified copy in the folder of backups while writes go on; return its path."""
        return await self._workers.run("io", lambda: self._back_up(reason, keep))

    def facts(self) -> StoreFacts:
        """What `status` says of the store; looks at sizes only, and may be called anywhere."""
        oldest = self._reads.oldest()
        log_size = file_size(self._log)
        free, place = self._free()
        warnings = [*self._library.warnings(), *self._place_warnings, *place]
        warnings += [self.unerased] if self.unerased else []
        warnings += [*self._damaged_pages.warnings(), *self.damaged_texts.warnings()]
        if log_size >= self._limits.log_bytes:
            warnings.append(log_warning(log_size, oldest))
        return StoreFacts(
            path=self._path,
            size=file_size(self._path),
            log_size=log_size,
            library=self._library,
            safe_mode=not self._library.safe,
            oldest_read=oldest,
            free=free,
            reserve=self._reserve.held,
            waiting_writes=self._workers.waiting("writer"),
            warnings=tuple(warnings),
        )

    async def close(self) -> None:
        """Empty the log, close every connection and release the lock; idempotent.

        Reads that still go on are ended.
        Writes that already wait are done first, unless there are so many that no more fit in:
        then those that have not begun fail with `StoreBusyError`.
        """
        try:
            await self._workers.run("writer", self._finish)
        except StoreBusyError:
            await asyncio.to_thread(self._finish)

    def _free(self) -> tuple[int, tuple[str, ...]]:
        """Bytes free on the disk, and what is wrong with the place of the database."""
        place = self._place.warnings()
        try:
            space = room(self._paths.data)
        except StoreError as error:
            return 0, place or (error.message,)
        return space.free, (*place, *space.warnings())

    def _read(self, work: Callable[[Connection], T]) -> T:
        self._require_usable()
        with self._explained(), self._reader_engine.connect() as connection:
            function = getattr(work, "func", work)
            name = getattr(function, "__qualname__", type(work).__qualname__)
            with self._reads.tracked(name, connection), connection.begin():
                try:
                    return work(connection)
                finally:
                    # A handler that somebody set on the driver must not outlive this read.
                    driver_connection(connection).set_progress_handler(None, 0)

    def _write(self, work: Callable[[Connection], T], *, durable: bool) -> T:
        with self._writing:
            self._require_usable()
            if not durable:
                self._hold_back()
                return self._transaction(work)
            with self._synchronous_full():
                return self._with_reserve(lambda: self._transaction(work))

    def _with_reserve(self, step: Callable[[], T]) -> T:
        """Do a thing that makes room in the end, if need be with the space kept for that."""
        try:
            return step()
        except StoreFullError:
            if not self._reserve.release():
                raise
        return step()

    def _transaction(self, work: Callable[[Connection], T]) -> T:
        with self._explained(writing=True):
            with self._writer.begin():
                driver = driver_connection(self._writer)
                before = driver.total_changes
                done = work(self._writer)
            if driver.total_changes != before:
                note_change()
            return done

    @contextmanager
    def _explained(self, *, writing: bool = False, files: bool = False) -> Iterator[None]:
        """As `explained`, and damage that SQLite itself met is remembered."""
        try:
            with explained(self._path, writing=writing, files=files):
                yield
        except IntegrityError as error:
            if error.__cause__ is not None:
                self._damaged_pages.note()
            raise

    @contextmanager
    def _synchronous_full(self) -> Iterator[None]:
        driver = driver_connection(self._writer)
        driver.execute("PRAGMA synchronous=FULL")
        try:
            yield
        finally:
            driver.execute("PRAGMA synchronous=NORMAL")

    def _hold_back(self) -> None:
        """Let no ordinary write make the log grow beyond its limit."""
        if file_size(self._log) < self._limits.log_bytes:
            return
        if time.monotonic() >= self._next_checkpoint and self._checkpoint().emptied:
            return
        raise StoreBusyError(
            log_warning(file_size(self._log), self._reads.oldest()),
            hint="it goes on by itself as soon as the log is empty",
        )

    def _checkpoint_and_refill(self) -> Checkpoint:
        with self._writing:
            self._require_open()
            try:
                self._place.require()
                done = self._checkpoint()
                self._reserve.ensure()
            except StoreError:
                # It is tried again at the next time; writes and `facts` say what is wrong.
                done = Checkpoint(emptied=False, ended_reads=())
        return done

    def _checkpoint(self) -> Checkpoint:
        ended: list[str] = []
        emptied = self._with_reserve(self._truncate_log)
        if not emptied and file_size(self._log) >= self._limits.log_bytes:
            ended = self._reads.end_older_than(self._limits.read_seconds)
            emptied = bool(ended) and self._truncate_log()
        if not emptied:
            self._next_checkpoint = time.monotonic() + _CHECKPOINT_PAUSE_SECONDS
        return Checkpoint(emptied=emptied, ended_reads=tuple(ended))

    def _truncate_log(self) -> bool:
        driver = driver_connection(self._writer)
        # A reader that stays must not stop every write for the whole time a lock is waited for.
        driver.execute(f"PRAGMA busy_timeout={_CHECKPOINT_WAIT_MS}")
        try:
            with self._explained(writing=True):
                (busy, _, _) = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            driver.execute(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")
        return not busy

    def _erase(self) -> bool:
        with self._writing:
            self._require_usable()
            if not self._checkpoint().emptied:
                return False
            driver = driver_connection(self._writer)
            # Else a page would be written again as it was before its gap was erased.
            driver.execute("PRAGMA shrink_memory")
            with self._explained(writing=True, files=True), self._nobody_writes() as empty:
                if empty:
                    self._slack.erase()
            # The first page was read to begin with, as it was.
            driver.execute("PRAGMA shrink_memory")
            return empty

    @contextmanager
    def _nobody_writes(self) -> Iterator[bool]:
        """Hold SQLite's lock of writers, against other processes too; whether the log is empty.

        Then nobody can add to the log, and nobody has anything to move from it into the file.
        """
        driver = driver_connection(self._writer)
        driver.execute("BEGIN IMMEDIATE")
        try:
            yield file_size(self._log) == 0
        finally:
            driver.execute("ROLLBACK")

    def _back_up(self, reason: str, keep: int) -> Path:
        self._require_usable()
        with self._explained(writing=True, files=True):
            source = connect(self._path, "mode=ro")
            try:
                now = self._clock.now()
                return back_up(source, self._paths.backups, now=now, reason=reason, keep=keep)
            finally:
                source.close()

    def _prepare(self, migrations: Sequence[Migration], known: int) -> None:
        found = driver_connection(self._writer).execute("PRAGMA user_version").fetchone()[0]
        if found > known:
            raise newer_error(self._path, found, known)
        migrate(
            self._writer,
            migrations,
            now_ms=self._clock.now_ms,
            back_up=lambda step: back_up(
                driver_connection(self._writer),
                self._paths.backups,
                now=self._clock.now(),
                reason=f"before-{step.owner}-{step.number}",
            ),
        )
        self._reserve.ensure()

    @staticmethod
    def _create(paths: DataDirectory, *, fresh_ok: bool) -> None:
        if not fresh_ok:
            raise StoreError(
                f"there is no database at {paths.database}",
                hint="run `cloxy start` once, or set CLOXY_DATA_DIR to the folder that has one",
            )
        create_database(paths.database)

    def _finish(self) -> None:
        with self._writing:
            if not self._open:
                return
            self._reads.end_older_than(0)
            # What cannot be moved now stays in the log and is read from there at the next start.
            with suppress(StoreError):
                self._checkpoint()
            self._dispose(release=True)

    def _dispose(self, *, release: bool) -> None:
        self._open = False
        # Readers first: the last connection to close empties the log, and has to be the writer.
        self._reader_engine.dispose()
        self._writer.close()
        self._writer_engine.dispose()
        self._slack.close()
        if release:
            self._lock.release()

    def _require_open(self) -> None:
        if not self._open:
            raise StoreBusyError("the store is closed", hint="the server is shutting down")

    def _require_usable(self) -> None:
        self._require_open()
        self._place.require()
