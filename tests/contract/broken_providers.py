"""Providers that are wrong on purpose, each with the test of the kit that has to find it out.

Not collected by itself: `test_kit_itself` runs it and looks at what fails.
"""

import json
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pytest
from claude_logs import record as log_record
from claude_logs import text, write
from contract.toy_index import ToyIndex, record
from pydantic import BaseModel, WithJsonSchema
from sqlalchemy import insert

from cloxy_core.services.logs.lines import LineLogs
from cloxy_core.testing.conformance import (
    AfterIndexConformance,
    CheckConformance,
    ChunkerConformance,
    CommitIndexConformance,
    ExpanderConformance,
    FuserConformance,
    MigrationConformance,
    OperationConformance,
    OriginConformance,
    ParserConformance,
    SettingConformance,
    SignalConformance,
    SourceConformance,
)
from cloxy_hookspecs import (
    CheckProvider,
    ChunkerProvider,
    CommitIndexProvider,
    ExpanderProvider,
    Finding,
    Found,
    FuserProvider,
    Migration,
    OperationProvider,
    OriginPolicy,
    ParserProvider,
    Prompt,
    Resource,
    Route,
    Scored,
    Setting,
    SignalProvider,
    SourceProvider,
    Tool,
    Window,
    hookimpl,
)
from cloxy_hookspecs.tables import counters
from cloxy_plugins.chunking.messages import MessageChunker
from cloxy_plugins.claude_code.parser import ClaudeCodeParser
from cloxy_plugins.claude_code.source import trees_of
from cloxy_plugins.fts5.index import KeywordIndex
from cloxy_plugins.ranking.fuse import WeightedFuser

CASES = {}
"""Class name -> (its conformance class, the test that has to fail)."""


def case(conformance, test, provider, **fixtures):
    """Make a test class whose provider breaks a test."""
    name = f"Broken{len(CASES) + 1:03}"
    given = {key: pytest.fixture(value) for key, value in fixtures.items()}
    globals()[name] = type(
        name, (conformance,), {"provider": pytest.fixture(lambda self: provider), **given}
    )
    CASES[name] = (conformance, test)


def nothing(*_arguments):
    return None


# Every record


def signal(values=lambda batch, query: [0.5] * len(batch.ids), **more):
    fields = {"name": "half", "summary": "A half", "order": 1, "mode": "add", "weight": 0.1}
    thing = type("Made", (), {"values": lambda self, *a: values(*a)})
    return SignalProvider(**(fields | {"create": lambda context: thing()} | more))


class Loose(SignalProvider):
    __setattr__ = object.__setattr__


case(SignalConformance, "test_record_fits_its_seat", signal(name="Not_a name"))
case(
    SignalConformance,
    "test_record_fits_its_seat",
    FuserProvider(name="x", summary="x", create=nothing),
)
case(
    SignalConformance,
    "test_record_is_frozen",
    Loose(name="l", summary="l", order=1, mode="add", weight=0.1, create=nothing),
)
case(SignalConformance, "test_summary_is_one_line", signal(summary="one\ntwo"))
case(SignalConformance, "test_summary_is_one_line", signal(summary=""))
case(SignalConformance, "test_plugin_module_is_cheap_to_import", signal(name="nobodys"))


