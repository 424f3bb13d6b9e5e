"""Whatever happened to a file, reading it never fails without a word."""

import json

import pytest
from agents.damage import assert_records_are_told, is_json
from agents.sources import items, only, read, records, texts
from agents.written_stores import halves, writing
from cline_kit import AT, PNG, TASK, Tasks, ask, put, said, say, sent, talk, text, typed

from cloxy_core.testing.mutations import mutate

SEEDS = 200


@pytest.fixture
def tasks(tmp_path):
    return Tasks(tmp_path)


def damage(made, path):
    """How often of all times something was lost; each time it is told."""
    whole = path.read_bytes()
    (item,), _ = items(made)
    count = len(read(made, item).messages)
    assert count >= 2
    lost = 0
    for seed in range(SEEDS):
        data = mutate(whole, seed)
        path.write_bytes(data)
        result = read(made, item)
        json.dumps(dict(result.state))
        if len(result.messages) < count:
            lost += 1
            told = len(result.bad_lines) + sum(result.unknown.values())
            assert told or is_json(data), seed
    assert lost > SEEDS / 10, "the damage has to hit something"
    return lost


def test_damaged_windows(tasks):
    damage(tasks.source, tasks.shown(*talk(), *[say(9 + n, "text", f"w {n}") for n in range(20)]))


def test_damaged_sessions(tasks):
    spoken = [said(typed("Why?")), said("So.", "assistant"), said(typed("And?"))]
    damage(tasks.source, tasks.session("s1", *spoken, manifest={}))


def test_damaged_histories_never_raise(tasks):
    path = tasks.sent(*sent())
    whole = path.read_bytes()
    (item,), _ = items(tasks.source)
    lost = 0
    for seed in range(SEEDS):
        path.write_bytes(mutate(whole, seed))
        lost += len(read(tasks.source, item).messages) < 2
    assert lost > SEEDS / 10


def test_a_file_cut_short_gives_what_is_whole(tasks):
    path = tasks.shown(*[say(0, "text", "Why?"), say(1, "text", "One."), say(2, "text", "Two.")])
    whole = path.read_bytes()
    before = [each.uid for each in only(tasks.source).messages]
    path.write_bytes(whole[:-20])
    result = only(tasks.source)
    assert texts(result) == [("user", "Why?"), ("assistant", "One.")]
    assert [each.uid for each in result.messages] == before[:2]
    assert len(result.bad_lines) == 1
    path.write_bytes(whole[: whole.index(b', {"ts"')])
    result = only(tasks.source)
    assert texts(result) == [("user", "Why?")]
    assert [each.reason for each in result.bad_lines] == ["is cut short"]


def test_a_damaged_message_costs_no_other(tasks):
    path = tasks.shown(*[say(n, "text", f"word {n}") for n in range(4)])
    path.write_bytes(path.read_bytes().replace(b'"word 2"', b'"word 2'))
    result = only(tasks.source)
    assert texts(result) == [("user", "word 0"), ("assistant", "word 1"), ("assistant", "word 3")]
    assert len(result.bad_lines) == 1


def test_without_its_head_no_words_are_a_persons(tasks):
    path = tasks.shown(*[say(n, "text", f"word {n}") for n in range(3)])
    path.write_bytes(path.read_bytes().replace(b'"word 0"', b'"word 0'))
    result = only(tasks.source)
    assert texts(result) == [("assistant", "word 1"), ("assistant", "word 2")]
    assert len(result.bad_lines) == 1


def test_without_its_head_a_history_has_no_task(tasks):
    later = said([{"type": "text", "text": "<task>\nNot the first\n</task>"}])
    path = tasks.sent(said("<task>\nWhy?\n</task>"), later, said("So.", "assistant"))
    path.write_bytes(path.read_bytes().replace(b'</task>"', b"</task>", 1))
    result = only(tasks.source)
    assert texts(result) == [("assistant", "So.")]
    assert len(result.bad_lines) == 1


def test_words_behind_the_end_are_told(tasks):
    path = tasks.shown(say(0, "text", "Why?"))
    path.write_bytes(path.read_bytes() + path.read_bytes())
    result = only(tasks.source)
    assert texts(result) == [("user", "Why?")]
    assert [each.reason for each in result.bad_lines] == ["is followed by something else"]


@pytest.mark.parametrize(
    "data",
    [b"", b"\0" * 50, b"null", b"7", b"{}", b'"x"', b"[" * 5000, b"\xff\xfe", b'{"ts": 1}'],
)
@pytest.mark.parametrize("name", ["ui_messages.json", "api_conversation_history.json"])
def test_what_is_no_list_is_told(tasks, name, data):
    put(tasks.tasks / TASK / name, data)
    result = only(tasks.source)
    assert not result.messages
    assert result.bad_lines


STRANGE = [None, 7, "x", [], [None], [[]], {}, {"a": 1}, True, 1.5, 10**400, -1e999, "\ud800"]


