"""Damaged logs: nothing raises, every loss is counted, nothing else is lost."""

from functools import partial

import pytest
from agents.line_logs import IMPOSSIBLE_STAMPS, glued, halved, results_of_damage, stamped, texts_of
from copilot_kit import NOW, Log, item_for, parse, parser

CHAT = ["hello", "hi there"]
texts = partial(texts_of, parse)


def good():
    return Log().start().both(*CHAT)


def test_glued_records_zeros_and_a_mark_of_byte_order():
    found, result = texts(glued(good(), 1))
    assert found == CHAT
    assert [bad.reason for bad in result.bad_lines] == ["zero bytes"]


def test_an_event_behind_half_of_another_is_kept():
    found, result = texts(halved(good(), 1))
    assert found == CHAT
    assert len(result.bad_lines) == 1


@pytest.mark.parametrize(
    ("escaped", "expected"),
    [
        (b"build ok \\ud83d", "build ok \N{REPLACEMENT CHARACTER}"),
        (b"ship \\ud83d\\ude80", "ship \N{ROCKET}"),
        ("a\u2028b\u0085c".encode(), "a\u2028b\u0085c"),
    ],
)
def test_characters_that_trouble_others(escaped, expected):
    line = b'{"type":"user.message","id":"x","data":{"content":"%s"}}\n' % escaped
    assert texts(line + good().data())[0] == [expected, *CHAT]


@pytest.mark.parametrize("value", [None, [], {}, [None], 7, True, "", {"text": "x"}])
def test_fields_of_no_known_form(value):
    log = good()
    for kind in ("user.message", "assistant.message"):
        log.event(kind, {"content": value, "attachments": value, "source": value})
    log.event("session.compaction_complete", {"summaryContent": value})
    log.event("session.task_complete", {"summary": value})
    log.event("session.context_changed", {"cwd": value, "branch": value})
    log.event("session.model_change", {"newModel": value})
    log.event("session.title_changed", {"title": value})
    log.event("session.resume", {"context": value, "sessionId": value})
    log.lines.append({"type": value, "data": value, "id": value, "timestamp": value})
    messages, _facts, result = parse(log)
    assert [message.text for message in messages] == CHAT
    told = result.records + sum(result.unknown.values()) + len(result.bad_lines)
    assert told == len(log.lines)


@pytest.mark.parametrize("stamp", IMPOSSIBLE_STAMPS)
def test_a_time_that_cannot_be_is_taken_for_none(stamp):
    messages = parse(stamped(good(), stamp))[0]
    assert [(m.approximate, m.at) for m in messages] == [(True, NOW)] * 2


def rich():
    log = good().user("find it", agent="call_1").agent("found", agent="call_1")
    picture = {"type": "blob", "data": "QUJD", "mimeType": "image/png"}
    log.user("see", attachments=[picture]).event("session.model_change", {"newModel": "m"})
    log.event("session.compaction_complete", {"success": True, "summaryContent": "They met."})
    log.event("tool.execution_complete", {"result": {"content": "x" * 300}})
    log.event("session.brand_new", {"text": "?"})
    return log.event("session.resume", {"context": {"cwd": "/srv/other"}}).both("again", "yes")


@pytest.mark.parametrize("sample", [good, rich])
def test_500_mutations_never_raise_and_each_loss_is_counted(sample):
    for result in results_of_damage(parser, item_for, sample().data()):
        assert {message.session for message in result.messages} <= set(result.sessions)


PICTURE = {"type": "blob", "data": "QUJD", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("user.message", {"attachments": []}),
        ("user.message", {"content": None, "attachments": [PICTURE]}),
        ("user.message", {"content": 7}),
        ("user.message", {"content": ""}),
        ("user.message", {"content": "", "attachments": {}}),
        ("user.message", {"content": "", "attachments": [PICTURE, 7]}),
        ("assistant.message", {"toolRequests": []}),
        ("assistant.message", {"content": None}),
        ("assistant.message", {"content": ["hi"]}),
        ("session.compaction_complete", {"success": True, "checkpointPath": "/srv/1.md"}),
        ("session.compaction_complete", {"success": True, "summaryContent": 7}),
        ("session.task_complete", {"summary": {}}),
    ],
)
def test_an_event_without_its_words_is_told(kind, data):
    log = good().event(kind, data)
    _messages, _facts, result = parse(log)
    assert result.unknown == {kind: 1}
    assert result.records == len(log.lines) - 1


def test_what_versions_write_without_words_is_not_told():
    log = good().agent("", toolRequests=[{"name": "bash"}]).user("", attachments=[PICTURE])
    log.user("").event("user.message", {"content": "hello"}).event(
        "user.message", {"source": "skill-x"}
    )
    log.event("session.compaction_complete", {"success": False, "error": "no"})
    log.event("session.compaction_complete", {"success": True}).event("session.task_complete")
    log.event("session.compaction_complete", {"checkpointPath": "/srv/1.md", "summaryContent": ""})
    result = parse(log)[2]
    assert (dict(result.unknown), result.bad_lines) == ({}, [])
    assert result.records == len(log.lines)
