"""From the records of the source to messages.

The id of a message is the CLI's own, which is the same in every copy of a session and in both
forms of logs; a message without one is numbered within its list. Prompts that are known only from
the list of prompts have the number that they have there. A sub-agent's session is
`session/agent`.
"""

import os
from collections.abc import Callable, Iterable, Mapping

from cloxy_hookspecs import HostContext, ParseResult, RawLine, SourceItem
from cloxy_hookspecs.logs.folders import parts_of
from cloxy_hookspecs.logs.instants import latest_instant
from cloxy_hookspecs.logs.json_lines import decode_line
from cloxy_plugins.gemini_cli import telling
from cloxy_plugins.gemini_cli.content import answered, is_spoken, typed
from cloxy_plugins.gemini_cli.decoding import recover
from cloxy_plugins.gemini_cli.run import Record, Run, id_of

_REASON_LIMIT = 60
_NOISE = frozenset({"info", "error", "warning"})


def create_parser(context: HostContext) -> "GeminiParser":
    """Make the parser; messages of sessions in the data directory are not taken."""
    return GeminiParser(str(context.paths.data), context.clock.now_ms)


class GeminiParser:
    """Turns records into messages; implements `Parser`."""

    def __init__(self, own_folder: str, now_ms: Callable[[], int]) -> None:
        """Make a parser.

        Args:
            own_folder: folder whose sessions are not taken.
            now_ms: the present in milliseconds; a later time of a message is not believed.
        """
        self._own_folder = parts_of(os.path.normpath(own_folder))
        self._now_ms = now_ms

    def parse(
        self, item: SourceItem, lines: Iterable[RawLine], state: Mapping[str, object]
    ) -> ParseResult:
        """Parse a run of lines; see `Parser.parse`."""
        latest = latest_instant(self._now_ms(), item.mtime_ns)
        run = Run(item, state, self._own_folder, latest)
        for line in lines:
            data = line.data
            record = decode_line(data) if data else None
            if record is not None:
                _take(run, record, line)
            elif data or line.dropped:
                _take_damaged(run, line)
        return run.result()


def _take_damaged(run: Run, line: RawLine) -> None:
    if line.dropped:
        run.bad(line, f"a record of {line.dropped} bytes is too long")
    elif not line.data.isspace():
        run.bad(line, recover(line.data).damage or "not a record")


def _take(run: Run, record: Record, line: RawLine) -> None:
    kind = record.get("record")
    if kind == telling.SESSION and id_of(record, "session"):
        run.session(record)
    elif kind == telling.MESSAGE and id_of(record, "session"):
        _message(run, record, line)
    elif kind == telling.DAMAGE:
        run.bad(line, str(record.get("reason"))[:_REASON_LIMIT])
    elif kind == telling.UNKNOWN:
        count = record.get("count")
        times = count if isinstance(count, int) and count > 0 else 1
        run.unknown(str(record.get("kind")), times)
    else:
        run.unknown("(no record)")


def _message(run: Run, record: Record, line: RawLine) -> None:
    kind = record.get("type")
    if not isinstance(kind, str):
        run.unknown(str(kind))
    elif kind == "user" and record.get("summary") is True:
        run.say(record, line, "summary", "summary", answered(record))
    elif kind == "user":
        run.say(record, line, "user", "human", typed(record))
    elif is_spoken(kind):
        run.say(record, line, "assistant", "assistant", answered(record))
    elif kind in _NOISE:
        run.arrive(record)
    else:
        run.unknown(kind)
