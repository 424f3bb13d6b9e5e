"""Sources of rewritten things that are wrong on purpose, for each test of their class one."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

from contract import toy_agent
from contract.cases import Cases
from contract.toy_store import make_store, say

from cloxy_core.testing.conformance import RewrittenSourceConformance
from cloxy_hookspecs import ParseResult, RawLine

CASES = Cases(__name__, "Rewritten")
_FILES, DATABASE = toy_agent.cloxy_sources()


def source(**methods):
    """The toy source, with some methods replaced."""
    return replace(DATABASE, create=type("Changed", (toy_agent.ToyDatabase,), methods))


def settings(self, tmp_path):
    return {"toyagent.home": str(tmp_path / "toy")}


def store(self, tmp_path):
    return make_store(tmp_path / "toy")


def change(self, store):
    return lambda: say(store, "t1", "user", "And now?")


def plugins(self):
    return {"toyagent": toy_agent}


def parser(self):
    return toy_agent.ToyParser()


def case(test, provider, **fixtures):
    given = {
        "settings": settings,
        "store": store,
        "change": change,
        "plugins": plugins,
        "parser": parser,
        **fixtures,
    }
    CASES.add(RewrittenSourceConformance, test, provider, **given)


def items_changed(change):
    def discover(self, failures, under=None):
        for number, item in enumerate(toy_agent.ToyDatabase.discover(self, failures, under)):
            yield change(item, number)

    return source(discover=discover)


def lines_changed(change):
    def read(self, item, offset):
        return [change(line) for line in toy_agent.ToyDatabase.read(self, item, offset)]

    return source(read=read)


counter = iter(range(10_000))


def counting(line):
    record = {**json.loads(line.data), "n": next(counter)}
    return replace(line, data=json.dumps(record).encode())


def everything(self, failures, under=None):
    return list(toy_agent.ToyDatabase.discover(self, failures))


def stale(self, failures, under=None):
    if not hasattr(self, "_first"):
        self._first = list(toy_agent.ToyDatabase.discover(self, failures))
    return [] if under is not None and not self._path.is_relative_to(under) else self._first


def writing(self, item, offset):
    connection = sqlite3.connect(self._path)
    connection.execute("CREATE TABLE IF NOT EXISTS ours (a)")
    connection.commit()
    connection.close()
    return list(toy_agent.ToyDatabase.read(self, item, offset))


def made_up(self, item, offset):
    try:
        return list(toy_agent.ToyDatabase.read(self, item, offset))
    except Exception:
        return [RawLine(0, 1, b"{}")]


class Deaf:
    def parse(self, item, lines, state):
        list(lines)
        return ParseResult([], {})


def careless(self, failures, under=None):
    data = self._path.read_bytes()
    if not data.startswith(b"SQLite format 3\0") or len(data) % 4096:
        raise ValueError("no database")
    return toy_agent.ToyDatabase.discover(self, failures, under)


case("test_record_says_that_things_are_rewritten", replace(DATABASE, rewritten=False))
case("test_items_lie_below_absolute_roots", source(roots=lambda self: [Path("toy")]))
case("test_items_lie_below_absolute_roots", source(discover=lambda self, f, under=None: []))
case(
    "test_looking_twice_finds_the_same",
    items_changed(lambda item, n: replace(item, size=next(counter))),
)
case("test_looking_twice_finds_the_same", items_changed(lambda item, n: replace(item, identity="")))
case("test_discovery_stays_below_what_is_asked", source(discover=everything))
case(
    "test_records_are_json_with_ordinal_numbers", lines_changed(lambda x: replace(x, data=b"words"))
)
case(
    "test_records_are_json_with_ordinal_numbers", lines_changed(lambda x: replace(x, end=x.end + 1))
)
case("test_reading_twice_gives_the_same", lines_changed(counting))
case("test_parser_understands_the_records", DATABASE, parser=lambda self: Deaf())
case(
    "test_parser_understands_the_records",
    lines_changed(lambda line: replace(line, data=b"{}")),
)
case("test_change_makes_a_new_version", source(discover=stale))
case(
    "test_change_makes_a_new_version",
    items_changed(lambda item, n: replace(item, identity=f"{n}:{item.mtime_ns}")),
)
case("test_vanished_store_is_no_error", source(discover=stale))
case("test_vanished_store_is_no_error", source(read=made_up))
case("test_store_is_left_as_it_is", source(read=writing))
case("test_damaged_stores_are_told", source(discover=careless))
