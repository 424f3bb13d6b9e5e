"""Parsers of lines: read in runs, and given damaged lines."""

import json
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path

from cloxy_core.services.logs.lines import LineLogs
from cloxy_core.testing.fakes import raw_lines
from cloxy_core.testing.mutations import mutate

TIMES = 500
IMPOSSIBLE_STAMPS = [None, "9999-99-99", "1e400", 7, {}, "2199-01-01T00:00:00Z"]


def parse_in_runs(parser, item, data, cuts=()):
    """Messages, facts and the last result of a log, read in runs that end at some lines.

    What a run leaves for the next one is stored as JSON in between.
    """
    lines = raw_lines(data)
    messages, facts, state, result = [], {}, {}, None
    for start, end in pairwise([0, *sorted(cuts), len(lines)]):
        result = parser.parse(item, lines[start:end], state)
        state = json.loads(json.dumps(dict(result.state)))
        messages += result.messages
        for key, fact in result.sessions.items():
            told = {each.name: getattr(fact, each.name) for each in fields(fact)}
            facts[key] = replace(facts.get(key, fact), **{n: v for n, v in told.items() if v})
    return messages, facts, result


def results_of_damage(make_parser, item_for, data):
    """What comes of a log that is damaged in 500 ways, each of which is checked.

    Nothing raises; each line is understood, of an unknown kind, or told to be damaged; and no
    message is told twice or without words or session.
    """
    for seed in range(TIMES):
        mutant = mutate(data, seed)
        lines = raw_lines(mutant)
        result = make_parser().parse(item_for(mutant), lines, {})
        json.dumps(result.state)
        full = sum(1 for line in lines if line.data.strip())
        told = result.records + sum(result.unknown.values()) + len(result.bad_lines)
        assert told >= full, "each line is understood, of an unknown kind, or damaged"
        places = {(line.start, line.end) for line in lines}
        assert all((each.start, each.end) in places for each in result.bad_lines)
        ids = [(message.session, message.uid) for message in result.messages]
        assert len(set(ids)) == len(ids)
        assert all(message.text and message.session for message in result.messages)
        yield result


def glued(log, first):
    """A log with a mark of byte order, two records on one line, and zeros behind them."""
    lines = log.data().split(b"\n")[:-1]
    lines[first : first + 2] = [lines[first] + lines[first + 1], b"\0" * 200]
    return b"\xef\xbb\xbf" + b"".join(line + b"\n" for line in lines)


def stamped(log, stamp):
    """A log whose records all have one time."""
    for line in log.lines:
        line["timestamp"] = stamp
    return log


def halved(log, first):
    """A log in which a record begins behind half of another, on one line."""
    lines = log.data().split(b"\n")
    lines[first : first + 2] = [lines[first][:50] + lines[first + 1]]
    return b"\n".join(lines)


def texts_of(parse, log):
    """Texts of a log, and the last result."""
    messages, _facts, result = parse(log)
    return [message.text for message in messages], result


def found_names(trees, folder, names):
    """Which of some files in a folder are found, by name."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}\n")
    found = LineLogs(trees).discover([])
    return {Path(item.uri).relative_to(folder).as_posix() for item in found}
