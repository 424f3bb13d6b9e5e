"""The watcher: file events wake it, and a sweep makes it whole.

Events are hints. They get lost (a full queue, a network file system, a file written at once into
a folder that is still unknown), so that a sweep looks at every file again and again, without
opening one. How often depends on what it costs: never more than one part in a hundred of the
time, at the latest once a minute.
"""

import asyncio
import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from logging import Logger
from pathlib import Path

from watchfiles import awatch

from cloxy_core.services.ingest.roots import is_there
from cloxy_core.services.ingest.service import IngestService
from cloxy_hookspecs import CloxyError

RETRY_EVENTS_SECONDS = 60.0
SHARE = 100
DEBOUNCE_MS = 100
STEP_MS = 20
MOST_PATHS = 64
_BESIDE = ("-wal", "-journal")
_INDEX = "-shm"


class Watcher:
    """Keeps the memory up to date until it is cancelled."""

    def __init__(
        self,
        ingest: IngestService,
        *,
        interval: float,
        sweep: float,
        log: Logger,
        use_events: bool = True,
    ) -> None:
        """Prepare to watch.

        Args:
            ingest: runs the passes.
            interval: least seconds between two sweeps.
            sweep: most seconds between two sweeps.
            log: gets what goes wrong.
            use_events: whether to follow file events.
        """
        self._ingest = ingest
        self._longest = max(interval, sweep)
        self._interval = interval
        self._log = log
        self._use_events = use_events
        self._changed: set[Path] = set()
        self._later: dict[Path, float] = {}
        self._wake = asyncio.Event()
        # Of forbidden folders. Only when there are some: a tolerant watcher does not tell, either,
        # that the system has no more watches to give.
        self._tolerant = False
        ingest.interval = interval

    async def run(self) -> None:
        """Watch; cancel to stop."""
        self._ingest.running = True
        events = asyncio.create_task(self._follow_events()) if self._use_events else None
        try:
            await self._sweep()
            await self._loop()
        finally:
            self._ingest.running = False
            if events is not None:
                events.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await events

    async def _loop(self) -> None:
        due = time.monotonic() + self._pause()
        while True:
            until = min([due, *self._later.values()])
            woken = await self._sleep(max(0.0, until - time.monotonic()))
            if (woken or until < due) and time.monotonic() < due:
                await self._look_at_changes()
            else:
                await self._sweep()
                due = time.monotonic() + self._pause()

    async def _sleep(self, seconds: float) -> bool:
        """Wait for an event, at most so long; whether one came."""
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return False
        self._wake.clear()
        return True

    async def _look_at_changes(self) -> None:
        paths, self._changed = self._changed, set()
        now = time.monotonic()
        # A store that is written to without end is not looked at for each event.
        paths = {path for path in paths if path not in self._later or path.is_dir()}
        ready = [path for path, due in self._later.items() if due <= now]
        paths.update(ready)
        for path in ready:
            del self._later[path]
        if len(paths) > MOST_PATHS:
            await self._sweep()
            return
        for path in sorted(paths):
            await self._attempt(path)

    async def _sweep(self) -> None:
        self._changed.clear()
        await self._attempt(None)

    async def _attempt(self, under: Path | None) -> None:
        """One pass; a failure is told and tried again at the next."""
        try:
            await self._ingest.run(under, patient=True)
            if under is not None and self._ingest.late is not None:
                self._later[under] = self._ingest.late
        except (CloxyError, OSError) as error:
            # A file that vanished between its event and the look is the ordinary case.
            if under is None:
                self._log.warning("a pass over the session logs failed: %s", error)
        except Exception:
            self._log.exception("a pass over the session logs failed")

    def _pause(self) -> float:
        """Seconds to the next sweep."""
        cost = self._ingest.progress.sweep_seconds
        return max(self._interval, min(cost * SHARE, self._longest))

    async def _follow_events(self) -> None:
        """Collect paths from file events; starts over when a watched place appears or goes."""
        are_seen = True  # by the sweep that begins it all, as far as they are there by now
        while True:
            roots = [root for root in self._ingest.roots() if is_there(root)]
            if not roots:
                self._ingest.events = are_seen = False
                await asyncio.sleep(self._interval)
                continue
            try:
                await self._follow(roots, are_seen=are_seen)
            except (OSError, RuntimeError) as error:
                if isinstance(error, PermissionError) and not self._tolerant:
                    self._tolerant = True
                    continue
                # No more watches to be had, or a file system without events.
                self._log.warning("file events do not work (%s); sweeping instead", error)
                self._ingest.events = False
                await asyncio.sleep(RETRY_EVENTS_SECONDS)
            are_seen = False

    async def _follow(self, roots: Sequence[Path], *, are_seen: bool) -> None:
        if not are_seen:
            # What was written before they were followed has made no event. They are looked at
            # in the next turn, and followed in this one.
            self._changed.update(roots)
            self._wake.set()
        stop = asyncio.Event()
        watchdog = asyncio.create_task(self._stop_when_roots_change(roots, stop))
        self._ingest.events = True
        try:
            async for changes in awatch(
                *roots,
                watch_filter=None,
                debounce=DEBOUNCE_MS,
                step=STEP_MS,
                stop_event=stop,
                recursive=True,
                ignore_permission_denied=self._tolerant,
            ):
                # Folders, too: a new one may have been filled before it could be watched. Which
                # files are of interest, each source knows itself.
                self._changed.update(_places(Path(path) for _change, path in changes))
                self._wake.set()
        finally:
            watchdog.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watchdog

    async def _stop_when_roots_change(self, roots: Sequence[Path], stop: asyncio.Event) -> None:
        inodes = _inodes(roots)
        while True:
            await asyncio.sleep(self._interval)
            current = [root for root in self._ingest.roots() if is_there(root)]
            if current != list(roots) or _inodes(current) != inodes:
                stop.set()
                return


def _places(paths: Iterable[Path]) -> Iterator[Path]:
    """What paths of events stand for: files beside a database stand for the database."""
    for path in paths:
        if path.name.endswith(_INDEX):
            continue
        ending = next((ending for ending in _BESIDE if path.name.endswith(ending)), "")
        yield path.with_name(path.name.removesuffix(ending)) if ending else path


def _inodes(roots: Sequence[Path]) -> list[tuple[int, int] | None]:
    found: list[tuple[int, int] | None] = []
    for root in roots:
        try:
            facts = root.stat()
            found.append((facts.st_dev, facts.st_ino))
        except OSError:
            found.append(None)
    return found
