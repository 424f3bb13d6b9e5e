"""Parsers of lines: read in runs, and given damaged lines."""

import json
from dataclasses import fields, replace
from itertools import pairwise

from cloxy_core.testing.fakes import raw_lines
from cloxy_core.testing.mutations import mutate

TIMES = 500


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
