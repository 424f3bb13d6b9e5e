"""Counts of passes: the running one, and what is told of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from cloxy_core.services.write.batch import FileBatch, WriteReport
from cloxy_hookspecs import FileError, PassReport
from cloxy_hookspecs import Progress as Telling

SHOWN_ERRORS = 10


@dataclass(slots=True)
class Progress:
    """The running or last pass, and the totals since start.

    Attributes:
        sweep_seconds: what the last look at all folders cost, without reading or writing.
        sweep_fresh: whether the next look is the first of its pass.
        telling: who waits for the running pass and wants to know how far it is.
    """

    scans: int = 0
    scanning: bool = False
    current_file: str | None = None
    files_done: int = 0
    files_total: int = 0
    memories: int = 0
    memories_total: int = 0
    last_scan_at: int | None = None
    last_scan_seconds: float | None = None
    sweep_seconds: float = 0.0
    sweep_fresh: bool = True
    last_result: PassReport | None = None
    last_error: str | None = None
    telling: Telling | None = None

    def swept(self, seconds: float) -> None:
        """All folders of a source were looked at."""
        if self.sweep_fresh:
            self.sweep_seconds, self.sweep_fresh = 0.0, False
        self.sweep_seconds += seconds

    def begin(self) -> None:
        """A pass begins."""
        self.sweep_fresh = True
        self.scanning = True
        self.files_done = self.files_total = self.memories = 0

    def end(self, at: int, seconds: float) -> None:
        """A pass has ended, well or not."""
        self.scanning, self.current_file, self.telling = False, None, None
        self.scans += 1
        self.last_scan_at = at
        self.last_scan_seconds = round(seconds, 3)

    def tell(self) -> None:
        """Tell whoever waits how far the pass is."""
        if self.telling is not None:
            self.telling.report(
                self.files_done,
                self.files_total,
                f"{self.files_done:,} of {self.files_total:,} session logs read, "
                f"{self.memories:,} new memories",
            )

    def wrote(self, report: WriteReport) -> None:
        """A transaction was committed."""
        self.memories += report.memories_added
        self.memories_total += report.memories_added


@dataclass(slots=True)
class Tally:
    """What a running pass has to report.

    Of the messages that were added, `seen` are those that the sources which ask what is known were
    told of; it is -1 until they were told of anything.
    """

    found: int = 0
    skipped: int = 0
    memories: int = 0
    added: int = 0
    known: int = 0
    seen: int = -1
    bad_lines: int = 0
    files: set[str] = field(default_factory=set)
    drift: list[str] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    passed_over: list[FileError] = field(default_factory=list)
    retitled: set[int] = field(default_factory=set)

    def add(self, batches: Sequence[FileBatch], report: WriteReport) -> None:
        """Count what was written."""
        self.memories += report.memories_added
        self.added += report.messages_added
        self.known += report.messages_known
        self.retitled |= report.retitled
        for batch in batches:
            cursor = batch.cursor
            self.bad_lines += len(batch.bad_lines)
            if cursor.state == "failed":
                self.errors.append(FileError(cursor.uri, cursor.error or "unreadable"))
            elif cursor.state != "gone":
                self.files.add(cursor.uri)
            if cursor.state == "drift" and cursor.uri not in self.drift:
                self.drift.append(cursor.uri)

    def report(self, seconds: float) -> PassReport:
        """The report of the whole pass."""
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
            passed_over=tuple(self.passed_over[:SHOWN_ERRORS]),
            seconds=round(seconds, 3),
        )