@pytest.mark.parametrize("value", STRANGE)
def test_values_of_no_known_form(tasks, value):
    keys = ("ts", "type", "say", "text", "images", "modelInfo", "partial", "contextCondense")
    strange = [{**say(n, "text", "words"), key: value} for n, key in enumerate(keys, 1)]
    asked = [
        ask(20 + n, "followup", json.dumps({"question": "Q?", key: value}))
        for n, key in enumerate(("response", "selected", "question"))
    ]
    kinds = [{**say(30, "tool", json.dumps({"tool": "summarizeTask", "content": value}))}]
    kinds += [say(31, "api_req_started", json.dumps({"request": value}))]
    tasks.shown(say(0, "text", "Why?"), *strange, *asked, *kinds, value)
    beside = {"history_item.json": ("workspace", "parentTaskId")}
    beside |= {
        "task_metadata.json": ("model_usage",),
        "sdk_writeback.json": ("baseUiMessageCount",),
    }
    for name, fields in beside.items():
        tasks.beside(name, dict.fromkeys(fields, value))
    assert ("user", "Why?") in texts(only(tasks.source))
    for name in beside:
        tasks.beside(name, value)
    put(tasks.extension / "state" / "taskHistory.json", [value, {"id": value}])
    assert ("user", "Why?") in texts(only(tasks.source))


@pytest.mark.parametrize("value", STRANGE)
def test_values_of_no_known_form_in_histories_and_sessions(tasks, value):
    blocks = [{"type": value}, {"type": "text", "text": value}, {"type": "image", "source": value}]
    blocks += [{"type": "tool_use", "id": value, "name": value, "input": value}]
    blocks += [{"type": "tool_result", "tool_use_id": value, "content": value}, value]
    fields = ("role", "content", "ts", "modelInfo", "metadata", "compactionSummary")
    strange = [{**said("words", "assistant"), field: value} for field in fields]
    strange += [said(blocks), said(blocks, "assistant"), value]
    tasks.sent(said("<task>\nWhy?\n</task>"), *strange)
    assert texts(only(tasks.source))[0] == ("user", "Why?")
    tasks.session("s1", said("Why?"), *strange, manifest={"metadata": value}, compaction=strange)
    for name in ("metadata", "cwd", "started_at", "model", "workspace_root"):
        tasks.session("s1", said("Why?"), *strange, manifest={name: value})
    for name in ("fork", "title", "sessionHistoryOrigin"):
        tasks.session("s1", said("Why?"), *strange, manifest={"metadata": {name: value}})
        found, failures = items(tasks.source)
        assert failures == []
        said_first = [texts(read(tasks.source, item))[0] for item in found]
        assert said_first == [("user", "Why?")] * 2


def without(record, key, **more):
    return {name: value for name, value in record.items() if name != key} | more


def told_of(result):
    assert result.bad_lines == []
    return dict(result.unknown)


WORDED = [
    say(1, "text", "x"),
    say(1, "completion_result", "x"),
    say(1, "plan_completion_result", "x"),
    say(1, "user_feedback", "x"),
    say(1, "user_feedback_diff", "x"),
    say(1, "task_progress", "x"),
    ask(1, "followup", "x"),
    ask(1, "plan_mode_respond", "x"),
    ask(1, "completion_result", "x"),
    ask(1, "condense", "x"),
]


@pytest.mark.parametrize("record", WORDED, ids=lambda each: each.get("say") or each.get("ask"))
@pytest.mark.parametrize("lost", [{"texd": "x"}, {"text": None}, {"text": 7}])
def test_a_message_without_its_words_is_told(tasks, record, lost):
    tasks.shown(say(0, "text", "Why?"), without(record, "text", **lost))
    kind = f"{record['type']}: {record.get('say') or record.get('ask')}"
    result = only(tasks.source)
    assert (texts(result), told_of(result)) == ([("user", "Why?")], {kind: 1})


@pytest.mark.parametrize(
    "record",
    [
        say(1, "condense_context", contextCondense={"cost": 1, "sumary": "x"}),
        say(1, "condense_context", contextCondense=None),
        say(1, "tool", json.dumps({"tool": "summarizeTask", "contend": "x"})),
        ask(1, "new_task", json.dumps({"contexd": "x"})),
        ask(1, "followup", json.dumps({"questiom": "x", "options": []})),
    ],
)
def test_words_that_are_gone_from_inside_are_told(tasks, record):
    tasks.shown(say(0, "text", "Why?"), record)
    kind = f"{record['type']}: {record.get('say') or record.get('ask')}"
    assert told_of(only(tasks.source)) == {kind: 1}


def test_what_is_chosen_stays_when_its_question_is_gone(tasks):
    asked = ask(1, "followup", json.dumps({"questiom": "x", "selected": "Yes"}))
    tasks.shown(say(0, "text", "Why?"), asked)
    result = only(tasks.source)
    assert texts(result) == [("user", "Why?"), ("user", "Yes")]
    assert told_of(result) == {"ask: followup": 1}


