"""Damaged rollouts: nothing raises, every loss is counted, nothing else is lost."""

from functools import partial

import pytest
from agents.line_logs import TIMES, glued, halved, results_of_damage, texts_of
from codex_kit import START, THREAD, Log, item_for, parse, parser, uuid7

CHAT = ["hello", "hi there"]
texts = partial(texts_of, parse)


def good():
    return Log().meta().both(*CHAT)


def test_two_records_on_one_line_and_zeros_and_a_mark_of_byte_order():
    found, result = texts(glued(good(), 1))
    assert found == CHAT
    assert [bad.reason for bad in result.bad_lines] == ["zero bytes"]


def test_a_record_behind_half_of_another_is_kept():
    found, result = texts(halved(good(), 1))
    assert found == CHAT
    assert len(result.bad_lines) == 1


@pytest.mark.parametrize(
    ("escaped", "expected"),
    [
        (b"build ok \\ud83d", "build ok \N{REPLACEMENT CHARACTER}"),
        (b"ship \\ud83d\\ude80", "ship \N{ROCKET}"),
        (b"a\\u2028b\\u0085c\\u0000d", "a\u2028b\u0085c\0d"),
        ("a\u2028b\u0085c".encode(), "a\u2028b\u0085c"),
    ],
)
def test_characters_that_trouble_others(escaped, expected):
    line = b'{"type":"event_msg","payload":{"type":"user_message","message":"%s"}}\n' % escaped
    assert texts(line + good().data()) == ([expected, *CHAT], texts(line + good().data())[1])


def test_a_line_end_of_windows_is_one():
    assert texts(good().data().replace(b"\n", b"\r\n"))[0] == CHAT


@pytest.mark.parametrize("content", [None, [], {}, [None], [[]], [{"text": "x"}], 7, [{"type": 7}]])
@pytest.mark.parametrize("role", ["user", "assistant", None, 7])
def test_contents_of_no_known_form(content, role):
    log = Log().meta()
    payload = {"type": "message", "role": role, "content": content}
    log.line("response_item", payload).bare(payload)
    log.event("user_message", message=content, images=content, local_images=content)
    log.event("agent_message", message=content).done("AgentMessage", None, content=content)
    log.done("UserMessage", None, content=content).done("Plan", None, text=content)
    log.line("compacted", {"message": content}).line("turn_context", {"turn_id": content})
    log.event("task_started", turn_id=content, started_at=content)
    log.line("session_meta", {"id": content, "source": content, "git": content})
    log.event("item_completed", item=content).both(*CHAT)
    assert [m.text for m in parse(log)[0]] == CHAT


@pytest.mark.parametrize("stamp", [None, "9999-99-99", "1e400", 7, {}, "2199-01-01T00:00:00Z"])
def test_a_time_that_cannot_be_is_taken_for_none(stamp):
    log = Log().meta().both(*CHAT)
    for line in log.lines[1:]:
        line["timestamp"] = stamp
    assert [m.approximate for m in parse(log)[0]] == [True, True]


def rich():
    """A rollout with a bit of everything."""
    log = Log().meta().turn(uuid7(START, 1)).both(*CHAT)
    log.item("user", {"type": "input_image", "image_url": "data:image/png;base64,QUJD"})
    log.done("Plan", None, text="# Plan").item("assistant", "<proposed_plan># Plan</proposed_plan>")
    log.line("compacted", {"message": "They greeted.", "replacement_history": [{}]})
    log.turn(uuid7(START, 2)).done("UserMessage", "go").done("AgentMessage", "gone")
    log.meta(uuid7(START, 3)).meta()
    return log.item("user", "<environment_context><cwd>/srv</cwd></environment_context>")


def bare():
    log = Log().bare({"id": THREAD, "instructions": None, "timestamp": "2026-05-02T09:00:00Z"})
    for role, text in (("user", "hello"), ("assistant", "hi there")):
        log.bare({"type": "message", "role": role, "content": [{"type": "x", "text": text}]})
        log.bare({"type": "message", "role": role, "content": text})
    return log


@pytest.mark.parametrize("sample", [good, rich, bare])
def test_mutations_never_raise_and_each_loss_is_counted(sample):
    results = list(results_of_damage(parser, item_for, sample().data()))
    assert len(results) == TIMES


ODD = [None, 7, {}, "absent"]


def with_odd(record, key, value):
    """A record whose key holds something else, or is not there."""
    rest = {name: each for name, each in record.items() if name != key}
    return rest if value == "absent" else {**rest, key: value}


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize(
    ("kind", "payload", "key", "name"),
    [
        ("response_item", {"type": "message", "role": "user"}, "content", "message/user"),
        ("response_item", {"type": "message", "role": "assistant"}, "content", "message/assistant"),
        ("event_msg", {"type": "user_message", "images": []}, "message", "event_msg/user_message"),
        ("event_msg", {"type": "agent_message"}, "message", "event_msg/agent_message"),
        ("compacted", {"replacement_history": []}, "message", "compacted"),
        ("session_meta", {"cwd": "/srv"}, "id", "session_meta"),
    ],
)
def test_a_record_without_its_words_is_told(kind, payload, key, name, value):
    log = Log().meta().line(kind, with_odd(payload, key, value)).both(*CHAT)
    messages, _facts, result = parse(log)
    assert [message.text for message in messages] == CHAT
    assert result.unknown == {name: 1}
    assert result.records == len(log.lines) - 1


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize(
    ("item", "key"), [("UserMessage", "content"), ("AgentMessage", "content"), ("Plan", "text")]
)
def test_a_completed_item_without_its_words_is_told(item, key, value):
    log = Log().meta().done(item, None, **with_odd({}, key, value)).both(*CHAT)
    assert parse(log)[2].unknown == {f"item_completed/{item}": 1}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_text"},
        {"type": "input_text", "text": None},
        {"text": "hello"},
        {"type": "npu", "text": "x"},
        7,
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_part_without_its_words_is_told(role, part):
    payload = {"type": "message", "role": role, "content": [part]}
    log = Log().meta().line("response_item", payload).bare(payload).both(*CHAT)
    assert parse(log)[2].unknown == {f"message/{role}": 2}


def test_an_event_of_an_unknown_speaker_is_told():
    log = Log().meta().event("user_message", message="hello", kind="plaim")
    log.event("user_message", message="<x>", kind="environment_context")
    _messages, _facts, result = parse(log)
    assert result.unknown == {"event_msg/user_message": 1}
    assert not result.silent


def test_what_versions_write_without_words_is_not_told():
    log = (
        Log().meta().event("user_message", message="").event("user_message", message="", images=[])
    )
    for role in ("user", "assistant"):
        log.item(role).line("response_item", {"type": "message", "role": role, "content": ""})
    log.line("compacted", {"message": ""}).done("AgentMessage", None, text="hi")
    log.done("AgentMessage", "hi").event("task_complete", last_agent_message=None)
    result = parse(log)[2]
    assert (dict(result.unknown), result.bad_lines) == ({}, [])
    assert result.records == len(log.lines)
