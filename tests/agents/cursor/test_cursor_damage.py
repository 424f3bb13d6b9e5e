"""Whatever happened to a store, reading it never fails without a word."""

import json
import subprocess
import sys
import time

import pytest
from cursor_kit import (
    SPOKEN,
    TRANSCRIPT,
    Stores,
    bubble,
    chat,
    composer,
    item_of,
    items,
    line,
    only,
    parser,
    read,
    talk,
    transcript,
    write,
)

from cloxy_core.testing.fakes import raw_lines
from cloxy_core.testing.mutations import mutate
from cloxy_hookspecs import ForeignDatabaseError


@pytest.fixture
def stores(tmp_path):
    return Stores(tmp_path)


def try_all(made):
    """How many messages can be read; failures are the two kinds that are allowed, with words."""
    found, failures = items(made)
    assert all(failure.reason for failure in failures)
    said = 0
    for item in found:
        try:
            said += len(read(made, item).messages)
        except (OSError, ForeignDatabaseError) as error:
            assert str(error)
    return said


def test_500_damaged_databases_of_the_editor(stores):
    path = write(stores.store, talk() | talk("c2"))
    whole = path.read_bytes()
    assert try_all(stores.editor) == 8
    lost = 0
    for seed in range(500):
        path.write_bytes(mutate(whole, seed))
        lost += try_all(stores.editor) < 8
    assert lost > 50, "the damage has to hit something"


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
    whole = path.read_bytes()
    assert try_all(stores.chats) == 3
    lost = 0
    for seed in range(500):
        path.write_bytes(mutate(whole, seed))
        lost += try_all(stores.chats) < 3
    assert lost > 50


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
    whole = b"".join(each.data + b"\n" for each in stores.editor.read(item, 0))
    for seed in range(500):
        data = mutate(whole, seed)
        result = parser().parse(item_of(data), raw_lines(data), {})
        told = result.records + sum(result.unknown.values()) + len(result.bad_lines)
        assert told >= sum(1 for each in data.split(b"\n") if each.strip())


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
        try_all(stores.editor)
    headers = {"composer.composerHeaders": {"allComposers": value}}
    write(stores.store, talk(), headers)
    only(stores.editor)


WRITER = """
import json, sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
database.execute("PRAGMA journal_mode=WAL")
print("ready", flush=True)
number = 0
until = time.monotonic() + 60
while time.monotonic() < until:
    number += 1
    database.execute("BEGIN IMMEDIATE")
    order = [{"bubbleId": f"b{n}", "type": 1} for n in range(number)]
    head = {"composerId": "c1", "lastUpdatedAt": 1783397624574 + number, "createdAt": 1783397624574,
            "fullConversationHeadersOnly": order}
    said = {"type": 1, "bubbleId": f"b{number - 1}", "text": f"words {number - 1}"}
    for key, value in (("composerData:c1", head), (f"bubbleId:c1:b{number - 1}", said)):
        database.execute("INSERT OR REPLACE INTO cursorDiskKV VALUES (?, ?)",
                         (key, json.dumps(value)))
    database.execute("COMMIT")
    if number % 20 == 0:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    time.sleep(0.002)
"""


def test_a_store_that_is_written_all_the_time(stores):
    """Each look sees one state: as many messages as the conversation lists, none gone."""
    write(stores.store, {})
    command = [sys.executable, "-c", WRITER, str(stores.store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        try:
            assert writer.stdout.readline() == "ready\n"
            seen = []
            until = time.monotonic() + 30
            while len(seen) < 12 and time.monotonic() < until:
                found, failures = items(stores.editor)
                assert all("tried again" in f.reason or "cannot" in f.reason for f in failures)
                for item in found:
                    try:
                        result = read(stores.editor, item)
                    except ForeignDatabaseError:
                        continue
                    assert not result.bad_lines
                    assert not result.unknown
                    texts = [message.text for message in result.messages]
                    assert texts == [f"words {n}" for n in range(len(texts))]
                    seen.append(len(texts))
            assert writer.poll() is None, "the writer was not disturbed"
        finally:
            writer.kill()
    assert len(seen) == 12
    assert seen == sorted(seen)
    assert seen[-1] > seen[0]
