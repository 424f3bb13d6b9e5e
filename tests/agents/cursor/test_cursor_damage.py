"""Whatever happened to a store, reading it never fails without a word."""

import json

import pytest
from agents.damage import assert_records_are_told, count_all, times_lost
from agents.sources import items, read, records
from agents.written_stores import assert_seen_growing, writing
from cursor_kit import (
    SPOKEN,
    TRANSCRIPT,
    Stores,
    bubble,
    chat,
    composer,
    line,
    only,
    talk,
    transcript,
    write,
)

from cloxy_core.testing.mutations import mutate


@pytest.fixture
def stores(tmp_path):
    return Stores(tmp_path)


def test_500_damaged_databases_of_the_editor(stores):
    path = write(stores.store, talk() | talk("c2"))
    assert times_lost(stores.editor, path, 500, 8) > 50, "the damage has to hit something"


def test_500_damaged_values(stores):
    rows = talk()
    whole = {key: json.dumps(value).encode() for key, value in rows.items()}
    names = sorted(whole)
    lost = 0
    for seed in range(500):
        key = names[seed % len(names)]
        damaged = mutate(whole[key], seed)
        write(stores.store, rows | {key: damaged.decode("utf-8", "replace")})
        found, _ = items(stores.editor)
        results = [read(stores.editor, item) for item in found]
        for result in results:
            if len(result.messages) < 4:
                lost += 1
        json.dumps([dict(result.state) for result in results])
    assert lost > 100


def test_500_damaged_chats(stores):
    path = chat(stores.cursor, *SPOKEN)
    assert times_lost(stores.chats, path, 500, 3) > 50


def test_500_damaged_transcripts_and_each_lost_line_is_counted(stores):
    whole = (TRANSCRIPT + "".join(line("user", f"words {n}") for n in range(20))).encode()
    path = transcript(stores.cursor)
    (item,), _ = items(stores.transcripts)
    for seed in range(500):
        data = mutate(whole, seed)
        path.write_bytes(data)
        result = read(stores.transcripts, item)
        full = [each for each in data.split(b"\n") if each.strip()]
        silent = sum(b"turn_ended" in each for each in full)
        told = len(result.messages) + len(result.bad_lines) + sum(result.unknown.values())
        assert told + silent >= len(full) - data.count(b'text": ""')


def test_500_damaged_records(stores):
    write(stores.store, talk())
    (item,), _ = items(stores.editor)
    assert_records_are_told(records(stores.editor, item), 500, "/s#c1")


@pytest.mark.parametrize(
    "value", [None, 7, "x", [], [None], [[]], {}, {"a": 1}, True, 1.5, "\ud800"]
)
def test_values_of_no_known_form(stores, value):
    keys = ("text", "type", "createdAt", "images", "context", "modelInfo", "timingInfo", "bubbleId")
    bubbles = [bubble(f"b{n}", 1, "x") for n in range(len(keys))]
    rows = composer("c1", *bubbles)
    for number, key in enumerate(keys):
        rows[f"bubbleId:c1:b{number}"][key] = value
    write(stores.store, rows)
    only(stores.editor)
    for key in ("createdAt", "lastUpdatedAt", "name", "workspaceIdentifier", "modelConfig",
                "subagentComposerIds", "conversation", "subagentInfo"):  # fmt: skip
        write(stores.store, talk(**{key: value}))
        only(stores.editor)
    for key in ("fullConversationHeadersOnly", "conversation"):
        write(stores.store, composer("c1", **{key: [value, value]}))
        count_all(stores.editor)
    headers = {"composer.composerHeaders": {"allComposers": value}}
    write(stores.store, talk(), headers)
    only(stores.editor)


WRITER = """
import json, sys
from agents.writer_loops import write_until_killed
def write(database, number):
    order = [{"bubbleId": f"b{n}", "type": 1} for n in range(number)]
    head = {"composerId": "c1", "lastUpdatedAt": 1783397624574 + number, "createdAt": 1783397624574,
            "fullConversationHeadersOnly": order}
    said = {"type": 1, "bubbleId": f"b{number - 1}", "text": f"words {number - 1}"}
    database.execute("BEGIN IMMEDIATE")
    for key, value in (("composerData:c1", head), (f"bubbleId:c1:b{number - 1}", said)):
        database.execute("INSERT OR REPLACE INTO cursorDiskKV VALUES (?, ?)",
                         (key, json.dumps(value)))
    database.execute("COMMIT")
write_until_killed(sys.argv[1], write)
"""


def test_a_store_that_is_written_all_the_time(stores):
    """Each look sees one state: as many messages as the conversation lists, none gone."""

    def count(result):
        assert not result.unknown
        texts = [message.text for message in result.messages]
        assert texts == [f"words {n}" for n in range(len(texts))]
        return len(texts)

    write(stores.store, {})
    with writing("-c", WRITER, stores.store):
        assert_seen_growing(stores.editor, count)
