"""Calling a parser so that a line it stumbles over costs that line alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cloxy_hookspecs import (
    BadLine,
    Message,
    Parser,
    ParseResult,
    RawLine,
    SessionFacts,
    SourceItem,
)


def parse_run(
    parser: Parser, item: SourceItem, lines: Sequence[RawLine], state: Mapping[str, object]
) -> ParseResult:
    """Parse lines; if the parser raises, line by line, and those it fails on are damaged."""
    try:
        return parser.parse(item, lines, state)
    except Exception:
        return _parse_singly(parser, item, lines, state)


def _parse_singly(
    parser: Parser, item: SourceItem, lines: Sequence[RawLine], state: Mapping[str, object]
) -> ParseResult:
    messages: list[Message] = []
    sessions: dict[str, SessionFacts] = {}
    bad_lines: list[BadLine] = []
    unknown: Counter[str] = Counter()
    records, silent = 0, False
    for line in lines:
        try:
            result = parser.parse(item, [line], state)
        except Exception as error:
            reason = f"the parser failed ({type(error).__name__})"
            bad_lines.append(BadLine(line.start, line.end, reason))
            continue
        messages.extend(result.messages)
        for key, facts in result.sessions.items():
            sessions[key] = _merged(sessions.get(key), facts)
        bad_lines.extend(result.bad_lines)
        unknown.update(result.unknown)
        records += result.records
        state, silent = result.state, result.silent
    return ParseResult(messages, sessions, bad_lines, records, unknown, state, silent)


def _merged(old: SessionFacts | None, new: SessionFacts) -> SessionFacts:
    """What two runs say of a session."""
    if old is None:
        return new
    better = bool(new.title) and new.title_rank >= old.title_rank
    return replace(
        old,
        parent=old.parent or new.parent,
        cwd=old.cwd or new.cwd,
        branch=new.branch or old.branch,
        title=new.title if better else old.title,
        title_rank=new.title_rank if better else old.title_rank,
        program=old.program or new.program,
        relation=old.relation or new.relation,
    )
