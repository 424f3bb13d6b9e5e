"""Whatever happened to a store, reading it never fails without a word."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from antigravity_kit import CWD, A, Log, Stores, chat, items, only, parser, read, texts

from cloxy_core.testing.fakes import raw_lines
from cloxy_core.testing.mutations import mutate
from cloxy_hookspecs import ForeignDatabaseError, SourceItem

KINDS = ("USER_INPUT", "PLANNER_RESPONSE", "CHECKPOINT")


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
            result = read(made, item)
        except (OSError, ForeignDatabaseError) as error:
            assert str(error)
            continue
        json.dumps(dict(result.state))
        said += len(result.messages)
    return said


def test_half_a_line_at_the_end_is_read_when_its_end_has_come(stores):
    data = chat().data()
    stores.log(data[:-30])
    result = only(stores.logs)
    assert len(result.messages) == 4
    assert [bad.reason for bad in result.bad_lines] == ["line 11: not JSON"]
    stores.log(data)
    assert len(only(stores.logs).messages) == 5


def test_a_transcript_that_only_begins_is_no_drift(stores):
    stores.log(b'{"step_index":0,"sou')
    assert only(stores.logs).silent is True


def test_glued_lines_zeros_and_a_mark_of_byte_order(stores):
    lines = Log().both("one", "1").data().split(b"\n")[:-1]
    data = b"\xef\xbb\xbf" + lines[0] + lines[1] + b"\n" + b"\0" * 50 + b"\n" + lines[2] + b"\n"
    stores.log(data)
    result = only(stores.logs)
    assert texts(result) == ["one", "1"]
    assert [bad.reason for bad in result.bad_lines] == ["line 2: zero bytes"]


def test_a_record_behind_half_of_another_is_kept(stores):
    lines = Log().both("one", "1").data().split(b"\n")[:-1]
    stores.log(lines[0] + b"\n" + lines[1][:50] + lines[2] + b"\n")
    result = only(stores.logs)
    assert texts(result) == ["one", "1"]
    assert len(result.bad_lines) == 1


def sound_steps(data):
    """Ids of steps that say something, in lines that are whole."""
    found = set()
    for line in data.split(b"\n"):
        try:
            step = json.loads(line)
        except ValueError:
            continue
        if isinstance(step, dict) and step.get("type") in KINDS and step.get("content"):
            number = step.get("step_index")
            found |= {f"step-{number}"} if isinstance(number, int) else set()
    return found


def test_150_damaged_transcripts_and_no_sound_line_is_lost(stores):
    path = stores.log(chat())
    whole = path.read_bytes()
    lost = told = 0
    for seed in range(150):
        data = mutate(whole, seed)
        path.write_bytes(data)
        result = only(stores.logs)
        uids = [message.uid for message in result.messages]
        assert len(set(uids)) == len(uids)
        assert {f"step-{number}" for number in sound_steps(data) if type(number) is int} <= set(
            uids
        )
        lost += len(uids) < 5
        told += bool(result.bad_lines or result.unknown)
    assert lost > 30, "the damage has to hit something"
    assert told > 30


def test_100_damaged_databases(stores):
    path = stores.database()
    whole = path.read_bytes()
    assert try_all(stores.store) == 5
    lost = 0
    for seed in range(100):
        path.write_bytes(mutate(whole, seed))
        lost += try_all(stores.store) < 5
    assert lost > 10


def test_100_damaged_side_files(stores):
    path = stores.log(chat().starts("b0000000-0000-4000-8000-00000000000b"))
    stores.prompts({"conversationId": A, "workspace": CWD, "display": "x" * 50})
    stores.last({CWD: A})
    sides = [stores.home / "history.jsonl", stores.home / "cache" / "last_conversations.json"]
    kept = 0
    for side in sides:
        whole = side.read_bytes()
        for seed in range(50):
            side.write_bytes(mutate(whole, seed))
            result = only(stores.logs)
            assert len(result.messages) == 5
            kept += result.sessions[A].cwd == CWD
        side.write_bytes(b"")
    assert 10 < kept < 100
    assert path.exists()


@pytest.mark.parametrize(
    "value", [None, 7, "x", [], [None], [[]], {}, {"a": 1}, True, 1.5, "\ud800", 10**400, -1]
)
def test_values_of_no_known_form(stores, value):
    log = chat()
    for kind in ("USER_INPUT", "PLANNER_RESPONSE", "CHECKPOINT", "INVOKE_SUBAGENT", value):
        log.lines.append({"step_index": value, "type": kind, "content": value})
        log.lines.append(dict.fromkeys(log.lines[0], value) | {"type": kind, "content": "words"})
        log.lines.append({"type": kind, "source": value, "tool_calls": value})
    log.lines += [value, {"type": value}]
    block = {"conversationId": value, "workspaceUris": value}
    log.step("MODEL", "INVOKE_SUBAGENT", json.dumps(block))
    log.step("MODEL", "INVOKE_SUBAGENT", json.dumps(block | {"conversationId": "child"}))
    stores.log(log)
    line = json.dumps({"conversationId": value, "workspace": value})
    stores.prompts(json.dumps(value), line, json.dumps({"conversationId": A, "workspace": value}))
    stores.last({"/srv/x": value} if value != 7 else value)
    result = only(stores.logs)
    assert len(result.messages) >= 5


def test_150_damaged_records(stores):
    stores.log(chat())
    (item,), _ = items(stores.logs)
    whole = b"".join(each.data + b"\n" for each in stores.logs.read(item, 0))
    for seed in range(150):
        data = mutate(whole, seed)
        made = SourceItem("/s", "1", len(data), item.mtime_ns)
        result = parser().parse(made, raw_lines(data), {})
        told = result.records + sum(result.unknown.values()) + len(result.bad_lines)
        assert told >= sum(1 for each in data.split(b"\n") if each.strip())


WRITER = """
import sqlite3, sys, time
sys.path.insert(0, sys.argv[2])
from antigravity_kit import payload
database = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
database.execute("PRAGMA journal_mode=WAL")
print("ready", flush=True)
number = 0
until = time.monotonic() + 60
while time.monotonic() < until:
    kind = 14 if number % 2 == 0 else 15
    for text in ("half", f"words {number}"):
        database.execute(
            "INSERT OR REPLACE INTO steps (idx, step_type, step_payload) VALUES (?, ?, ?)",
            (number, kind, payload(kind, text)),
        )
    number += 1
    if number % 20 == 0:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    time.sleep(0.002)
