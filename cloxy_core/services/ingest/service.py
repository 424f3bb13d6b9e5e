"""The ingest service: passes on demand, and what they did."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from logging import Logger
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from cloxy_core.runtime.workers import Workers
from cloxy_core.services.holding import HELD
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.ingest.passes import (
    Survey,
    adopt,
    failure_batch,
    gone_batches,
    groups,
    next_group,
    survey,
)
from cloxy_core.services.ingest.progress import Progress, Tally
from cloxy_core.services.ingest.reading import Reader
from cloxy_core.services.ingest.roots import choose_place, readers_of
from cloxy_core.services.write.batch import Cursor, FileBatch
from cloxy_core.services.write.cursors import read_cursors
from cloxy_core.services.write.erasing import Eraser
from cloxy_core.services.write.retitling import retitle, stale_titles
from cloxy_core.services.write.transcripts import TranscriptWriter
from cloxy_core.store.engine import Store
from cloxy_hookspecs import (
    Clock,
    CloxyError,
    FileError,
    IngestStatus,
    PassReport,
    SourceFailure,
    StoreFullError,
)
from cloxy_hookspecs import Progress as Telling

T = TypeVar("T")

SHOWN_WARNINGS = 20
RETITLE = 50
ERROR_CHARACTERS = 200


class IngestService:
    """Implements `Ingestor`; the watcher calls it, too."""

    def __init__(
        self,
        readers: Sequence[Reader],
        store: Store,
        writer: TranscriptWriter,
        indexing: Indexing,
        workers: Workers,
        clock: Clock,
        log: Logger,
    ) -> None:
        self._readers = tuple(readers)
        self._store = store
        self._writer = writer
        self._indexing = indexing
        self._workers = workers
        self._clock = clock
        self._log = log
        self._turn = asyncio.Lock()
        self._cursors: dict[str, dict[str, Cursor]] = {}
        self._outdated = True
        self._failures: dict[str, str] = {}
        self.progress = Progress()
        self.running = False
        self.events = False
        self.interval = 0.0
        self.has_room: Callable[[], Awaitable[str | None]] | None = None
        self.held: Callable[[], Sequence[str]] | None = None
        self.eraser: Eraser | None = None
        """Erases what a pass noted once more after it was forgotten."""
        self.read_in: Callable[[], Awaitable[object]] | None = None
        """Called after logs were read in, still within the pass."""

    def roots(self) -> Sequence[Path]:
        """Folders that are watched."""
        return list(dict.fromkeys(r for reader in self._readers for r in reader.source.roots()))

    async def run(
        self,
        under: Path | None = None,
        *,
        force: bool = False,
        anywhere: bool = False,
        progress: Telling | None = None,
    ) -> PassReport:
        """Run one pass now; waits for a running one first.

        Raises:
            InputError: `under` lies outside of the watched folders and `anywhere` is not set, or
                is no folder that exists.
            StoreFullError: there is too little room; what was taken in until then stays.
            StoreBusyError: the store cannot be written now; the next pass goes on from there.
        """
        readers: Sequence[Reader] = self._readers
        if under is not None:
            choose = partial(choose_place, under, self.roots(), anywhere=anywhere)
            place = await self._workers.run("io", choose)
            under = place.path
            if not place.watched:
                readers = readers_of(readers, under)
        async with self._turn:
            self.progress.telling = progress
            return await self._pass(readers, under, force=force)

    async def between(self, work: Callable[[Connection], T]) -> T:
        """Write while no log is read; the next pass looks at every cursor anew."""
        async with self._turn:
            try:
                return await self._store.write(work, durable=True)
            finally:
                self._outdated = True

    async def status(self) -> IngestStatus:
        """What the watcher is doing."""
        progress = self.progress
        cursors = [cursor for known in self._cursors.values() for cursor in known.values()]
        return IngestStatus(
            running=self.running,
            dirs=tuple(str(root) for root in self.roots()),
            interval=self.interval,
            scans=progress.scans,
            scanning=progress.scanning,
            current_file=progress.current_file,
            files_this_scan=progress.files_done,
            files_total=progress.files_total,
            memories_this_scan=progress.memories,
            memories_total=progress.memories_total,
            last_scan_at=progress.last_scan_at,
            last_scan_seconds=progress.last_scan_seconds,
            last_result=progress.last_result,
            last_error=progress.last_error,
            files_tracked=len(cursors),
            warnings=self._warnings(cursors),
            drift=tuple(cursor.uri for cursor in cursors if cursor.state == "drift"),
            events=self.events,
            bad_lines=sum(cursor.bad_lines for cursor in cursors),
            unknown=dict(progress.unknown.most_common(SHOWN_WARNINGS)),
        )

    async def restore(self) -> None:
        """Read the cursors, and finish what a crash left unfinished."""
        self._outdated = False
        try:
            for reader in self._readers:
                plugin = reader.feed.plugin
                # On the writer's thread: a write of a pass that was cancelled may still go on.
                known = await self._store.write(partial(read_cursors, plugin=plugin))
                self._cursors[plugin] = known
            for session_id in await self._store.read(stale_titles):
                await retitle(self._store, self._indexing, session_id)
        except BaseException:
            self._outdated = True
            raise

    async def _pass(
        self, readers: Sequence[Reader], under: Path | None, *, force: bool
    ) -> PassReport:
        progress, tally, began = self.progress, Tally(), time.monotonic()
        progress.begin()
        whole = False
        try:
            await self._take_notice()
            for reader in readers:
                await self._one_source(reader, under, tally, force=force)
            await self._take_notice()
            if self.read_in is not None:
                await self.read_in()
            progress.last_error, whole = None, True
        except (CloxyError, OSError) as error:
            progress.last_error = str(error)
            raise
        finally:
            # After a failure, or when cancelled, it is not known here what was committed.
            self._outdated |= not whole
            progress.end(self._clock.now_ms(), time.monotonic() - began)
        progress.last_result = tally.report(time.monotonic() - began)
        return progress.last_result

    async def _take_notice(self) -> None:
        """Follow what others changed in the cursors: what was forgotten is noted nowhere."""
        tombstones = self._writer.tombstones
        if tombstones.has_silenced:
            await self._store.write(self._silence_again)
            self._outdated = True
            if self.eraser is not None:
                self.eraser.later()
        if self._outdated:
            await self.restore()

    def _silence_again(self, connection: Connection) -> None:
        self._writer.tombstones.silence_again(connection)
        if self.eraser is not None:
            self.eraser.note(connection)

    async def _one_source(
        self, reader: Reader, under: Path | None, tally: Tally, *, force: bool
    ) -> None:
        cursors = self._cursors.setdefault(reader.feed.plugin, {})
        found = await self._survey(reader, cursors, under, force=force)
        tally.found += found.found
        tally.skipped += found.skipped
        self.progress.files_total += len(found.changed)
        self._note_failures(found, tally, whole=under is None)
        if found.changed:
            await self._require_room()
        for uri in found.moved:
            del cursors[uri]
        stored: dict[tuple[str, str], Cursor] = {}
        iterator = groups(found, force=force, unknown=self.progress.unknown, adopted=stored)
        while (group := await next_group(self._workers, iterator)) is not None:
            self.progress.current_file = group.current
            await self._write(reader, group.batches, tally, stored)
            self.progress.files_done += group.files_done
            self.progress.tell()
            if len(tally.retitled) >= RETITLE:
                await self._retitle(tally)
        if found.gone:
            await self._write(reader, gone_batches(found), tally, stored)
        await self._retitle(tally)

    async def _retitle(self, tally: Tally) -> None:
        """Index sessions again under their new titles; a long log may change its own often."""
        while tally.retitled:
            await retitle(self._store, self._indexing, min(tally.retitled))
            tally.retitled.remove(min(tally.retitled))
        await self._indexing.drain()

    async def _survey(
        self, reader: Reader, cursors: Mapping[str, Cursor], under: Path | None, *, force: bool
    ) -> Survey:
        """Look at a source; one that fails as a whole is told, and the others go on."""
        began = time.monotonic()
        try:
            found = await self._workers.run(
                "io", lambda: survey(reader, cursors, under, force=force)
            )
            if under is None:
                self.progress.sweep_seconds = time.monotonic() - began
            return found
        except CloxyError:
            raise
        except Exception as error:
            self._log.error("%s cannot look for its files", reader.feed.plugin, exc_info=error)
            reason = f"cannot look for its files ({type(error).__name__}); see the log"
            return Survey(reader, failures=[SourceFailure(reader.feed.plugin, reason)])

    async def _require_room(self) -> None:
        reason = await self.has_room() if self.has_room is not None else None
        if reason:
            raise StoreFullError(
                reason, hint="make room on that disk; the next pass goes on from here"
            )

    async def _write(
        self,
        reader: Reader,
        batches: Sequence[FileBatch],
        tally: Tally,
        stored: dict[tuple[str, str], Cursor],
    ) -> None:
        if not batches:
            return
        try:
            report = await self._store.write(lambda c: self._writer.apply(c, batches))
        except (CloxyError, OSError):
            raise
        except Exception as error:
            await self._write_singly(reader, batches, tally, stored, error)
            return
        stored.update(report.cursors)
        cursors = self._cursors[reader.feed.plugin]
        cursors.update({uri: cursor for (_plugin, uri), cursor in report.cursors.items()})
        tally.add(batches, report)
        self.progress.wrote(report)
        await self._indexing.drain()

    async def _write_singly(
        self,
        reader: Reader,
        batches: Sequence[FileBatch],
        tally: Tally,
        stored: dict[tuple[str, str], Cursor],
        error: Exception,
    ) -> None:
        """Find the file whose run cannot be written; it stays where it is, the others go on."""
        if len(batches) > 1:
            for batch in batches:
                taken = adopt(batch, stored.get((batch.feed.plugin, batch.cursor.uri)))
                if taken is not None:
                    await self._write(reader, [taken], tally, stored)
            return
        (batch,) = batches
        if batch.cursor.state == "failed":
            raise error
        self._log.error("a run of %s cannot be written", batch.cursor.uri, exc_info=error)
        before = stored.get((batch.feed.plugin, batch.cursor.uri)) or self._cursors[
            reader.feed.plugin
        ].get(batch.cursor.uri)
        known = batch.cursor
        unread = Cursor(known.uri, known.identity, 0, -1, 0, id=known.id)
        await self._write(reader, [failure_batch(reader, before or unread, error)], tally, stored)

    def _note_failures(self, found: Survey, tally: Tally, *, whole: bool) -> None:
        if whole:
            self._failures = {}
        for failure in found.failures:
            if failure.uri not in self._failures:
                self._log.warning("cannot look at %s: %s", failure.uri, failure.reason)
            self._failures[failure.uri] = failure.reason
            told = tally.passed_over if failure.deliberate else tally.errors
            told.append(FileError(failure.uri, failure.reason[:ERROR_CHARACTERS]))

    def _warnings(self, cursors: Sequence[Cursor]) -> tuple[str, ...]:
        """Things that a person should see, the same for every door."""
        words = [] if self.held is None else list(self.held())
        error = self.progress.last_error
        # That logs were held back is told as it is now, not as the last pass found it.
        if error and not error.startswith(HELD):
            words.append(f"last error: {error}")
        words += [f"{uri}: {reason}" for uri, reason in self._failures.items()]
        words += [f"{c.uri}: {c.error}" for c in cursors if c.state == "failed"]
        words += [
            f"drift: no message was found in {c.uri} ({c.records} records understood,"
            f" {c.bad_lines} lines damaged); its format may have changed"
            for c in cursors
            if c.state == "drift"
        ]
        if len(words) > SHOWN_WARNINGS:
            more = len(words) - SHOWN_WARNINGS
            words = [*words[:SHOWN_WARNINGS], f"and {more} more"]
        return tuple(words)
