"""The format of session logs as a parser: which record says what.

The first record, `session_start`, names the session and its place; each `message` has an id, a time
and a message of the form that models take. What was put away by a compaction is summed up in
`compaction_state`. Records of turns are made of them, and `TurnParser` does the rest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cloxy_hookspecs import HostContext, ParseResult, RawLine, SourceItem
from cloxy_hookspecs.logs.json_lines import LineRecovery, decode_line
from cloxy_hookspecs.logs.json_values import Record, record_of
from cloxy_hookspecs.logs.turns import TurnParser, create_turn_parser
from cloxy_plugins.factory_droid.run import Run
from cloxy_plugins.factory_droid.state import load_state

_TURNS = "turns"


def create_parser(context: HostContext) -> "RecordParser":
    """Make the parser; sessions in Cloxy's own data directory are not taken."""
    return RecordParser(create_turn_parser(context))


class RecordParser:
    """Turns records into messages; implements `Parser`."""

    def __init__(self, turns: TurnParser) -> None:
        """Make a parser.

        Args:
            turns: makes messages of records of turns.
        """
        self._turns = turns

    def parse(
        self, item: SourceItem, lines: Iterable[RawLine], state: Mapping[str, object]
    ) -> ParseResult:
        """Parse a run of lines; see `Parser.parse`."""
        run = Run(item, load_state(state))
        for line in lines:
            if line.dropped:
                run.bad(line, f"a line of {line.dropped} bytes is too long")
            elif line.data.strip():
                _take(run, line)
        found = self._turns.parse(item, run.turns(), record_of(state.get(_TURNS)))
        ours = bool(found.state.get("ours")) and not found.messages
        return replace(
            found,
            bad_lines=run.damaged,
            records=run.understood,
            unknown=run.unknown,
            state={**run.state.dump(), _TURNS: dict(found.state)},
            silent=ours or not run.state.heard,
        )


def _take(run: Run, line: RawLine) -> None:
    record = decode_line(line.data)
    if record is not None:
        run.take(record, line)
        return
    found = _RECOVERY.recover(line.data)
    for each in found.records:
        run.take(each, line)
    if found.damage:
        run.bad(line, found.damage)


def _is_record(value: Record) -> bool:
    """Whether an object in the middle of a damaged one is a record rather than a part of it."""
    kind = value.get("type")
    if kind == "message":
        return isinstance(value.get("message"), dict)
    return kind in ("session_start", "compaction_state")


_RECOVERY = LineRecovery(("type", "id", "timestamp"), _is_record)