"""


def test_a_database_that_is_written_all_the_time(stores):
    """Each look sees one state: every step that was there, only the last one half written."""
    path = stores.database([])
    command = [sys.executable, "-c", WRITER, str(path), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        try:
            assert writer.stdout.readline() == "ready\n"
            seen = []
            until = time.monotonic() + 30
            while len(seen) < 12 and time.monotonic() < until:
                found, failures = items(stores.store)
                assert all("tried again" in f.reason or "cannot" in f.reason for f in failures)
                for item in found:
                    try:
                        result = read(stores.store, item)
                    except ForeignDatabaseError:
                        continue
                    assert not result.bad_lines
                    wanted = [f"words {n}" for n in range(len(result.messages))]
                    assert texts(result)[:-1] == wanted[:-1]
                    count = len(result.messages)
                    assert not seen or count >= seen[-1]
                    if not seen or count > seen[-1]:
                        seen.append(count)
            assert writer.poll() is None, "the writer was not disturbed"
        finally:
            writer.kill()
    assert len(seen) == 12


def test_an_answer_with_nothing_in_it_is_told(stores):
    log = Log().both("one", "1")
    stores.log(log.step("MODEL", "PLANNER_RESPONSE", thinking="hm"))
    assert only(stores.logs).unknown == {}
    stores.log(log.step("MODEL", "PLANNER_RESPONSE", contnt="lost"))
    assert only(stores.logs).unknown == {"PLANNER_RESPONSE of another form": 1}


@pytest.mark.parametrize("beside", [{"thinking": "hm"}, {"tool_calls": []}])
def test_an_answer_whose_words_have_another_name_is_told(stores, beside):
    log = Log().both("one", "1")
    stores.log(log.step("MODEL", "PLANNER_RESPONSE", contenu="lost", **beside))
    assert only(stores.logs).unknown == {"PLANNER_RESPONSE of another form": 1}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lost", [{}, {"content": None}, {"content": 7}])
def test_a_step_without_its_words_is_told(stores, kind, lost):
    log = Log().both("one", "1")
    log.lines.append({"step_index": 90, "source": "MODEL", "type": kind} | lost)
    stores.log(log)
    assert only(stores.logs).unknown == {f"{kind} of another form": 1}
