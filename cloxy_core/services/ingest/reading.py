"""One file: from its offset to batches of clean messages. Runs on an `io` thread."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from cloxy_core.services.echo import strip_echo
from cloxy_core.services.ingest.following import Start, find_start, is_quiet, mark
from cloxy_core.services.redaction import clean
from cloxy_core.services.write.batch import Cursor, Feed, FileBatch
from cloxy_hookspecs import Message, Parser, ParseResult, RawLine, SessionFacts, Source, SourceItem

RUN_BYTES = 2 * 1024 * 1024
RUN_LINES = 400


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
        came of it.

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
            result = self.parser.parse(item, run.lines, current.parser_state)
            unknown.update(result.unknown)
            current = self._advance(item, current, run, result)
            yield self._batch(start, current, result)

    def _advance(
        self, item: SourceItem, cursor: Cursor, run: "_Run", result: ParseResult
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
        return replace(mark(self.source, item, moved), state=_state(moved, run, result))

    def _batch(self, start: Start, cursor: Cursor, result: ParseResult) -> FileBatch:
        redactions: Counter[str] = Counter()
        messages = [
            cleaned for message in result.messages if (cleaned := _clean(message, redactions))
        ]
        facts = {key: _clean_facts(value, redactions) for key, value in result.sessions.items()}
        return FileBatch(
            feed=self.feed,
            cursor=replace(cursor, parser_state=_clean_state(cursor.parser_state)),
            messages=messages,
            facts=facts,
            projects={
                key: self.resolve_project(value.cwd) for key, value in facts.items() if value.cwd
            },
            bad_lines=() if cursor.state == "provisional" else result.bad_lines,
            redactions=redactions,
            reread=start.reread or start.cursor.state == "provisional",
        )


@dataclass(frozen=True, slots=True)
class _Run:
    """Lines that are parsed together.

    Attributes:
        lines: the lines.
        end: offset after the last whole line.
        waiting: whether an unfinished line follows that was not taken.
        provisional: whether the only line is unfinished, and was taken all the same.
    """

    lines: list[RawLine]
    end: int
    waiting: bool = False
    provisional: bool = False


def _runs(lines: Iterable[RawLine], *, take_unfinished: bool) -> Iterator[_Run]:
    """Group lines into runs; an unfinished last line is a run of its own, or is left."""
    gathered: list[RawLine] = []
    size = 0
    end = 0
    last: RawLine | None = None
    for line in lines:
        if not line.finished:
            last = line
            break
        gathered.append(line)
        size += line.end - line.start
        end = line.end
        if size >= RUN_BYTES or len(gathered) >= RUN_LINES:
            yield _Run(gathered, end)
            gathered, size = [], 0
    take = last is not None and take_unfinished
    if gathered or last is None or not take:
        yield _Run(gathered, end, waiting=last is not None and not take)
    if take and last is not None:
        yield _Run([last], 0, provisional=True)


def _state(cursor: Cursor, run: _Run, result: ParseResult) -> str:
    if run.waiting:
        return "waiting"
    if cursor.size > 0 and not cursor.messages and not result.silent and cursor.records:
        return "drift"
    return "watched"


def _clean(message: Message, redactions: Counter[str]) -> Message | None:
    """The message without secrets, private parts and our own recalled text; None if all goes."""
    text, _echoes = strip_echo(message.text)
    cleaned = clean(text)
    redactions.update(cleaned.counts)
    if not cleaned.text.strip():
        return None
    return message if cleaned.text is message.text else replace(message, text=cleaned.text)


def _clean_facts(facts: SessionFacts, redactions: Counter[str]) -> SessionFacts:
    def cleaned(value: str | None) -> str | None:
        if not value:
            return None
        result = clean(value)
        redactions.update(result.counts)
        return result.text.strip() or None

    return replace(
        facts,
        cwd=cleaned(facts.cwd),
        branch=cleaned(facts.branch),
        title=cleaned(facts.title),
    )


def _clean_state(state: Mapping[str, object]) -> Mapping[str, object]:
    """A parser's notes hold words of the log, too."""
    return {
        key: clean(value).text if isinstance(value, str) else value for key, value in state.items()
    }
