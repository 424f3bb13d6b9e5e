"""Whatever happened to a store, reading it never fails without a word."""

import json
import sqlite3
from contextlib import closing

import pytest
from agents.damage import assert_records_are_told, is_json, read_all, times_lost
from agents.sources import items, only, read, records
from agents.written_stores import assert_seen_growing, writing
from zed_kit import OLD_MESSAGES, TALK, Zed, document, old_document, packed, write

from cloxy_core.testing.mutations import mutate

VALUES = [None, 7, "x", [], [None], [[]], {}, {"a": 1}, True, 1.5, 2**70]


@pytest.fixture
def zed(tmp_path):
    return Zed(tmp_path)


def try_all(source):
    """How many messages can be read, and how many losses are told."""
    found = read_all(source)
    return len(found.messages), found.told + len(found.failures)


def test_damaged_databases(zed):
    path = zed.write("t1")
    zed.write("t2", old_document(), kind="json")
    assert try_all(zed.source) == (8, 0)
    assert times_lost(zed.source, path, 60, 8) > 10, "the damage has to hit something"


def test_a_damaged_index_hides_no_thread(zed):
    """The table is read without it; a table that seems empty has its index asked."""
    path = zed.write()
    with closing(sqlite3.connect(path)) as database:
        pages = dict(database.execute("SELECT name, rootpage FROM sqlite_master"))
        size = database.execute("PRAGMA page_size").fetchone()[0]
    whole = path.read_bytes()
    for name, page in pages.items():
        damaged = bytearray(whole)
        # No cells are left on the first page of the table, or of its index.
        damaged[size * (page - 1) + 3 : size * (page - 1) + 5] = b"\x00\x00"
        path.write_bytes(damaged)
        if name == "threads":
            found, failures = items(zed.source)
            assert (found, [each.reason for each in failures]) == ([], ["its threads are damaged"])
        else:
            assert try_all(zed.source) == (4, 0)


def test_damaged_documents(zed):
    lost = 0
    for form in (document(), old_document()):
        whole = json.dumps(form, ensure_ascii=False).encode()
        for seed in range(150):
            data = mutate(whole, seed)
            zed.write(data=packed(data))
            said, told = try_all(zed.source)
            if said < 4 and not is_json(data):
                assert told, seed
            lost += said < 4
    assert lost > 100


def test_damaged_frames(zed):
    whole = packed(document())
    lost = 0
    for seed in range(300):
        zed.write(data=mutate(whole, seed))
        lost += try_all(zed.source)[0] < 4
    assert lost > 100


def test_damaged_text_threads(zed):
    whole = json.dumps(TALK).encode()
    lost = 0
    for seed in range(300):
        data = mutate(whole, seed)
        zed.write_text(data)
        said, told = try_all(zed.text_source)
        if said < 4 and not is_json(data):
            lost += 1
            assert told or b"DRAFT" not in data, seed
    assert lost > 50


def test_damaged_records(zed):
    zed.write()
    (item,), _ = items(zed.source)
    assert_records_are_told(records(zed.source, item), 100, "/threads.db#t1")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"data": b""}, "a thread is no JSON"),
        ({"data": b"", "kind": "json"}, "a thread is no JSON"),
        ({"data": b"{", "kind": "json"}, "a thread is no JSON"),
        ({"data": b"[" * 5000, "kind": "json"}, "a thread is no JSON"),
        ({"data": b"[]", "kind": "json"}, "a thread is no JSON object"),
        ({"data": b"{}", "kind": "json"}, "a thread has no messages"),
        ({"data": b"{}"}, "a thread's compressed data is damaged"),
        ({"data": packed(b"{}")[:-2]}, "a thread's compressed data ends too early"),
        ({"data": 7}, "a thread has no data"),
        ({"kind": "lz4", "data": b"x"}, "a thread is stored as 'lz4', which is not known"),
    ],
)
def test_a_row_that_is_no_thread_is_told(zed, row, reason):
    zed.write(**row)
    zed.write("t2")
    first, second = items(zed.source)[0]
    result = read(zed.source, first)
    assert (result.messages, [line.reason for line in result.bad_lines]) == ([], [reason])
    assert len(read(zed.source, second).messages) == 4


def test_a_document_kept_as_text(zed):
    zed.write(data=json.dumps(document()), kind="json")
    assert len(only(zed.source).messages) == 4


def test_texts_that_are_no_unicode_are_repaired(zed):
    data = json.dumps(document()).encode().replace(b"Done.", b"ok \\ud83d \x01\\u0000 \xff")
    zed.write(data=packed(b"\xef\xbb\xbf" + data))
    assert only(zed.source).messages[-1].text == "ok \ufffd \x01\x00 \ufffd"


@pytest.mark.parametrize("value", VALUES)
def test_values_of_no_known_form(zed, value):
    for key in ("title", "summary", "updated_at", "detailed_summary", "detailed_summary_state",
                "initial_project_snapshot", "model", "subagent_context", "version"):  # fmt: skip
        for form in (document, old_document):
            zed.write(value=form(**{key: value}))
            assert try_all(zed.source)[0] >= 4
    said = {"Text": "x"}
    contents = (
        value,
        [value],
        [said, {"Mention": value}],
        [said, {"Mention": {"uri": value}}],
        [said, {"Mention": {"uri": {"File": value}}}],
        [{"Text": value}, {"Image": value}],
    )
    kinds = [{"segments": value}, {"segments": [value, {"type": value, "text": value}]},
             {"tool_results": value}]  # fmt: skip
    for messages in (
        value,
        [value],
        [{"User": value}, {"Agent": value}, {"Compaction": value}, {"role": value}],
        [{"Compaction": {"Summary": value}}],
        [{side: {"content": content}} for content in contents for side in ("User", "Agent")],
        [{**each, **kind} for each in OLD_MESSAGES for kind in kinds],
    ):
        zed.write(value=document(messages))
        try_all(zed.source)
    if value is None or (isinstance(value, (str, int, float)) and value != 2**70):
        for column in ("created_at", "folder_paths", "folder_paths_order", "parent_id"):
            zed.write(**{column: value})
            assert try_all(zed.source) == (4, 0)
    for key in ("id", "messages", "summary", "slash_command_output_sections", "message_metadata"):
        zed.write_text(TALK | {key: value})
        try_all(zed.text_source)
    for key in ("id", "start", "metadata"):
        zed.write_text(TALK | {"messages": [each | {key: value} for each in TALK["messages"]]})
        try_all(zed.text_source)


WRITER = """
import sys, time
from pathlib import Path
from zed_kit import document, user, write
path = Path(sys.argv[1])
print("ready", flush=True)
number = 0
until = time.monotonic() + 240
while time.monotonic() < until:
    number += 1
    said = [user(f"words {n}") for n in range(number)]
    write(path, value=document(said), updated_at=f"2026-02-06T02:10:31.{number:09}Z", wal=True)
"""


def test_a_store_that_is_written_all_the_time(zed):
    """Each look sees one state, which is never older than the one before."""

    def count(result):
        texts = [message.text for message in result.messages]
        assert texts == [f"words {n}" for n in range(len(texts))]
        return len(texts)

    write(zed.database, value=document([]), wal=True)
    with writing("-c", WRITER, zed.database):
        assert_seen_growing(zed.source, count)
