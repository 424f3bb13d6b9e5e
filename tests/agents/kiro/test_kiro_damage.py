"""Whatever happened to a store, reading it never fails without a word."""

import json

import pytest
from agents.damage import assert_records_are_told, count_all, times_lost
from agents.sources import items, only, records
from agents.written_stores import assert_seen_growing, writing
from kiro_kit import A, B, Bucketed, Log, Stores, card, chat, store, talk, texts

from cloxy_core.testing.mutations import mutate


@pytest.fixture
def stores(tmp_path):
    return Stores(tmp_path)


def test_half_a_line_at_the_end_is_read_when_its_end_has_come(stores):
    data = chat().data()
    stores.log(data[:-30])
    result = only(stores.logs)
    assert len(result.messages) == 3
    assert [bad.reason for bad in result.bad_lines] == ["line 6: not JSON"]
    stores.log(data)
    assert len(only(stores.logs).messages) == 4


def test_a_log_that_only_begins_is_no_drift(stores):
    stores.log(b'{"version":"v1","ki')
    assert only(stores.logs).silent is True


def test_glued_lines_zeros_and_a_mark_of_byte_order(stores):
    lines = chat().data().split(b"\n")[:-1]
    data = b"\xef\xbb\xbf" + lines[0] + lines[1] + b"\n" + b"\0" * 50 + b"\n" + lines[3] + b"\n"
    stores.log(data)
    result = only(stores.logs)
    assert texts(result) == ["Why does the crane overheat?", "It never idles."]
    assert [bad.reason for bad in result.bad_lines] == ["line 2: zero bytes"]


def test_a_record_behind_half_of_another_is_kept(stores):
    lines = chat().data().split(b"\n")[:-1]
    stores.log(lines[0] + b"\n" + lines[1][:50] + lines[3] + b"\n")
    result = only(stores.logs)
    assert len(result.messages) == 2
    assert len(result.bad_lines) == 1


def test_a_log_of_many_megabytes_with_long_lines(stores):
    log = Log().user("x" * 3_000_000)
    log.add("ToolResults", content=[], results={"t": "y" * 5_000_000})
    stores.log(log.agent("fine"))
    assert [len(text) for text in texts(only(stores.logs))] == [3_000_000, 4]


@pytest.mark.parametrize("form", ["flat", "bucketed"])
def test_150_damaged_logs_and_each_lost_line_is_counted(stores, form):
    if form == "flat":
        log = chat().add("Compaction", summary="They met.").add("Clear")
        path = stores.log(log)
    else:
        log = Bucketed().add("session_start", "one").add("turn_start").add("assistant", "two")
        path = stores.bucketed(log.add("tool_result", "x").add("user", "three"))
    whole = path.read_bytes()
    noise = (b"ToolResults", b"Clear", b"toolUse", b"turn_start", b"tool_result")
    lost = 0
    before = len(only(stores.logs).messages)
    for seed in range(150):
        data = mutate(whole, seed)
        path.write_bytes(data)
        result = only(stores.logs)
        lost += len(result.messages) < before
        uids = [(message.session, message.uid) for message in result.messages]
        assert len(set(uids)) == len(uids)
        if not result.bad_lines and not result.unknown:
            full = [each for each in data.split(b"\n") if each.strip()]
            spoken = [each for each in full if not any(word in each for word in noise)]
            assert len(result.messages) >= len(set(spoken)) - data.count(b'""')
    assert lost > 30, "the damage has to hit something"


def test_100_damaged_facts(stores):
    log = chat()
    path = stores.log(log, facts=card(ends=[(log.ids(), "2026-07-07T04:13:45Z")]))
    facts = path.with_suffix(".json")
    whole = facts.read_bytes()
    told = 0
    for seed in range(100):
        facts.write_bytes(mutate(whole, seed))
        result = only(stores.logs)
        assert len(result.messages) == 4
        told += bool(result.bad_lines)
    assert told > 15


def test_100_damaged_databases(stores):
    path = store(stores.data, talk(A), talk(B), old=[("/srv/x", talk("c"))])
    assert times_lost(stores.store, path, 100, 12) > 10


