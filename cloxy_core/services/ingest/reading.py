"""One file: from its offset to batches of clean messages. Runs on an `io` thread."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from cloxy_core.services.ingest.cleaning import clean_run, clean_state
from cloxy_core.services.ingest.following import Start, find_start, is_quiet, mark
from cloxy_core.services.ingest.parsing import parse_run
from cloxy_core.services.write.batch import Cursor, Feed, FileBatch
from cloxy_hookspecs import Parser, ParseResult, RawLine, Source, SourceItem

RUN_BYTES = 2 * 1024 * 1024
RUN_LINES = 400
KNOWN_KINDS = 1000


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads the files of one source.

    Attributes:
        feed: how the messages are treated.
        source: finds and reads.
        parser: understands.
        resolve_project: from a recorded working directory to the path of its project.
    """

    feed: Feed
    source: Source
    parser: Parser
    resolve_project: Callable[[str], str]

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
        start = find_start(self.source, item, cursor, force=force)
        lines = self.source.read(item, start.cursor.byte_offset)
        current = start.cursor
        for run in _runs(lines, take_unfinished=is_quiet(item, time.time_ns())):
            result = parse_run(self.parser, item, run.lines, current.parser_state)
            if len(unknown) < KNOWN_KINDS:
                unknown.update(result.unknown)
            current = self._advance(item, current, run, result, reread=start.reread)
            yield self._batch(start, current, run, result)

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
        if moved.byte_offset > cursor.byte_offset:
            moved = mark(self.source, item, moved, run.lines)
        return replace(moved, state=_state(moved, run, result, reread=reread))

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
        size += line.end - line.start
        end = line.end
        if size >= RUN_BYTES or len(gathered) >= RUN_LINES:
            yield _Run(gathered, end, more=True)
            gathered, size, done = [], 0, end
    take = last is not None and take_unfinished
    if end > done or not take:
        yield _Run(gathered, end, more=take, waiting=last is not None and not take)
    if take and last is not None:
        yield _Run([last], 0, provisional=True)


def _state(cursor: Cursor, run: _Run, result: ParseResult, *, reread: bool) -> str:
    if run.waiting:
        return "waiting"
    if run.more:
        return "rereading" if reread else "reading"
    if cursor.size > 0 and not cursor.messages and not result.silent:
        return "drift"
    return "watched"
