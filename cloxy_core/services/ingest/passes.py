"""One pass: find the files that changed, read them, and write what is new.

Files are read one after another on an `io` thread; what they yield is gathered into transactions
of a bounded size, so that a thousand small files do not cost a thousand commits and a large one
does not hold the writer for long.
"""

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cloxy_core.runtime.workers import Workers
from cloxy_core.services.ingest.following import continues
from cloxy_core.services.ingest.reading import Reader
from cloxy_core.services.write.batch import Cursor, FileBatch
from cloxy_hookspecs import ForeignDatabaseError, SourceFailure, SourceItem

TRANSACTION_MESSAGES = 200
TRANSACTION_FILES = 64
TRANSACTION_CHARACTERS = 2_000_000


@dataclass(slots=True)
class Survey:
    """What a look at the folders of one source found.

    Attributes:
        reader: the source.
        changed: files to read, newest first, with their cursors.
        found: how many files there are.
        skipped: how many of them did not change.
        gone: cursors whose file is no longer there.
        moved: addresses of cursors that were taken over by a file of another name.
        failures: what could not be looked at.
    """

    reader: Reader
    changed: list[tuple[SourceItem, Cursor | None]] = field(default_factory=list)
    found: int = 0
    skipped: int = 0
    gone: list[Cursor] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    failures: list[SourceFailure] = field(default_factory=list)


def survey(
    reader: Reader, cursors: Mapping[str, Cursor], under: Path | None, *, force: bool
) -> Survey:
    """Look at the folders of a source without opening a file. Runs on an `io` thread.

    Args:
        reader: the source.
        cursors: stored cursors, by address.
        under: only this file or folder.
        force: take every file for changed.
    """
    result = Survey(reader)
    now = time.time_ns()
    items = {item.uri: item for item in _discovered(reader, result, under)}
    result.found = len(items)
    missing = [] if under is not None else [c for uri, c in cursors.items() if uri not in items]
    if missing and any(not failure.deliberate for failure in result.failures):
        missing = [c for c in missing if not _hidden(c.uri, result.failures)]
    moved = {cursor.identity: cursor for cursor in missing}
    for uri, item in items.items():
        cursor = cursors.get(uri)
        if cursor is not None and not force and reader.is_known(cursor, item, now):
            result.skipped += 1
            continue
        if (
            cursor is None
            and not reader.rewritten
            and (old := _moved_here(reader, item, moved.get(item.identity)))
        ):
            moved.pop(old.identity, None)
            missing.remove(old)
            result.moved.append(old.uri)
            cursor = replace(old, uri=uri)
        result.changed.append((item, cursor))
    result.changed.sort(key=lambda pair: pair[0].mtime_ns, reverse=True)
    result.gone = [cursor for cursor in missing if cursor.state != "gone"]
    return result


def _discovered(reader: Reader, result: Survey, under: Path | None) -> Iterator[SourceItem]:
    """What a source finds; a store that cannot be read is told like everything else."""
    try:
        yield from reader.source.discover(result.failures, under)
    except ForeignDatabaseError as error:
        result.failures.append(SourceFailure("", str(error)))


def _hidden(uri: str, failures: Sequence[SourceFailure]) -> bool:
    """Whether a thing was not seen because its place could not be looked at."""
    for failure in failures:
        if failure.deliberate:
            continue
        place = failure.uri
        if not place or uri == place or uri.startswith((f"{place}#", f"{place}{os.sep}")):
            return True
    return False


def _moved_here(reader: Reader, item: SourceItem, cursor: Cursor | None) -> Cursor | None:
    """The cursor of a file that was renamed to this one, if its bytes say so."""
    try:
        return cursor if cursor is not None and continues(reader.source, item, cursor) else None
    except OSError:
        return None


@dataclass(slots=True)
class Group:
    """Batches for one transaction."""

    batches: list[FileBatch] = field(default_factory=list)
    messages: int = 0
    characters: int = 0
    files_done: int = 0
    current: str | None = None

    def add(self, batch: FileBatch) -> None:
        """Put a batch in."""
        self.batches.append(batch)
        self.messages += len(batch.messages)
        self.characters += sum(len(message.text) for message in batch.messages)

    @property
    def full(self) -> bool:
        """Whether it is time to write."""
        return (
            self.messages >= TRANSACTION_MESSAGES
            or len(self.batches) >= TRANSACTION_FILES
            or self.characters >= TRANSACTION_CHARACTERS
        )


def groups(
    found: Survey,
    *,
    force: bool,
    unknown: Counter[str],
    adopted: Mapping[tuple[str, str], Cursor],
) -> Iterator[Group]:
    """Read all changed files into groups for the writer. Runs on an `io` thread.

    A batch whose messages may be known already is written alone. A file of which a run could not
    be written is left where it is.

    Args:
        found: what to read.
        force: read every file from its start.
        unknown: counts record types that are not understood.
        adopted: cursors as they were stored by the groups before; read at the next step.
    """
    group = Group()
    for item, cursor in found.changed:
        group.current = item.uri
        for batch in _read(found.reader, item, cursor, force=force, unknown=unknown):
            place = (batch.feed.plugin, batch.cursor.uri)
            if group.batches and batch.reread:
                yield group
                group = Group(current=item.uri)
            taken = adopt(batch, adopted.get(place))
            if taken is None:
                break
            group.add(taken)
            if group.full or batch.reread:
                yield group
                group = Group(current=item.uri)
        group.files_done += 1
    yield group


def adopt(batch: FileBatch, stored: Cursor | None) -> FileBatch | None:
    """A batch with the id of the cursor that runs before it stored; None after one that failed."""
    if stored is None:
        return batch
    if stored.state == "failed":
        return None
    if batch.cursor.id is not None:
        return batch
    return replace(batch, cursor=replace(batch.cursor, id=stored.id))


def _read(
    reader: Reader, item: SourceItem, cursor: Cursor | None, *, force: bool, unknown: Counter[str]
) -> Iterator[FileBatch]:
    """The batches of a file; one that cannot be read gives its failure as a cursor."""
    try:
        for batch in reader.batches(item, cursor, force=force, unknown=unknown):
            cursor = batch.cursor
            yield batch
    except Exception as error:
        # Whatever is wrong with one file, or with the plugin that reads it, the others go on.
        yield failure_batch(reader, cursor or never_read(item), error)


def never_read(item: SourceItem) -> Cursor:
    """The cursor of a file of which nothing was read, so that it is tried again."""
    return Cursor(item.uri, item.identity, 0, -1, 0)


def failure_batch(reader: Reader, cursor: Cursor, error: Exception) -> FileBatch:
    """A batch that says only that the file could not be taken; its offset stays.

    Words of an unforeseen error may be words of the file, so that only its kind is told.
    """
    if isinstance(error, ForeignDatabaseError):
        reason = str(error)[:200]
    elif isinstance(error, OSError):
        reason = f"{type(error).__name__}: {error.strerror or error}"[:200]
    else:
        reason = f"{reader.feed.parser} failed ({type(error).__name__})"
    return FileBatch(
        feed=reader.feed,
        cursor=replace(cursor, state="failed", error=reason),
        messages=(),
        facts={},
        projects={},
    )


def gone_batches(found: Survey) -> Sequence[FileBatch]:
    """Batches that say that files are gone; their memories stay."""
    return [
        FileBatch(found.reader.feed, replace(cursor, state="gone"), (), {}, {})
        for cursor in found.gone
    ]


async def next_group(workers: Workers, iterator: Iterator[Group]) -> Group | None:
    """Read the next group on an `io` thread; None when there is no more."""
    return await workers.run("io", lambda: next(iterator, None))