def test_100_damaged_values(stores):
    whole = json.dumps(talk()).encode()
    lost = 0
    for seed in range(100):
        data = mutate(whole, seed)
        store(stores.data, data if seed % 2 else data.decode("utf-8", "replace"))
        result = only(stores.store)
        json.dumps(dict(result.state))
        lost += len(result.messages) < 4
    assert lost > 15


@pytest.mark.parametrize("form", ["run", "session"])
def test_100_damaged_chats(stores, form):
    said = [("human", "Why?"), ("bot", "Because."), ("user", "So?")]
    path = stores.run("e1", said) if form == "run" else stores.session("s1", said)
    assert times_lost(stores.chats, path, 100, 3) > 10


@pytest.mark.parametrize(
    "value", [None, 7, "x", [], [None], [[]], {}, {"a": 1}, True, 1.5, "\ud800", 10**400]
)
def test_values_of_no_known_form(stores, value):
    log = chat()
    for kind in ("Prompt", "AssistantMessage", "Compaction", "ToolResults"):
        log.lines.append({"version": value, "kind": kind, "data": value})
        log.lines.append({"kind": kind, "data": dict.fromkeys(log.lines[0]["data"], value)})
        log.add(kind, content=[value, {"kind": value}, {"kind": "text", "data": value},
                               {"kind": "image", "data": value}], summary=value)  # fmt: skip
    log.lines += [value, {"kind": value}]
    facts = card()
    stores.log(log, facts=dict.fromkeys(facts, value))
    assert count_all(stores.logs) >= 4
    for key in facts:
        stores.log(chat(), facts=facts | {key: value})
        assert len(only(stores.logs).messages) == 4
    state = {name: {"model_info": value, "user_turn_metadatas": [value, {"message_ids": value}]}
             for name in ("rts_model_state", "conversation_metadata")}  # fmt: skip
    stores.log(chat(), facts=card(session_state=state))
    assert len(only(stores.logs).messages) == 4
    new = Bucketed()
    for kind in ("user", "assistant", "session_start", value):
        new.lines.append({"id": value, "timestamp": value, "payload": {"type": kind}})
        new.lines.append({"id": value, "payload": {"type": kind, "content": [value]}})
    new.lines.append({"payload": value})
    stores.bucketed(new, facts=facts | {"workspacePaths": value, "id": value})
    count_all(stores.logs)
    if value not in ("\ud800",):
        try_store(stores, value)
    path = stores.run("e1", [("human", value), (value, "x")], workflowId=value, startTime=value)
    count_all(stores.chats)
    stores.session("s1", [("user", value), (value, [value])], value, title=value)
    stores.session("s2", [], [value, {"sessionId": value}])
    assert path.exists()
    count_all(stores.chats)


def try_store(stores, value):
    talks = []
    for number, key in enumerate(talk()):
        talks.append(talk(f"k{number}") | ({} if key == "conversation_id" else {key: value}))
    whole = talk("whole")
    for name in ("user", "assistant", "request_metadata"):
        whole["history"] += [{**whole["history"][0], name: value}]
        whole["history"] += [{**whole["history"][0], name: {"Prompt": value, "content": value}}]
    store(stores.data, *talks, whole)
    assert count_all(stores.store) >= 10


def test_150_damaged_records(stores):
    stores.log(chat(), facts=card())
    (item,), _ = items(stores.logs)
    assert_records_are_told(records(stores.logs, item), 150)


WRITER = """
import sys
from agents.writer_loops import write_until_killed
from kiro_kit import A, put, talk
def write(database, number):
    turns = [(f"words {n}", f"answer {n}") for n in range(number)]
    database.execute("BEGIN IMMEDIATE")
    put(database, talk(A, turns), at=1783397600000 + number)
    database.execute("COMMIT")
write_until_killed(sys.argv[1], write)
"""


def test_a_database_that_is_written_all_the_time(stores):
    """Each look sees one state: whole turns, in order, none gone."""

    def count(result):
        assert not result.unknown
        number = len(result.messages) // 2
        wanted = [(f"words {n}", f"answer {n}") for n in range(number)]
        assert texts(result) == [text for turn in wanted for text in turn]
        return number

    path = store(stores.data)
    with writing("-c", WRITER, path):
        assert_seen_growing(stores.store, count)


