"""Stores that are damaged: what can still be read of them, and what is told of the rest."""

import json
from typing import NamedTuple

from agents.sources import items, parser, read

from cloxy_core.testing.fakes import raw_lines
from cloxy_core.testing.mutations import mutate
from cloxy_hookspecs import ForeignDatabaseError, SourceItem


class Found(NamedTuple):
    """What a source gives: messages, losses that results tell, failures to find items."""

    messages: list
    told: int
    failures: list


def read_all(source, make_parser=parser):
    """What can be read of a source.

    Failures to read an item are of the two kinds that are allowed; each has words.
    """
    found, failures = items(source)
    assert all(failure.reason for failure in failures)
    messages, told = [], 0
    for item in found:
        try:
            result = read(source, item, make_parser)
        except (OSError, ForeignDatabaseError) as error:
            assert str(error)
            told += 1
            continue
        json.dumps(dict(result.state))
        messages += result.messages
        told += len(result.bad_lines) + sum(result.unknown.values())
    return Found(messages, told, failures)


def assert_told_apart(messages):
    """Each message has words, and an id of its own in its session."""
    ids = [(message.session, message.uid) for message in messages]
    assert len(set(ids)) == len(ids)
    assert all(message.text for message in messages)


def assert_records_are_told(records, times, uri="/s"):
    """Of records that are damaged, each line is understood, of an unknown kind, or damaged."""
    for seed in range(times):
        data = mutate(records, seed)
        item = SourceItem(uri, "1", len(data), 1_783_397_600_000_000_000)
        result = parser().parse(item, raw_lines(data), {})
        told = result.records + sum(result.unknown.values()) + len(result.bad_lines)
        assert told >= sum(1 for each in data.split(b"\n") if each.strip())


def is_json(data):
    """Whether bytes are JSON but for their characters; what is missing then nobody could tell."""
    try:
        json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def count_all(source):
    """How many messages can be read of a source."""
    return len(read_all(source).messages)


def times_lost(source, path, times, count):
    """How often, of the times a file is damaged, some of its messages cannot be read.

    Args:
        source: what reads the file.
        path: the file, of which all can be read before.
        times: how often it is damaged, each time from its start.
        count: how many messages it holds.
    """
    whole = path.read_bytes()
    assert count_all(source) == count
    lost = 0
    for seed in range(times):
        path.write_bytes(mutate(whole, seed))
        lost += count_all(source) < count
    return lost
