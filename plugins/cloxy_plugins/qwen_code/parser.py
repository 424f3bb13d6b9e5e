"""The format of session logs as a parser: which record says what.

A record is `{uuid, parentUuid, sessionId, timestamp, type, subtype, cwd, gitBranch, message,
systemPayload}`. Its `uuid` is the id of the message. A rewind leaves what it took back in the log,
and it stays stored: it was said. What a sub-agent says is a session of its own, `session/agent`.
"""

import os
from collections.abc import Callable, Iterable, Mapping

from cloxy_hookspecs import HostContext, ParseResult, RawLine, SourceItem
from cloxy_hookspecs.logs.folders import parts_of
from cloxy_hookspecs.logs.instants import latest_instant
from cloxy_hookspecs.logs.json_lines import records_of
from cloxy_hookspecs.logs.json_values import id_of
from cloxy_hookspecs.logs.titles import LISTED, NAMED, title_of_name
from cloxy_plugins.qwen_code import kinds
from cloxy_plugins.qwen_code.content import (
    answered,
    has_history,
    has_parts,
    is_known,
    summarised,
    typed,
)
from cloxy_plugins.qwen_code.decoding import recover
from cloxy_plugins.qwen_code.run import Record, Run
from cloxy_plugins.qwen_code.state import load_state


def create_parser(context: HostContext) -> "RecordParser":
    """Make the parser; messages of sessions in the data directory are not taken."""
    return RecordParser(str(context.paths.data), context.clock.now_ms)


class RecordParser:
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
        run = Run(item, load_state(state), self._own_folder, latest)
        for record, line in records_of(lines, recover, run.bad):
            _take(run, record, line)
        return run.result()


def _take(run: Run, record: Record, line: RawLine) -> None:
    """Let the handler of a record's type have it."""
    run.arrive(record)
    kind, subtype = record.get("type"), record.get("subtype")
    handler = _TYPES.get(kind) if isinstance(kind, str) else None
    if handler is None or not (subtype is None or isinstance(subtype, str)):
        _unknown(run, record, kind if isinstance(kind, str) else "(no type)")
    elif subtype in kinds.NOISE or handler(run, record, line, subtype):
        run.understood()
    else:
        _unknown(run, record, f"{kind}/{subtype}" if subtype else str(kind))


def _unknown(run: Run, record: Record, kind: str) -> None:
    run.unknown(kind)
    if "message" in record or f"/{kinds.ELSEWHERE}" in kind:
        run.strange()


def _user(run: Run, record: Record, line: RawLine, subtype: str | None) -> bool:
    if not has_parts(record):
        return False
    known = subtype in kinds.TYPED
    run.say(record, line, "user", "human" if known else "program", typed(record))
    return (known or subtype in kinds.SCHEDULED) and is_known(record["message"])


def _assistant(run: Run, record: Record, line: RawLine, subtype: str | None) -> bool:
    if not has_parts(record):
        return False
    run.say(record, line, "assistant", "assistant", answered(record))
    return subtype in kinds.ANSWERED and is_known(record["message"])


def _result(run: Run, _record: Record, _line: RawLine, _subtype: str | None) -> bool:
    run.strange()
    return True


def _system(run: Run, record: Record, line: RawLine, subtype: str | None) -> bool:
    payload = record.get("systemPayload")
    told = payload if isinstance(payload, Mapping) else {}
    if subtype == "chat_compression":
        run.say(record, line, "summary", "summary", summarised(record) or "")
        return has_history(record)
    if subtype == "custom_title":
        title = told.get("customTitle")
        if isinstance(title, str):
            rank = LISTED if told.get("titleSource") == "auto" else NAMED
            run.title(record, title_of_name(title), rank)
    elif subtype == "parent_session":
        run.started_by(id_of(told, "parentSessionId"))
    else:
        return False
    return True


_TYPES: Mapping[str, Callable[[Run, Record, RawLine, str | None], bool]] = {
    "user": _user,
    "assistant": _assistant,
    "tool_result": _result,
    "system": _system,
}