def test_messages_that_need_no_words_are_not_told(tasks):
    tasks.shown(
        say(0, "text", "Why?"),
        without(say(1, "user_feedback", images=[PNG]), "text"),
        say(2, "user_feedback", "", files=["a.py"]),
        without(say(3, "completion_result", partial=False), "text"),
        without(say(5, "condense_context", partial=True), "text"),
        say(6, "text", ""),
        ask(7, "completion_result", ""),
        ask(8, "followup", json.dumps({"question": "", "options": []})),
        without(say(9, "checkpoint_created"), "text"),
        without(ask(10, "resume_completed_task"), "text"),
        say(11, "tool", json.dumps({"tool": "readFile"})),
    )
    assert told_of(only(tasks.source)) == {}


LOST_BLOCKS = [{"type": "text", "texd": "x"}, {"type": "text", "text": None}]
ASKED = {"type": "tool_use", "id": "t1", "name": "ask_followup_question"}
ENDED = {"type": "tool_use", "id": "t2", "name": "attempt_completion"}


def answer(*blocks):
    return {"type": "tool_result", "tool_use_id": "t1", "content": list(blocks)}


@pytest.fixture(params=["history", "session"])
def made(request, tasks):
    """What is told of messages behind a first one, in either form."""

    def told(*messages):
        first = said("<task>\nWhy?\n</task>" if request.param == "history" else typed("Why?"))
        if request.param == "history":
            tasks.sent(first, *messages)
        else:
            tasks.session("s1", first, *messages)
        result = only(tasks.source)
        assert texts(result)[0] == ("user", "Why?")
        return dict(result.unknown), len(result.bad_lines)

    return told


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_blocks_without_their_words_are_told(made, role):
    assert made(*(said([block], role) for block in LOST_BLOCKS)) == ({"text": 2}, 0)


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": 7}])
def test_messages_without_content_are_told(made, role, content):
    assert made(without(said("x", role), "content", **content)) == ({}, 1)


def test_questions_and_answers_without_their_words_are_told(made):
    questions = [ASKED | {"input": each} for each in ({"questiom": "x"}, {"question": 7}, None)]
    answers = said([answer(LOST_BLOCKS[0]), answer(LOST_BLOCKS[1])])
    assert made(said(questions, "assistant"), answers) == ({"tool_use": 3, "text": 2}, 0)


def test_blocks_that_need_no_words_are_not_told(made):
    agent = [text(""), ASKED | {"input": {}}, ENDED | {"input": {"result": ""}}]
    agent += [{"type": "tool_use", "id": "t3", "name": "read_file", "input": {"path": "a"}}]
    person = [without(answer(), "content"), answer(text("")), answer(text("no"))]
    assert made(said(agent, "assistant"), said(person), said([])) == ({}, 0)


@pytest.mark.parametrize("lost", [{"content": None}, {"content": [LOST_BLOCKS[0]]}])
def test_a_summary_without_its_words_is_told(tasks, lost):
    summary = said("x", metadata={"kind": "compaction_summary"})
    tasks.session("s1", said(typed("Why?")), without(summary, "content", **lost))
    result = only(tasks.source)
    assert len(result.bad_lines) + sum(result.unknown.values()) == 1


def test_a_file_that_is_too_large_is_told(tasks):
    tasks.shown(*talk())
    (item,), _ = items(tasks.source)
    path = tasks.tasks / TASK / "ui_messages.json"
    with path.open("r+b") as file:
        file.truncate(200 << 20)
    found, failures = items(tasks.source)
    assert found == []
    assert [failure.uri for failure in failures] == [str(path)]
    with pytest.raises(OSError, match="large"):
        read(tasks.source, item)


def test_damaged_records(tasks):
    tasks.shown(*talk())
    (item,), _ = items(tasks.source)
    assert_records_are_told(records(tasks.source, item), SEEDS)


WRITER = """
import json, sys
from agents.writer_loops import write_in_halves
from cline_kit import AT, say
def text_of(number):
    return json.dumps([say(0, "text", f"word {n}", ts=AT + n) for n in range(number + 2)])
write_in_halves(sys.argv[1], text_of)
"""


def test_a_file_that_another_process_is_writing(tasks):
    path = tasks.shown(say(0, "text", "word 0"))
    (item,), _ = items(tasks.source)
    with writing("-c", WRITER, path) as process:
        for number, state in halves(process, 5):
            count = number + (1 if state == "half" else 2)
            result = read(tasks.source, item)
            assert [each.text for each in result.messages] == [f"word {n}" for n in range(count)]
            assert [each.uid for each in result.messages] == [
                f"{AT}/{AT + n}/text" for n in range(count)
            ]
            assert bool(result.bad_lines) == (state == "half")