def heavy_plugin(self, tmp_path, monkeypatch):
    """A plugin that loads a foreign library as soon as it is imported."""
    (tmp_path / "heavy_author_plugin.py").write_text("import sqlalchemy\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = __import__("heavy_author_plugin")
    vars(module)["cloxy_signals"] = hookimpl(lambda: [signal(name="heavy")])
    yield {"heavy": module}
    del __import__("sys").modules["heavy_author_plugin"]


case(
    SignalConformance,
    "test_plugin_module_is_cheap_to_import",
    signal(name="heavy"),
    plugins=heavy_plugin,
)


class Thread:
    """Starts a thread that nobody ends."""

    def __init__(self, context):
        threading.Thread(target=threading.Event().wait, args=(20,), daemon=True).start()

    def values(self, batch, query):
        return [0.5] * len(batch.ids)


class ClosesOnce:
    """Cannot be closed again."""

    def values(self, batch, query):
        return [0.5] * len(batch.ids)

    async def aclose(self):
        del self.open

    open = property(nothing, nothing, lambda self: vars(self).pop("there"))

    def __init__(self, context):
        self.there = True


for create in (Thread, ClosesOnce):
    case(SignalConformance, "test_can_be_closed_twice_and_leaves_no_thread", signal(create=create))

# Signals

case(SignalConformance, "test_record_can_act", signal(mode="subtract"))
for values in (
    lambda batch, query: [0.5] * (len(batch.ids) + 1),
    lambda batch, query: [1.5] * len(batch.ids),
    lambda batch, query: [float("nan")] * len(batch.ids),
    lambda batch, query: [1 / (1 + age) for age in batch.age_days],
):
    case(SignalConformance, "test_one_value_in_range_for_each_candidate", signal(values))
case(
    SignalConformance,
    "test_order_of_the_candidates_does_not_count",
    signal(lambda batch, query: [n / 99 for n, _ in enumerate(batch.ids)]),
)
case(
    SignalConformance,
    "test_nothing_gives_nothing",
    signal(lambda batch, query: [batch.base[0]] * len(batch.ids)),
)
calls = iter(range(10**6))
case(
    SignalConformance,
    "test_same_candidates_same_values",
    signal(lambda batch, query: [1 / (1 + next(calls))] * len(batch.ids)),
)

# Fusers


def fuser(change=lambda fused: fused, **attributes):
    """The weighted sum, with something done to its answer."""

    class Changed(WeightedFuser):
        def fuse(self, lists, weights):
            return change(list(super().fuse(lists, weights)))

    for name, value in attributes.items():
        setattr(Changed, name, value)
    return FuserProvider(name="f", summary="f", create=lambda context: Changed())


class FirstChannel(WeightedFuser):
    """Believes the channel that comes first."""

    def fuse(self, lists, weights):
        first = next(iter(lists), "")
        return super().fuse(lists, {name: 0.9 if name == first else 0.1 for name in lists})


for change in (
    lambda fused: fused[1:],
    lambda fused: [*fused, *fused[:1]],
    lambda fused: fused[::-1],
    lambda fused: [replace(scored, score=float("inf")) for scored in fused],
):
    case(FuserConformance, "test_every_passage_comes_once_best_first", fuser(change))
case(
    FuserConformance,
    "test_parts_are_of_the_channels_that_found_it",
    fuser(lambda fused: [replace(s, parts={"keyword": 0.1, "dense": 0.1}) for s in fused]),
)
case(
    FuserConformance,
    "test_order_of_the_channels_does_not_count",
    FuserProvider(name="f", summary="f", create=lambda context: FirstChannel()),
)
for test in ("test_one_list_keeps_its_order", "test_what_all_find_first_is_first"):
    case(FuserConformance, test, fuser(lambda fused: fused[::-1]))
case(FuserConformance, "test_nothing_gives_nothing", fuser(lambda fused: fused or [Scored(1, 1.0)]))
case(FuserConformance, "test_attributes_are_usable", fuser(default_recency_weight=3))
case(FuserConformance, "test_attributes_are_usable", fuser(adjustments="recency"))

# Expanders


def expander(expand):
    """An expander of a function of the query."""

    class Made:
        async def expand(self, query):
            return expand(query)

    return ExpanderProvider(name="e", summary="e", order=1, create=lambda context: Made())


case(
    ExpanderConformance,
    "test_hard_fields_are_untouched",
    expander(lambda query: replace(query, text=query.text.strip())),
)
case(
    ExpanderConformance,
    "test_hard_fields_are_untouched",
    expander(lambda query: replace(query, search_text=query.text.encode().decode())),
)
case(
    ExpanderConformance,
    "test_twice_equals_once",
    expander(lambda query: replace(query, search_text=(query.search_text or query.text)[1:])),
)
case(
    ExpanderConformance,
    "test_soft_fields_make_sense",
    expander(lambda query: replace(query, window=Window(5, 4))),
)
case(
    ExpanderConformance,
    "test_soft_fields_make_sense",
    expander(lambda query: replace(query, literals=("not there at all",))),
)
case(
    ExpanderConformance,
    "test_a_window_already_found_is_not_lost",
    expander(lambda query: replace(query, window=None)),
)
case(
    ExpanderConformance,
    "test_same_question_same_answer",
    expander(lambda query: replace(query, search_text=str(next(calls)))),
)

# Chunkers


def chunker(change, target=1500, base=MessageChunker):
    """The chunker of transcripts, with something done to its answer."""

    class Changed(base):
        def pack(self, new, tail):
            return change(list(super().pack(new, tail)))

    return ChunkerProvider(name="c", summary="c", target=target, create=lambda context: Changed())


class Forgetful(MessageChunker):
    """Begins anew at every call, but takes the tail's place."""

    def pack(self, new, tail):
        return [replace(chunk, continues=tail is not None) for chunk in super().pack(new, None)]


def shifted(chunks):
    return [replace(c, pieces=[replace(p, start=p.start - 1) for p in c.pieces]) for c in chunks]


case(ChunkerConformance, "test_every_message_is_in_exactly_one_place", chunker(lambda c: c[1:]))
case(ChunkerConformance, "test_every_message_is_in_exactly_one_place", chunker(shifted))
case(
    ChunkerConformance,
    "test_every_message_is_in_exactly_one_place",
    chunker(lambda chunks: [*chunks, *chunks[-1:]]),
)
case(
    ChunkerConformance,
    "test_pieces_lie_in_their_chunk_in_order",
    chunker(lambda chunks: [replace(c, pieces=tuple(reversed(c.pieces))) for c in chunks]),
)
case(
    ChunkerConformance,
    "test_pieces_lie_in_their_chunk_in_order",
    chunker(lambda chunks: [replace(c, pieces=()) for c in chunks]),
)
case(ChunkerConformance, "test_chunks_have_the_target_size", chunker(list, target=700))
case(
    ChunkerConformance,
    "test_only_the_last_is_open_and_only_the_first_continues",
    chunker(lambda chunks: [replace(c, open=True) for c in chunks]),
)
case(
    ChunkerConformance,
    "test_two_runs_pack_as_one",
    chunker(lambda chunks: [replace(c, open=False) for c in chunks]),
)
for test in ("test_two_runs_pack_as_one", "test_a_tail_is_kept_as_it_is"):
    case(ChunkerConformance, test, chunker(list, base=Forgetful))
case(ChunkerConformance, "test_nothing_gives_nothing", chunker(lambda chunks: chunks or [None]))

# Origins


def origin(**more):
    fields = {"name": "o", "kind": "episodic", "tier": "working", "immutable": True}
    return OriginPolicy(**(fields | {"deduplicates": True} | more))


case(OriginConformance, "test_values_are_those_of_the_contract", origin(kind="diary"))
case(OriginConformance, "test_values_are_those_of_the_contract", origin(immutable="no"))

# Parsers


def claude_sample(self, tmp_path):
    return write(
        tmp_path / "-srv-shop" / "s-aaa.jsonl",
        log_record("user", "u1", "Why does the crane overheat?"),
        log_record("assistant", "a1", text("Firmware 4.2 does not idle.")),
        log_record("user", "u2", "Update it"),
        log_record("assistant", "a2", text("Done.")),
    )


def parser(change=lambda result: result, before=lambda lines: lines, base=ClaudeCodeParser):
    """The parser of Claude Code, with something done to what it gets or answers."""

    class Changed(base):
        def parse(self, item, lines, state):
            return change(super().parse(item, before(list(lines)), state))

    create = lambda context: Changed("/nowhere", context.clock.now_ms)  # noqa: E731
    return ParserProvider(name="p", summary="p", create=create)


def with_messages(change):
    return parser(lambda r: replace(r, messages=[change(m, n) for n, m in enumerate(r.messages)]))


class Remembers(ClaudeCodeParser):
    """Keeps between runs what belongs into the state."""

    seen = 0

    def parse(self, item, lines, state):
        result = super().parse(item, lines, state)
        self.seen += len(result.messages)
        return replace(result, state={**result.state, "seen": self.seen})


class Splits(ClaudeCodeParser):
    """Says the first thing of a run twice as loud."""

    def parse(self, item, lines, state):
        result = super().parse(item, lines, state)
        loud = [replace(m, text=m.text + "!") for m in result.messages[:1]]
        return replace(result, messages=[*loud, *result.messages[1:]])


def strict(lines):
    for line in lines:
        json.loads(line.data or b"0")
    return lines


def sorted_away(lines):
    return [line for line in lines if not line.dropped and b"half" not in line.data]


for test, provider in (
    ("test_sample_is_understood", parser(before=lambda lines: [])),
    ("test_messages_are_whole", with_messages(lambda m, n: replace(m, role="system"))),
    ("test_messages_are_whole", with_messages(lambda m, n: replace(m, text=""))),
    ("test_messages_are_whole", parser(lambda r: replace(r, sessions={}))),
    ("test_ids_are_unique_within_a_session", with_messages(lambda m, n: replace(m, uid="same"))),
    ("test_spans_lie_on_lines_in_order", with_messages(lambda m, n: replace(m, start=m.start + 1))),
    (
        "test_spans_lie_on_lines_in_order",
        parser(lambda r: replace(r, messages=list(reversed(r.messages)))),
    ),
    ("test_same_lines_give_the_same", parser(base=Remembers)),
    ("test_any_split_gives_the_same_messages", parser(base=Splits)),
    (
        "test_any_split_gives_the_same_messages",
        parser(lambda r: replace(r, state={"not": {"json"}})),
    ),
    ("test_bad_lines_are_counted_and_passed_over", parser(before=strict)),
    ("test_bad_lines_are_counted_and_passed_over", parser(before=sorted_away)),
    ("test_too_long_line_is_counted", parser(before=sorted_away)),
    ("test_random_bytes_never_raise", parser(before=strict)),
    ("test_nothing_gives_nothing", parser(lambda r: replace(r, state={"run": next(calls)}))),
):
    case(ParserConformance, test, provider, sample=claude_sample)

# Sources


def logs(self, tmp_path):
    claude_sample(self, tmp_path / "logs")
    write(tmp_path / "logs" / "-srv-shop" / "s-bbb.jsonl", log_record("user", "u9", "Hello"))
    return tmp_path / "logs"


def watched(self, logs):
    return {"watch.dirs": str(logs)}


class Careless(LineLogs):
    """Opens whatever has the path."""

    def _open(self, item):
        return os.open(item.uri, os.O_RDONLY)


def source(base=LineLogs, **methods):
    """The source of Claude Code, with some methods replaced."""
    kind = type("Changed", (base,), methods)

    def create(context):
        from cloxy_plugins.claude_code.settings import DIRS

        return kind(trees_of(context.settings[DIRS]))

    return SourceProvider(
        name="s", summary="s", agent="a", parser="p", chunker="messages", origin="o", create=create
    )


def items_changed(**changes):
    def discover(self, failures, under=None):
        for number, item in enumerate(LineLogs.discover(self, failures, under)):
            made = {name: change(item, number) for name, change in changes.items()}
            yield replace(item, **made)

    return source(discover=discover)


def lines_changed(change):
    return source(read=lambda self, item, offset: change(list(LineLogs.read(self, item, offset))))


def as_text(self, item, offset):
    """Reads as text, in which much is a line's end, and gives up unfinished lines."""
    from cloxy_hookspecs import RawLine

    data = Path(item.uri).read_bytes()
    for piece in data[offset:].decode("utf-8", "replace").splitlines(keepends=True):
        end = offset + len(piece.encode())
        yield RawLine(offset, end, piece.rstrip().encode(), finished=True)
        offset = end


def everything(self, failures, under=None):
    return list(LineLogs.discover(self, failures))


def insisting(self, failures, under=None):
    for root in self.roots():
        list(root.iterdir())
    return LineLogs.discover(self, failures, under)


for test, provider in (
    ("test_roots_are_absolute_and_hold_what_is_found", source(roots=lambda self: [Path("logs")])),
    ("test_roots_are_absolute_and_hold_what_is_found", source(roots=lambda self: [])),
    ("test_items_tell_the_truth", items_changed(size=lambda item, n: item.size + 1)),
    ("test_items_tell_the_truth", items_changed(identity=lambda item, n: "same")),
    ("test_a_renamed_file_keeps_its_identity", items_changed(identity=lambda item, n: item.uri)),
    ("test_discovery_stays_below_what_is_asked", source(discover=everything)),
    ("test_another_folder_is_read_as_its_own_is", source(of=lambda self, folder: self)),
    ("test_a_vanished_folder_is_no_error", source(discover=insisting)),
    ("test_lines_are_the_bytes_of_the_file", lines_changed(lambda lines: lines[:-1])),
    (
        "test_lines_are_the_bytes_of_the_file",
        lines_changed(lambda lines: [replace(line, data=line.data.strip(b"{")) for line in lines]),
    ),
    ("test_only_a_line_feed_ends_a_line", source(read=as_text)),
    ("test_an_unfinished_line_says_so", source(read=as_text)),
    (
        "test_reading_goes_on_at_any_line",
        source(read=lambda self, item, offset: LineLogs.read(self, item, 0)),
    ),
    (
        "test_a_file_cut_short_ends_earlier",
        source(excerpt=lambda self, item, start, end: b"\0" * (end - start)),
    ),
    ("test_another_file_in_its_place_is_refused", source(Careless)),
    ("test_a_link_is_not_followed", source(Careless)),
    ("test_a_vanished_file_is_an_os_error", source(read=lambda self, item, offset: [])),
    (
        "test_an_excerpt_is_the_bytes_of_its_range",
        source(excerpt=lambda self, item, start, end: Path(item.uri).read_bytes()[start : end + 1]),
    ),
):
    case(SourceConformance, test, provider, logs=logs, settings=watched)

# Indexes


def toy(**methods):
    """The good toy index, with some methods replaced."""
    return record(type("Changed", (ToyIndex,), methods))


def found_changed(change):
    return toy(
        search=lambda self, c, p, limit: Found(change(ToyIndex.search(self, c, p, limit).hits))
    )


def filter_late(self, connection, probe, limit):
    """Takes the best first and filters then, so that a short list comes out empty."""
    allowed = self.allowed(connection, probe.filters)
    everything = ToyIndex.search(
        self, connection, replace(probe, filters=type(probe.filters)()), limit
    )
    return Found([hit for hit in everything.hits if hit.passage_id in allowed])


def unfiltered(self, connection, probe, limit):
    return ToyIndex.search(self, connection, replace(probe, filters=type(probe.filters)()), limit)


def apply_all(change):
    return toy(
        apply=lambda self, changes, sequence: ToyIndex.apply(self, change(changes), sequence)
    )


class Appends(ToyIndex):
    """Counts what it was given."""

    given = 0

    def apply(self, changes, sequence):
        super().apply(changes, sequence)
        self.given += sum(change.row is not None for change in changes)

    def count(self, connection):
        return self.given


def keep_old(self, changes, sequence):
    """Adds the new words to the old ones."""
    before = {number: set(row) for number, row in self.rows.items()}
    ToyIndex.apply(self, changes, sequence)
    for number in self.rows:
        self.rows[number] |= before.get(number, set())


def complain(self, changes, sequence):
    for change in changes:
        if change.row is None:
            del self.rows[change.passage_id]
    ToyIndex.apply(self, changes, sequence)


def only_ascii(self, connection, probe, limit):
    probe.text.encode()
    return ToyIndex.search(self, connection, probe, limit)


class NeverSaves(ToyIndex):
    """Says that it has everything, and saves only how far it is."""

    def save(self):
        self.path.write_text(json.dumps({"sequence": self.sequence, "rows": {}}))


class BrokenFile(ToyIndex):
    """Cannot read its own file when it has been written twice."""

    def save(self):
        super().save()
        with self.path.open("a") as file:
            file.write(" ")

    def __init__(self, context):
        super().__init__(context)
        if self.sequence:
            self.apply = nothing
            self.rows.popitem()


def falling(self, changes, sequence):
    ToyIndex.apply(self, changes, sequence)
    self.sequence = sequence


for test, provider in (
    ("test_record_is_of_this_kind", record(weight=float("nan"))),
    ("test_empty_index_finds_nothing", toy(count=lambda self, connection: 1)),
    ("test_each_text_finds_its_passage_first", found_changed(lambda hits: hits[::-1])),
    ("test_best_comes_first_and_nothing_twice", found_changed(lambda hits: hits[::-1])),
    ("test_best_comes_first_and_nothing_twice", found_changed(lambda hits: [*hits, *hits[-1:]])),
    ("test_limit_is_kept", found_changed(lambda hits: hits[:2])),
    (
        "test_limit_is_kept",
        toy(search=lambda self, c, p, limit: ToyIndex.search(self, c, p, limit + 1)),
    ),
    ("test_filters_are_obeyed", toy(search=filter_late)),
    ("test_filters_are_obeyed", toy(search=unfiltered)),
    ("test_applying_twice_equals_once", record(Appends)),
    ("test_removed_is_not_found", apply_all(lambda changes: [c for c in changes if c.row])),
    ("test_replaced_is_found_by_its_new_text", toy(apply=keep_old)),
    (
        "test_header_belongs_to_what_is_indexed",
        apply_all(lambda cs: [replace(c, row=c.row and replace(c.row, header="")) for c in cs]),
    ),
    (
        "test_rebuilt_equals_grown",
        toy(rebuild=lambda self, rows, sequence: ToyIndex.rebuild(self, list(rows)[1:], sequence)),
    ),
    (
        "test_the_last_change_of_a_passage_counts",
        apply_all(lambda changes: sorted(changes, key=lambda change: change.row is not None)),
    ),
    ("test_unknown_passage_is_ignored", toy(apply=complain)),
    ("test_count_is_that_of_the_passages", toy(count=lambda self, connection: len(self.rows) // 2)),
    ("test_any_text_can_be_indexed_and_asked", toy(search=only_ascii)),
    ("test_checkpoint_begins_at_nothing", toy(checkpoint=lambda self: self.sequence + 1)),
    ("test_checkpoint_only_rises", toy(apply=falling)),
    ("test_checkpoint_only_rises", toy(checkpoint=lambda self: self.sequence * 2)),
    ("test_checkpoint_survives_a_restart", record(NeverSaves)),
    ("test_checkpoint_survives_a_restart", toy(save=nothing)),
    ("test_goes_on_after_a_restart", record(BrokenFile)),
):
    case(AfterIndexConformance, test, provider)


def keyword(**methods):
    """The keyword index, with some methods replaced."""
    kind = type("Changed", (KeywordIndex,), methods)
    return CommitIndexProvider(
        name="k",
        summary="k",
        channel="k",
        weight=0.5,
        create=lambda context: kind(context.store, 60.0),
    )


class Remembering(KeywordIndex):
    """Answers from memory, which no transaction rolls back and no restart keeps."""

    def __init__(self, store, seconds):
        super().__init__(store, seconds)
        self.gone = set()
        self.known = set()

    def apply_in(self, connection, changes):
        super().apply_in(connection, changes)
        self.known |= {change.passage_id for change in changes}
        self.gone |= {change.passage_id for change in changes if change.row is None}

    def search(self, connection, probe, limit):
        hits = super().search(connection, probe, limit).hits
        return Found([h for h in hits if h.passage_id in self.known - self.gone])


def note_in_core(self, connection, changes):
    KeywordIndex.apply_in(self, connection, changes)
    connection.execute(insert(counters).prefix_with("OR IGNORE"), {"key": "k", "value": 1.0})


remembering = CommitIndexProvider(
    name="k",
    summary="k",
    channel="k",
    weight=0.5,
    create=lambda context: Remembering(context.store, 60.0),
)
for test, provider in (
    ("test_core_tables_are_left_alone", keyword(apply_in=note_in_core)),
    ("test_a_rolled_back_change_leaves_nothing", remembering),
    ("test_cleared_is_empty", keyword(clear_in=nothing)),
    ("test_survives_a_restart", remembering),
    ("test_scrubbed_text_is_gone_from_the_bytes", keyword(scrub_in=nothing)),
):
    case(CommitIndexConformance, test, provider)

# Settings


def whole_number(words):
    if not words.isdecimal():
        raise ValueError("a whole number")
    return int(words)


def setting(parse=whole_number, default=3, **more):
    fields = {"name": "broken.setting", "help": "A number"}
    return Setting(**(fields | {"default": default, "parse": parse} | more))


def curt(words):
    if not words.isdecimal():
        raise ValueError("")
    return int(words)


for test, provider in (
    ("test_default_can_be_written", setting(default=-3)),
    ("test_bad_text_is_refused_with_words", setting(lambda words: 3)),
    ("test_bad_text_is_refused_with_words", setting(curt)),
    ("test_any_text_is_a_value_or_an_error", setting({"3": 3}.__getitem__)),
    ("test_variable_can_be_set", setting(env="not a variable")),
    ("test_what_is_secret_says_so", setting(str, "", name="broken.api_key")),
    ("test_what_is_secret_says_so", setting(str, "swordfish", secret=True)),
):
    case(SettingConformance, test, provider)

# Migrations


def migration(apply, number=1, summary="a table"):
    return Migration(owner="broken", number=number, summary=summary, apply=apply)


def statement(*statements):
    return lambda connection: [connection.exec_driver_sql(each) for each in statements]


CREATE = "CREATE TABLE broken_log (id INTEGER PRIMARY KEY)"


def commits(connection):
    connection.exec_driver_sql(CREATE)
    connection.exec_driver_sql("COMMIT")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


for test, provider in (
    ("test_summary_says_what_it_does", migration(statement(CREATE), summary=" ")),
    ("test_numbers_have_no_gap", migration(statement(CREATE), number=3)),
    (
        "test_runs_from_every_earlier_step_and_once",
        migration(statement("CREATE TABLE broken_copy AS SELECT * FROM no_such_table")),
    ),
    ("test_no_foreign_table_is_touched", migration(statement("UPDATE memories SET content = ''"))),
    ("test_no_foreign_table_is_touched", migration(statement("DROP INDEX ix_memories_hash"))),
    (
        "test_no_foreign_table_is_touched",
        migration(statement("ALTER TABLE memories ADD COLUMN broken INTEGER")),
    ),
    ("test_tables_bear_the_name_of_their_owner", migration(statement("CREATE TABLE other (id)"))),
    ("test_can_be_rolled_back", migration(commits)),
):
    case(MigrationConformance, test, provider)

# Checks


def check(run, write=None):
    """A check that answers something, after it wrote something."""

    class Made:
        def __init__(self, context):
            self.store = context.store

        async def run(self):
            if write is not None:
                await self.store.write(write)
            return run()

    return CheckProvider(name="c", summary="c", create=Made)


def fine():
    return [Finding("ok", "all is well")]


for test, provider in (
    ("test_there_is_always_a_finding", check(list)),
    ("test_there_is_always_a_finding", check(lambda: [Finding("fatal", "no")])),
    ("test_there_is_always_a_finding", check(lambda: [Finding("error", "")])),
    (
        "test_it_only_reads",
        check(fine, lambda c: c.execute(insert(counters), {"key": str(next(calls)), "value": 1.0})),
    ),
    ("test_it_only_reads", check(fine, statement("DROP INDEX IF EXISTS ix_memories_hash"))),
    (
        "test_it_can_run_again_and_again",
        check(lambda: [Finding("ok" if next(calls) % 2 else "error", "who knows")]),
    ),
):
    case(CheckConformance, test, provider)

# Operations


class Ask(BaseModel):
    number: int = 1


class Answer(BaseModel):
    number: int


class Unknown(BaseModel):
    number: Annotated[int, WithJsonSchema({"type": "whole"})] = 1


class Anything(BaseModel):
    number: Annotated[object, WithJsonSchema({"type": "integer"})] = 1


class Nobody(BaseModel):
    pass


class Other(BaseModel):
    colour: str = "red"


class Turning(Answer):
    items: list[int] = []
    next_cursor: str = ""


def operation(run=lambda given: Answer(number=1), write=None, **more):
    """An operation that answers something, after it wrote something."""

    def create(context):
        async def call(given):
            if write is not None:
                await context.store.write(write)
            return run(given)

        return call

    fields = {"name": "o", "summary": "o", "input": Ask, "output": Answer, "effect": "read"}
    fields |= {"doors": (Route("GET", "/o/{number}"),), "create": create}
    return OperationProvider(**(fields | more))


def tool(**more):
    """A tool that is sound but for what is given."""
    return Tool(**({"name": "o", "title": "o", "description": "o"} | more))


def page(uri):
    """A resource at an address."""
    return Resource(uri=uri, name="o", title="o", description="o")


def question(**more):
    """A prompt that is sound but for what is given."""
    fields = {"name": "o", "title": "o", "description": "o", "input": Nobody}
    return Prompt(**(fields | {"question": str, "into": lambda given: {}} | more))


count_up = lambda c: c.execute(  # noqa: E731
    insert(counters), {"key": str(next(calls)), "value": 1.0}
)
for test, provider in (
    ("test_schemas_are_valid", operation(input=Unknown)),
    ("test_effect_is_known", operation(effect="none")),
    ("test_doors_have_valid_paths", operation(doors=(Route("GET", "/o/{id}"),))),
    ("test_doors_have_valid_paths", operation(doors=(Route("GET", "o"),))),
    ("test_doors_have_valid_paths", operation(doors=(Route("GET", "/o//{number}"),))),
    ("test_doors_have_valid_paths", operation(doors=(Route("GET", "/o", 404),))),
    ("test_doors_have_valid_paths", operation(doors=(Route("GET", "/o"), Route("GET", "/o")))),
    ("test_mcp_doors_are_sound", operation(doors=(tool(name="two words"),))),
    ("test_mcp_doors_are_sound", operation(doors=(tool(title=" "),))),
    ("test_mcp_doors_are_sound", operation(doors=(tool(description="x" * 1025),))),
    ("test_mcp_doors_are_sound", operation(doors=(tool(toolset="all"),))),
    ("test_mcp_doors_are_sound", operation(doors=(tool(pages="number"),))),
    ("test_mcp_doors_are_sound", operation(doors=(tool(input=Other),))),
    ("test_mcp_doors_are_sound", operation(doors=(tool(into=lambda given: {}),))),
    ("test_mcp_doors_are_sound", operation(doors=(tool(destructive=True),))),
    ("test_mcp_doors_are_sound", operation(doors=(tool(pages="items"),), output=Turning)),
    ("test_mcp_doors_are_sound", operation(doors=(page("cloxy://o/{id}"),))),
    ("test_mcp_doors_are_sound", operation(doors=(page("no address"),))),
    ("test_mcp_doors_are_sound", operation(doors=(page("cloxy://o"),), input=Answer)),
    ("test_mcp_doors_are_sound", operation(doors=(page("cloxy://o"),), effect="write")),
    ("test_mcp_doors_are_sound", operation(doors=(question(input=Ask),))),
    ("test_mcp_doors_are_sound", operation(doors=(question(),), effect="write")),
    ("test_mcp_doors_are_told_apart", operation(doors=(tool(), tool()))),
    ("test_mcp_doors_are_told_apart", operation(doors=(page("cloxy://o"), page("cloxy://o")))),
    ("test_schemas_of_mcp_doors_are_valid", operation(doors=(tool(input=Unknown),))),
    ("test_its_answer_can_be_told_as_text", operation(doors=(tool(text=lambda output: ""),))),
    ("test_its_answer_can_be_told_as_text", operation(doors=(tool(text=lambda output: 7),))),
    ("test_what_can_be_got_only_reads", operation(effect="write")),
    ("test_it_answers_with_its_output", operation(lambda given: given)),
    ("test_a_read_writes_nothing", operation(write=count_up)),
    ("test_bad_input_is_refused_by_its_model", operation(input=Anything)),
):
    case(OperationConformance, test, provider)
