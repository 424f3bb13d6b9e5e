"""Whatever happened to a store, reading it never fails without a word."""

import json

import pytest
from agents.damage import assert_records_are_told, times_lost
from agents.line_logs import glued, halved
from agents.sources import items, only, records
from agents.written_stores import assert_seen_growing, writing
from antigravity_kit import CWD, A, Log, Stores, chat, texts

from cloxy_core.testing.mutations import mutate

KINDS = ("USER_INPUT", "PLANNER_RESPONSE", "CHECKPOINT")


@pytest.fixture
def stores(tmp_path):
    return Stores(tmp_path)


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
    stores.log(glued(Log().both("one", "1"), 0))
    result = only(stores.logs)
    assert texts(result) == ["one", "1"]
    assert [bad.reason for bad in result.bad_lines] == ["line 2: zero bytes"]


def test_a_record_behind_half_of_another_is_kept(stores):
    stores.log(halved(Log().both("one", "1"), 1))
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
    assert times_lost(stores.store, path, 100, 5) > 10


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
    assert_records_are_told(records(stores.logs, item), 150)


WRITER = """
import sys
from agents.writer_loops import write_until_killed
from antigravity_kit import payload
def write(database, number):
    kind = 14 if number % 2 else 15
    for text in ("half", f"words {number - 1}"):
        database.execute(
            "INSERT OR REPLACE INTO steps (idx, step_type, step_payload) VALUES (?, ?, ?)",
            (number - 1, kind, payload(kind, text)),
        )
write_until_killed(sys.argv[1], write)
"""


def test_a_database_that_is_written_all_the_time(stores):
    """Each look sees one state: every step that was there, only the last one half written."""

    def count(result):
        wanted = [f"words {n}" for n in range(len(result.messages))]
        assert texts(result)[:-1] == wanted[:-1]
        return len(result.messages)

    path = stores.database([])
    with writing("-c", WRITER, path):
        assert_seen_growing(stores.store, count)


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
