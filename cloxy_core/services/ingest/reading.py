"""One file: from its offset to batches of clean messages. Runs on an `io` thread."""

import errno
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cloxy_core.services.ingest.cleaning import clean_run, clean_state
from cloxy_core.services.ingest.following import (
    Start,
    find_start,
    is_quiet,
    is_same_version,
    is_unchanged,
    mark,
    start_anew,
)
from cloxy_core.services.ingest.parsing import parse_run
from cloxy_core.services.write.batch import Cursor, Feed, FileBatch
from cloxy_hookspecs import Parser, ParseResult, RawLine, Source, SourceItem

RUN_BYTES = 2 * 1024 * 1024
RUN_LINES = 400
KNOWN_KINDS = 1000
WHOLE_BYTES = 128 * 1024 * 1024
"""Most bytes of one conversation that is read whole."""


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads the files of one source.

    Attributes:
        feed: how the messages are treated.
        source: finds and reads.
        parser: understands.
        resolve_project: from a recorded working directory to the path of its project.
        rewritten: whether things are rewritten in place, and so read whole when they changed.
    """

    feed: Feed
    source: Source
    parser: Parser
    resolve_project: Callable[[str], str]
    rewritten: bool = False

    def is_known(self, cursor: Cursor, item: SourceItem, now_ns: int) -> bool:
        """Whether there is nothing to read, told without opening anything."""
        if self.rewritten:
            return is_same_version(cursor, item)
        return is_unchanged(cursor, item, now_ns)

    def batches(
        self, item: SourceItem, cursor: Cursor | None, *, force: bool, unknown: Counter[str]
    ) -> Iterator[FileBatch]:
        """Read what is new in a file, in runs of a bounded size.

        The last batch brings the cursor to the end of the last whole line, even when no message
        came of it; those before it say that there is more, should nobody come to write the last.

        Args:
            item: the file as it was discovered.
            cursor: the stored cursor, or None.
            force: read from the start.
            unknown: counts record types that the parser does not know.

        Raises:
            OSError: the file cannot be read.
        """
        start, lines = self._open(item, cursor, force=force)
        current = start.cursor
        for run in _runs(lines, take_unfinished=is_quiet(item, time.time_ns())):
            result = parse_run(self.parser, item, run.lines, current.parser_state)
            if len(unknown) < KNOWN_KINDS:
                unknown.update(result.unknown)
            current = self._advance(item, current, run, result, reread=start.reread)
            yield self._batch(start, current, run, result)

    def _open(
        self, item: SourceItem, cursor: Cursor | None, *, force: bool
    ) -> tuple[Start, Iterable[RawLine]]:
        if not self.rewritten:
            start = find_start(self.source, item, cursor, force=force)
            return start, self.source.read(item, start.cursor.byte_offset)
        # Read at once: whoever owns the store is not kept waiting until all is written here.
        return start_anew(item, cursor), _whole(self.source.read(item, 0), item.uri)

    def _advance(
        self, item: SourceItem, cursor: Cursor, run: "_Run", result: ParseResult, *, reread: bool
    ) -> Cursor:
        """The cursor after a run."""
        seen = replace(
            cursor, identity=item.identity, size=item.size, mtime_ns=item.mtime_ns, error=None
        )
        if run.provisional:
            # The line will be read again when it is finished, and counted then.
            return replace(seen, state="provisional")
        moved = replace(
            seen,
            byte_offset=max(run.end, cursor.byte_offset),
            parser_state=result.state,
            records=cursor.records + result.records,
            messages=cursor.messages + len(result.messages),
            bad_lines=cursor.bad_lines + len(result.bad_lines),
        )
        if moved.byte_offset > cursor.byte_offset and not self.rewritten:
            moved = mark(self.source, item, moved, run.lines)
        # A conversation without a record is new; a file without a line is empty.
        filled = moved.byte_offset if self.rewritten else moved.size
        return replace(moved, state=_state(moved, run, result, filled > 0, reread=reread))

    def _batch(self, start: Start, cursor: Cursor, run: "_Run", result: ParseResult) -> FileBatch:
        found = clean_run(result)
        return FileBatch(
            feed=self.feed,
            cursor=replace(cursor, parser_state=clean_state(cursor.parser_state)),
            messages=found.messages,
            facts=found.facts,
            projects={
                key: self.resolve_project(value.cwd)
                for key, value in found.facts.items()
                if value.cwd
            },
            bad_lines=() if run.provisional else found.bad_lines,
            redactions=found.redactions,
            reread=start.reread,
        )


@dataclass(frozen=True, slots=True)
class _Run:
    """Lines that are parsed together.

    Attributes:
        lines: the lines, without empty ones.
        end: offset after the last whole line.
        more: whether another run of the same reading follows.
        waiting: whether an unfinished line follows that was not taken.
        provisional: whether the only line is unfinished, and was taken all the same.
    """

    lines: list[RawLine]
    end: int
    more: bool = False
    waiting: bool = False
    provisional: bool = False


def _runs(lines: Iterable[RawLine], *, take_unfinished: bool) -> Iterator[_Run]:
    """Group lines into runs; an unfinished last line is a run of its own, or is left."""
    gathered: list[RawLine] = []
    size = 0
    end = done = 0
    last: RawLine | None = None
    for line in lines:
        if not line.finished:
            last = line
            break
        if line.data or line.dropped:
            gathered.append(line)
        size += max(line.end - line.start, len(line.data))
        end = line.end
        if size >= RUN_BYTES or len(gathered) >= RUN_LINES:
            yield _Run(gathered, end, more=True)
            gathered, size, done = [], 0, end
    take = last is not None and take_unfinished
    if end > done or not take:
        yield _Run(gathered, end, more=take, waiting=last is not None and not take)
    if take and last is not None:
        yield _Run([last], 0, provisional=True)


def _whole(lines: Iterable[RawLine], uri: str) -> Sequence[RawLine]:
    """All records of a conversation.

    Raises:
        OSError: there are too many.
    """
    found: list[RawLine] = []
    size = 0
    for line in lines:
        size += len(line.data)
        if size > WHOLE_BYTES:
            raise OSError(errno.EFBIG, f"a conversation of more than {WHOLE_BYTES >> 20} MB", uri)
        found.append(line)
    return found


def _state(cursor: Cursor, run: _Run, result: ParseResult, filled: bool, *, reread: bool) -> str:
    if run.waiting:
        return "waiting"
    if run.more:
        return "rereading" if reread else "reading"
    if filled and not cursor.messages and not result.silent:
        return "drift"
    return "watched"
