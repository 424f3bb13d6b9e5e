"""Records of any agent as a parser, by the rules that people wrote for it.

Records of turns are made of what the rules find in them, and `TurnParser` does the rest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cloxy_hookspecs import HostContext, ParseResult, RawLine, SourceItem
from cloxy_hookspecs.logs.json_lines import LineRecovery, decode_line
from cloxy_hookspecs.logs.json_values import Record, record_of
from cloxy_hookspecs.logs.turns import TurnParser, create_turn_parser
from cloxy_plugins.json_lines.formats import Format
from cloxy_plugins.json_lines.judging import Said, judged
from cloxy_plugins.json_lines.run import Run
from cloxy_plugins.json_lines.state import load_state

_TURNS = "turns"


def create_parser(context: HostContext, rules: Format) -> "RecordParser":
    """Make the parser; sessions in Cloxy's own data directory are not taken."""
    return RecordParser(create_turn_parser(context), rules)


class RecordParser:
    """Turns records into messages; implements `ExplainingParser`."""

    def __init__(self, turns: TurnParser, rules: Format) -> None:
        """Make a parser.

        Args:
            turns: makes messages of records of turns.
            rules: how records are read.
        """
        self._turns = turns
        self._rules = rules
        # What a record begins with is not known: one behind half of another is found if it is
        # one by the rules.
        first = dict.fromkeys(
            path.text.partition(".")[0].partition("[")[0]
            for paths in rules.fields.values()
            for path in paths
        )
        names = [name for name in first if name]
        self._recovery = LineRecovery(names or ["role"], self._is_record)

    def parse(
        self, item: SourceItem, lines: Iterable[RawLine], state: Mapping[str, object]
    ) -> ParseResult:
        """Parse a run of lines; see `Parser.parse`."""
        run = Run(item, load_state(state), self._rules)
        for line in lines:
            if line.dropped:
                run.bad(line, f"a line of {line.dropped} bytes is too long")
                continue
            records, damage = self._records(line)
            for record in records:
                run.take(record, line)
            if damage:
                run.bad(line, damage)
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

    def explain(self, line: RawLine) -> str:
        """Why a line gives no message; see `ExplainingParser`."""
        records, damage = self._records(line)
        found = [judged(record, self._rules) for record in records]
        if any(isinstance(each, Said) for each in found):
            return ""
        reasons = [each.reason for each in found if not isinstance(each, Said)]
        return "; ".join(dict.fromkeys(reasons)) or damage or "an empty line"

    def _records(self, line: RawLine) -> tuple[list[Record], str | None]:
        if not line.data.strip():
            return [], None
        record = decode_line(line.data)
        if record is not None:
            return [record], None
        found = self._recovery.recover(line.data)
        return found.records, found.damage

    def _is_record(self, value: Record) -> bool:
        return isinstance(judged(value, self._rules), Said)
