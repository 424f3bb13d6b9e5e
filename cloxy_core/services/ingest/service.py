"""The ingest service: passes on demand, and what they did."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from logging import Logger
from pathlib import Path

from cloxy_core.runtime.workers import Workers
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.ingest.passes import Survey, gone_batches, groups, next_group, survey
from cloxy_core.services.ingest.reading import Reader
from cloxy_core.services.ingest.roots import require_root
from cloxy_core.services.write.batch import Cursor, FileBatch, WriteReport
from cloxy_core.services.write.cursors import read_cursors
from cloxy_core.services.write.retitling import retitle, stale_titles
from cloxy_core.services.write.transcripts import TranscriptWriter
from cloxy_core.store.engine import Store
from cloxy_hookspecs import Clock, CloxyError, FileError, IngestStatus, PassReport

SHOWN_ERRORS = 10
SHOWN_WARNINGS = 20
ERROR_CHARACTERS = 200


@dataclass(slots=True)
class Progress:
    """The running or last pass, and the totals since start."""

    scans: int = 0
    scanning: bool = False
    current_file: str | None = None
    files_done: int = 0
    files_total: int = 0
    memories: int = 0
    memories_total: int = 0
    last_scan_at: int | None = None
    last_scan_seconds: float | None = None
    last_result: PassReport | None = None
    last_error: str | None = None
    unknown: Counter[str] = field(default_factory=Counter)


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
        self._failures: dict[str, str] = {}
        self.progress = Progress()
        self.running = False
        self.events = False
        self.interval = 0.0
        self.has_room: Callable[[], Awaitable[str | None]] | None = None

    def roots(self) -> Sequence[Path]:
        """Folders that are watched."""
        return list(dict.fromkeys(r for reader in self._readers for r in reader.source.roots()))

    async def run(self, under: Path | None = None, *, force: bool = False) -> PassReport:
        """Run one pass now; waits for a running one first."""
        if under is not None:
            under = await self._workers.run("io", partial(require_root, under, self.roots()))
        async with self._turn:
            return await self._pass(under, force=force)

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
        for reader in self._readers:
            plugin = reader.feed.plugin
            self._cursors[plugin] = await self._store.read(partial(read_cursors, plugin=plugin))
        for session_id in await self._store.read(stale_titles):
            await retitle(self._store, self._indexing, session_id)

    async def _pass(self, under: Path | None, *, force: bool) -> PassReport:
        progress = self.progress
        progress.scanning, progress.files_done, progress.memories = True, 0, 0
        progress.files_total, began = 0, time.monotonic()
        tally = _Tally()
        try:
            for reader in self._readers:
                await self._one_source(reader, under, tally, force=force)
            progress.last_error = None
        except (CloxyError, OSError) as error:
            progress.last_error = str(error)
            # What is in memory may be ahead of what was committed.
            await self.restore()
            raise
        finally:
            progress.scanning, progress.current_file = False, None
            progress.scans += 1
            progress.last_scan_at = self._clock.now_ms()
            progress.last_scan_seconds = round(time.monotonic() - began, 3)
        progress.last_result = tally.report(progress.last_scan_seconds)
        return progress.last_result

    async def _one_source(
        self, reader: Reader, under: Path | None, tally: "_Tally", *, force: bool
    ) -> None:
        cursors = self._cursors.setdefault(reader.feed.plugin, {})
        found = await self._workers.run("io", lambda: survey(reader, cursors, under, force=force))
        tally.found += found.found
        tally.skipped += found.skipped
        self.progress.files_total += len(found.changed)
        for uri in found.moved:
            del cursors[uri]
        self._note_failures(found, tally, whole=under is None)
        if found.changed and self.has_room is not None:
            reason = await self.has_room()
            if reason:
                self.progress.last_error = reason
                tally.errors.append(FileError("", reason))
                return
        stored: dict[tuple[str, str], Cursor] = {}
        iterator = groups(found, force=force, unknown=self.progress.unknown, adopted=stored)
        while (group := await next_group(self._workers, iterator)) is not None:
            self.progress.current_file = group.current
            await self._write(reader, group.batches, tally, stored)
            self.progress.files_done += group.files_done
        if found.gone:
            await self._write(reader, gone_batches(found), tally, stored)

    async def _write(
        self,
        reader: Reader,
        batches: Sequence[FileBatch],
        tally: "_Tally",
        stored: dict[tuple[str, str], Cursor],
    ) -> None:
        if not batches:
            return
        report = await self._store.write(lambda c: self._writer.apply(c, batches))
        stored.update(report.cursors)
        cursors = self._cursors[reader.feed.plugin]
        cursors.update({uri: cursor for (_plugin, uri), cursor in report.cursors.items()})
        tally.add(batches, report)
        self.progress.memories += report.memories_added
        self.progress.memories_total += report.memories_added
        for session_id in report.retitled:
            await retitle(self._store, self._indexing, session_id)
        await self._indexing.drain()

    def _note_failures(self, found: Survey, tally: "_Tally", *, whole: bool) -> None:
        if whole:
            self._failures = {}
        for failure in found.failures:
            if failure.uri not in self._failures:
                self._log.warning("cannot look at %s: %s", failure.uri, failure.reason)
            self._failures[failure.uri] = failure.reason
            tally.errors.append(FileError(failure.uri, failure.reason[:ERROR_CHARACTERS]))

    def _warnings(self, cursors: Sequence[Cursor]) -> tuple[str, ...]:
        """Things that a person should see, the same for every door."""
        words = [f"{uri}: {reason}" for uri, reason in self._failures.items()]
        words += [f"{c.uri}: {c.error}" for c in cursors if c.state == "failed"]
        words += [
            f"drift: {c.uri} has {c.records} records but no message; its format may have changed"
            for c in cursors
            if c.state == "drift"
        ]
        if len(words) > SHOWN_WARNINGS:
            more = len(words) - SHOWN_WARNINGS
            words = [*words[:SHOWN_WARNINGS], f"and {more} more"]
        return tuple(words)


@dataclass(slots=True)
class _Tally:
    """Counts of a running pass."""

    found: int = 0
    skipped: int = 0
    memories: int = 0
    added: int = 0
    known: int = 0
    bad_lines: int = 0
    files: set[str] = field(default_factory=set)
    drift: list[str] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)

    def add(self, batches: Sequence[FileBatch], report: WriteReport) -> None:
        self.memories += report.memories_added
        self.added += report.messages_added
        self.known += report.messages_known
        for batch in batches:
            cursor = batch.cursor
            self.bad_lines += len(batch.bad_lines)
            if cursor.state == "failed":
                self.errors.append(FileError(cursor.uri, cursor.error or "unreadable"))
            elif cursor.state != "gone":
                self.files.add(cursor.uri)
            if cursor.state == "drift" and cursor.uri not in self.drift:
                self.drift.append(cursor.uri)

    def report(self, seconds: float | None) -> PassReport:
        return PassReport(
            files_found=self.found,
            files_processed=len(self.files),
            files_skipped=self.skipped,
            memories_added=self.memories,
            messages_added=self.added,
            messages_known=self.known,
            bad_lines=self.bad_lines,
            errors=tuple(self.errors[:SHOWN_ERRORS]),
            drift=tuple(self.drift),
            seconds=seconds or 0.0,
        )
