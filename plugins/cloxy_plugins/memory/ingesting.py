"""Passes over the session logs, on request."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from cloxy_hookspecs import Caller, FileError, HostContext, Ingestor, PassReport, Progress
from cloxy_plugins.memory.instants import iso
from cloxy_plugins.memory.models import (
    FileErrorOutput,
    IngestConvosInput,
    IngestConvosOutput,
    IngestStatusOutput,
    Nothing,
)


def create_ingest(
    context: HostContext,
) -> Callable[[IngestConvosInput], Awaitable[IngestConvosOutput]]:
    """Make the operation that runs a pass."""
    ingestor = context.service(Ingestor)
    caller = context.service(Caller)
    progress = context.service(Progress)

    async def ingest(given: IngestConvosInput) -> IngestConvosOutput:
        under = Path(given.convo_dir) if given.convo_dir is not None else None
        report = await ingestor.run(
            under, force=given.force, anywhere=caller.is_owner(), progress=progress
        )
        return _report(report)

    return ingest


def create_ingest_status(
    context: HostContext,
) -> Callable[[Nothing], Awaitable[IngestStatusOutput]]:
    """Make the operation that tells how the watcher is."""
    ingestor = context.service(Ingestor)

    async def ingest_status(_given: Nothing) -> IngestStatusOutput:
        status = await ingestor.status()
        result = status.last_result
        return IngestStatusOutput(
            running=status.running,
            dirs=list(status.dirs),
            dirs_missing=list(status.missing),
            interval=status.interval,
            scans=status.scans,
            scanning=status.scanning,
            current_file=status.current_file,
            files_this_scan=status.files_this_scan,
            files_total=status.files_total,
            chunks_this_scan=status.memories_this_scan,
            last_scan_at=iso(status.last_scan_at),
            last_scan_seconds=status.last_scan_seconds,
            last_result=_report(result) if result else None,
            chunks_stored_total=status.memories_total,
            last_error=status.last_error,
            files_tracked=status.files_tracked,
            events=status.events,
            bad_lines=status.bad_lines,
            drift=list(status.drift),
            warnings=list(status.warnings),
            unknown_records=dict(status.unknown),
        )

    return ingest_status


def _report(report: PassReport) -> IngestConvosOutput:
    return IngestConvosOutput(
        files_found=report.files_found,
        files_processed=report.files_processed,
        files_skipped=report.files_skipped,
        chunks_stored=report.memories_added,
        chunks_duplicate=report.messages_known,
        messages_added=report.messages_added,
        bad_lines=report.bad_lines,
        seconds=report.seconds,
        errors=_files(report.errors),
        drift=list(report.drift),
        passed_over=_files(report.passed_over),
    )


def _files(errors: Sequence[FileError]) -> list[FileErrorOutput]:
    return [FileErrorOutput(file=e.file, error=e.error) for e in errors]