def test_turns_without_words_where_they_should_be_are_told(stores):
    value = talk()
    value["history"][0]["user"]["content"] = {"Prompt": {"promt": "lost"}}
    value["history"][1]["assistant"] = {"Response": {"message_id": "r", "contnt": "lost"}}
    store(stores.data, value)
    assert only(stores.store).unknown == {"turn of another form": 2}
    value["history"][0] = {"usr": {}, "assistant": value["history"][0]["assistant"]}
    store(stores.data, value)
    assert only(stores.store).unknown == {"turn of another form": 2}


def test_a_conversation_of_the_database_without_a_usable_id_is_told(stores):
    store(stores.data, talk(), talk("\n"))
    found, failures = items(stores.store)
    assert len(found) == 1
    assert [each.reason for each in failures] == [
        "1 conversation(s) are not read: their ids cannot be used"
    ]


def test_a_message_of_the_editor_without_content_is_told(stores):
    path = stores.session("s1", [("user", "one"), ("assistant", "two")])
    path.write_text(path.read_text().replace('"content": "two"', '"contnt": "two"'))
    result = only(stores.chats)
    assert (texts(result), result.unknown) == (["one"], {"message without content": 1})


@pytest.mark.parametrize("lost", [{"promt": "x"}, {"prompt": None}, {"prompt": 7}])
def test_a_prompt_of_the_database_without_its_words_is_told(stores, lost):
    value = talk()
    value["history"][0]["user"]["content"] = {"Prompt": lost}
    store(stores.data, value)
    assert only(stores.store).unknown == {"turn of another form": 1}


@pytest.mark.parametrize("lost", [{}, {"content": None}, {"content": 7}])
def test_an_answer_of_the_database_without_its_words_is_told(stores, lost):
    value = talk()
    value["history"][0]["assistant"] = {"ToolUse": {"message_id": "r", "tool_uses": []} | lost}
    store(stores.data, value)
    assert only(stores.store).unknown == {"turn of another form": 1}


def test_turns_of_the_database_that_need_no_words_are_not_told(stores):
    value = talk()
    cancelled = {"prompt": None, "tool_use_results": [{"content": []}]}
    value["history"][0]["user"]["content"] = {"CancelledToolUses": cancelled}
    value["history"][0]["assistant"] = {"ToolUse": {"message_id": "r", "content": ""}}
    store(stores.data, value)
    assert only(stores.store).unknown == {}


@pytest.mark.parametrize(
    "lost",
    [
        {"latest_summary": 7},
        {"latest_summary": {}},
        {"latest_summary": []},
        {"latest_summary": [None, {}]},
        {"latest_sumary": "x"},
    ],
)
def test_a_summary_of_the_database_without_its_words_is_told(stores, lost):
    value = talk()
    del value["latest_summary"]
    store(stores.data, value)
    assert only(stores.store).unknown == {}
    store(stores.data, value | lost)
    assert only(stores.store).unknown == {"summary of another form": 1}


@pytest.mark.parametrize("kind", ["compaction", "summary"])
@pytest.mark.parametrize("lost", [{"sumary": "x"}, {"summary": 7}, {"summary": [{"kind": "x"}]}])
def test_a_summary_of_the_other_form_without_its_words_is_told(stores, kind, lost):
    stores.bucketed(Bucketed().add("user", "one").add(kind, **lost))
    result = only(stores.logs)
    assert (texts(result), result.unknown) == (["one"], {kind: 1})
    stores.bucketed(Bucketed().add("user", "one").add(kind).add(kind, summary=""))
    assert only(stores.logs).unknown == {}


def test_an_answer_whose_run_has_another_name_is_told(stores):
    path = stores.session("s1", [("user", "one"), ("assistant", "On it.", "e1")])
    stores.run_log("e1", ["First.", "Then."])
    path.write_text(path.read_text().replace('"executionId"', '"executionIb"'))
    assert only(stores.chats).unknown == {"answer without its run": 1}


def test_a_saying_of_a_run_whose_words_have_another_name_is_told(stores):
    stores.session("s1", [("user", "one"), ("assistant", "On it.", "e1")])
    lost = {"executionId": "e1", "actionType": "say", "outpud": {"message": "x"}}
    stores.run_log("e1", ["First.", lost])
    assert only(stores.chats).unknown == {"action of another form": 1}
