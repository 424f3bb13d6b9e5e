"""The ingest service: passes on demand, and what they did."""

import asyncio
import logging
import os
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
from cloxy_core.services.ingest.pacing import Pace
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
from cloxy_core.services.ingest.roots import choose_place, is_there, readers_of
from cloxy_core.services.ingest.sharing_out import share_out
from cloxy_core.services.ingest.standing import Standings
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
        others: Sequence[Reader] = (),
    ) -> None:
        """Put it together; nothing is read yet.

        Args:
            readers: of the sources that are watched.
            store: the database.
            writer: writes what was read.
            indexing: what keeps the indexes in step.
            workers: threads.
            clock: the time.
            log: gets what goes wrong.
            others: of sources that are only read in a folder that somebody names.
        """
        self.readers = tuple(readers)
        self.others = tuple(others)
        self._store = store
        self._writer = writer
        self._indexing = indexing
        self._workers = workers
        self._clock = clock
        self._log = log
        self._turn = asyncio.Lock()
        self._cursors: dict[str, dict[str, Cursor]] = {}
        self._outdated = True
        self._pace = Pace()
        self.standings = Standings()
        self.progress = Progress()
        self.late: float | None = None
        """When the earliest source is due that the last patient pass left out (monotonic)."""
        self.running = False
        self.events = False
        self.interval = 0.0
        self.has_room: Callable[[], Awaitable[str | None]] | None = None
        self.held: Callable[[], Sequence[str]] | None = None
        self.eraser: Eraser | None = None
        """Erases what a pass noted once more after it was forgotten."""
        self.read_in: Callable[[], Awaitable[object]] | None = None
        """Called after logs were read in, still within the pass."""
        self.look_round: Callable[[], Awaitable[object]] | None = None
        """Called before sources are read that may ask what folders are known."""

    def roots(self) -> Sequence[Path]:
        """Folders that are watched."""
        return list(dict.fromkeys(r for reader in self.readers for r in reader.source.roots()))

    async def run(
        self,
        under: Path | None = None,
        *,
        force: bool = False,
        anywhere: bool = False,
        progress: Telling | None = None,
        patient: bool = False,
    ) -> PassReport:
        """Run one pass now; waits for a running one first.

        Args:
            under: only this file or folder.
            force: read every file from its start.
            anywhere: whether `under` may lie outside of the watched folders.
            progress: told how far it is.
            patient: whether sources of things that are rewritten may be left for later, when
                they were looked at just now.

        Raises:
            InputError: `under` lies outside of the watched folders and `anywhere` is not set, or
                is no folder that exists.
            StoreFullError: there is too little room; what was taken in until then stays.
            StoreBusyError: the store cannot be written now; the next pass goes on from there.
        """
        readers: Sequence[Reader] = self.readers
        strange: Sequence[FileError] = ()
        if under is not None:
            choose = partial(choose_place, under, self.roots(), anywhere=anywhere)
            place = await self._workers.run("io", choose)
            under = place.path
            if not place.watched:
                readers, strange = await self._workers.run("io", partial(self._able, under))
        async with self._turn:
            self.progress.telling = progress
            return await self._pass(readers, under, force=force, patient=patient, strange=strange)

    def _able(self, folder: Path) -> tuple[Sequence[Reader], Sequence[FileError]]:
        """Readers of a folder that is not watched, each with the files that it understands best.

        Beside them stands what none of them understands.
        """
        return share_out(readers_of([*self.readers, *self.others], folder), folder)

    def cursors(self, plugin: str) -> Sequence[Cursor]:
        """Cursors of a source, as far as they are known."""
        return tuple(self._cursors.get(plugin, {}).values())

    async def between(self, work: Callable[[Connection], T]) -> T:
        """Write while no log is read; the next pass looks at every cursor anew."""
        async with self._turn:
            try:
                return await self._store.write(work, durable=True)
            finally:
                self._outdated = True

    async def status(self) -> IngestStatus:
        """What the watcher is doing."""
        progress, roots = self.progress, self.roots()
        cursors = [cursor for known in self._cursors.values() for cursor in known.values()]
        return IngestStatus(
            running=self.running,
            dirs=tuple(str(root) for root in roots),
            missing=tuple(str(root) for root in roots if not is_there(root)),
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
            unknown=dict(self.standings.unknown.most_common(SHOWN_WARNINGS)),
        )

    async def restore(self) -> None:
        """Read the cursors, and finish what a crash left unfinished."""
        self._outdated = False
        try:
            for reader in (*self.readers, *self.others):
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
        self,
        readers: Sequence[Reader],
        under: Path | None,
        *,
        force: bool,
        patient: bool = False,
        strange: Sequence[FileError] = (),
    ) -> PassReport:
        progress, began = self.progress, time.monotonic()
        tally = Tally(passed_over=list(strange))
        progress.begin()
        whole, self.late = False, None
        try:
            await self._take_notice()
            # Where the others work is known when those are read that may look there.
            for reader in sorted(readers, key=lambda reader: reader.rewritten):
                if not reader.rewritten:
                    await self._one_source(reader, under, tally, force=force)
                elif under is not None and tally.found and not await self._is_folder(under):
                    continue  # a log that grows is nothing that is rewritten
                elif self._is_due(reader, under, patient=patient):
                    await self._whole_source(reader, under, tally, force=force)
            await self._retitle(tally)
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

    def _is_due(self, reader: Reader, under: Path | None, *, patient: bool) -> bool:
        """Whether to look at a source of things that are rewritten; later when it is not."""
        if under is not None and not _concerns(reader.source.roots(), under):
            return False
        due = self._pace.due(reader.feed.plugin, self.interval) if patient else None
        if due is not None:
            self.late = due if self.late is None else min(self.late, due)
        return due is None

    async def _is_folder(self, place: Path) -> bool:
        return await self._workers.run("io", place.is_dir)

    async def _whole_source(
        self, reader: Reader, under: Path | None, tally: Tally, *, force: bool
    ) -> None:
        await self._look_round(tally)
        began, before = time.monotonic(), tally.found
        await self._one_source(reader, under, tally, force=force)
        self._pace.took(reader.feed.plugin, began, found=tally.found > before)

    async def _look_round(self, tally: Tally) -> None:
        """Let sources know what is known, once a pass and again when something was added."""
        if self.look_round is not None and tally.seen != tally.added:
            await self.look_round()
            tally.seen = tally.added

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
        plugin = reader.feed.plugin
        cursors = self._cursors.setdefault(plugin, {})
        errors = len(tally.errors)
        found = await self._survey(reader, cursors, under, force=force)
        tally.found += found.found
        tally.skipped += found.skipped
        self.progress.files_total += len(found.changed)
        self._note_failures(plugin, found, tally, whole=under is None)
        if found.changed:
            await self._require_room()
        for uri in found.moved:
            del cursors[uri]
        # Most sources have nothing new most of the time: no worker is asked for that.
        if found.changed or found.gone or found.moved:
            await self._take_in(reader, found, tally, force=force)
        if len(tally.errors) == errors:
            self.standings[plugin].last_success = self._clock.now_ms()

    async def _take_in(self, reader: Reader, found: Survey, tally: Tally, *, force: bool) -> None:
        """Read what is new in a source."""
        plugin = reader.feed.plugin
        stored: dict[tuple[str, str], Cursor] = {}
        unknown = self.standings[plugin].unknown
        iterator = groups(found, force=force, unknown=unknown, adopted=stored)
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
                self.progress.swept(time.monotonic() - began)
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

    def _note_failures(self, plugin: str, found: Survey, tally: Tally, *, whole: bool) -> None:
        for failure in self.standings[plugin].note(found.failures, whole=whole):
            level = logging.INFO if failure.deliberate else logging.WARNING
            self._log.log(level, "cannot look at %s: %s", failure.uri, failure.reason)
        for failure in found.failures:
            told = tally.passed_over if failure.deliberate else tally.errors
            told.append(FileError(failure.uri, failure.reason[:ERROR_CHARACTERS]))

    def _warnings(self, cursors: Sequence[Cursor]) -> tuple[str, ...]:
        """Things that a person should see, the same for every door."""
        words = [] if self.held is None else list(self.held())
        error = self.progress.last_error
        # That logs were held back is told as it is now, not as the last pass found it.
        if error and not error.startswith(HELD):
            words.append(f"last error: {error}")
        words += [f"{uri}: {reason}" for uri, reason in self.standings.failures.items()]
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


def _concerns(roots: Sequence[Path], under: Path) -> bool:
    """Whether a place lies inside of a root, or around one."""
    for root in roots:
        places = (root, Path(os.path.realpath(root)))
        if any(under.is_relative_to(place) or place.is_relative_to(under) for place in places):
            return True
    return False
