"""Running a pass over the session logs, and seeing how it goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cloxy_hookspecs.ports.progress import Progress


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that could not be read, and why (at most 200 characters)."""

    file: str
    error: str


@dataclass(frozen=True, slots=True)
class PassReport:
    """What one pass did.

    Attributes:
        files_found: files discovered.
        files_processed: files that had something new.
        files_skipped: files without change.
        memories_added: memories that are new.
        messages_added: messages that are new.
        messages_known: messages that were already stored for their session.
        bad_lines: damaged lines passed over.
        errors: files that failed, at most ten.
        drift: files with records but no message at all.
        passed_over: what is never read, such as links and devices, and why; at most ten.
        seconds: how long it took.
    """

    files_found: int = 0
    files_processed: int = 0
    files_skipped: int = 0
    memories_added: int = 0
    messages_added: int = 0
    messages_known: int = 0
    bad_lines: int = 0
    errors: tuple[FileError, ...] = ()
    drift: tuple[str, ...] = ()
    passed_over: tuple[FileError, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class IngestStatus:
    """What the watcher is doing; times are milliseconds UTC.

    Attributes:
        running: whether the watcher is on.
        dirs: folders that are watched.
        missing: those of them that do not exist (yet).
        interval: seconds between looks.
        scans: passes since start.
        scanning: whether a pass is running.
        current_file: file being read.
        files_this_scan: files done in the running or last pass.
        files_total: files to do in the running or last pass.
        memories_this_scan: memories added in the running or last pass.
        memories_total: memories added since start.
        last_scan_at: when the last pass ended.
        last_scan_seconds: how long it took.
        last_result: report of the last pass.
        last_error: last failure of a whole pass.
        files_tracked: files with a cursor.
        warnings: things that a person should see, drift and unreadable files among them.
        drift: files with records but no message at all.
        events: whether file events work; False when only the sweep does.
        bad_lines: damaged lines ever passed over.
        unknown: record types not understood, with counts, since start.
    """

    running: bool
    dirs: tuple[str, ...]
    missing: tuple[str, ...]
    interval: float
    scans: int
    scanning: bool
    current_file: str | None
    files_this_scan: int
    files_total: int
    memories_this_scan: int
    memories_total: int
    last_scan_at: int | None
    last_scan_seconds: float | None
    last_result: PassReport | None
    last_error: str | None
    files_tracked: int
    warnings: tuple[str, ...]
    drift: tuple[str, ...]
    events: bool
    bad_lines: int
    unknown: Mapping[str, int]


class Ingestor(Protocol):
    """Runs passes over the session logs."""

    async def run(
        self,
        under: Path | None = None,
        *,
        force: bool = False,
        anywhere: bool = False,
        progress: Progress | None = None,
    ) -> PassReport:
        """Run one pass now; waits for a running one first.

        Args:
            under: only this folder, which must lie inside a watched one unless `anywhere`.
            force: read every file from its start; what is known is recognised.
            anywhere: whether the folder may lie outside the watched ones; only for a caller who
                proved to be the owner of the data.
            progress: told how many of the files to read are read.

        Raises:
            InputError: the folder is outside the watched ones, or does not exist.
        """
        ...

    async def status(self) -> IngestStatus:
        """What the watcher is doing."""
        ...

    def roots(self) -> Sequence[Path]:
        """Folders that are watched."""
        ...
