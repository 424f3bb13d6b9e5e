"""Damaged logs: nothing raises, every loss is counted, nothing else is lost."""

import json

import pytest
from droid_kit import NOW, Log, item_for, parse, parser, text

from cloxy_core.testing.fakes import raw_lines
from cloxy_core.testing.mutations import mutate
from cloxy_hookspecs import RawLine

CHAT = ["hello", "hi there"]


def good():
    return Log().both(*CHAT)


def texts(data):
    messages, _facts, result = parse(data)
    return [message.text for message in messages], result


def test_glued_records_zeros_and_a_mark_of_byte_order():
    lines = good().data().split(b"\n")[:-1]
    data = b"\xef\xbb\xbf" + lines[0] + lines[1] + b"\n" + b"\0" * 200 + b"\n" + lines[2] + b"\n"
    found, result = texts(data)
    assert found == CHAT
    assert [bad.reason for bad in result.bad_lines] == ["zero bytes"]


def test_a_record_behind_half_of_another_is_kept():
    lines = good().data().split(b"\n")[:-1]
    found, result = texts(b"\n".join([lines[0], lines[1][:50] + lines[2]]))
    assert found == CHAT[1:]
    assert len(result.bad_lines) == 1


def test_a_line_that_is_too_long_is_told():
    line = RawLine(0, 100, b"", dropped=99)
    result = parser().parse(item_for(), [line], {})
    assert [bad.reason for bad in result.bad_lines] == ["a line of 99 bytes is too long"]
    assert result.silent is False


@pytest.mark.parametrize("value", [None, [], {}, [None], 7, True, "", {"text": 1}, 9**400])
def test_fields_of_no_known_form(value):
    log = good()
    for kind in ("user", "assistant", "system"):
        log.says(kind, value).says(kind, [value, {"type": value}, {"type": "text", "text": value}])
        log.says(kind, [{"type": "image", "source": value}, {"type": "document", "name": value}])
        log.record("message", id=value, timestamp=value, message=value)
    log.record("message", id=value, message={"role": value, "content": value})
    log.record("compaction_state", summary=value, summaryText=value, timestamp=value)
    log.record("session_start", session=value, id=value, title=value, parent=value, cwd=value)
    log.record("session_start", callingSessionId=value, forkedAtMessageId=value)
    log.record(value)
    messages, _facts, result = parse(log)
    assert [m.text for m in messages if "[" not in m.text] == CHAT
    told = result.records + sum(result.unknown.values()) + len(result.bad_lines)
    assert told >= len(log.lines)


@pytest.mark.parametrize("stamp", [None, "9999-99-99", "1e400", 7, {}, "2199-01-01T00:00:00Z"])
def test_a_time_that_cannot_be_is_taken_for_none(stamp):
    log = good()
    for line in log.lines:
        line["timestamp"] = stamp
    assert [(m.approximate, m.at) for m in parse(log)[0]] == [(True, NOW)] * 2


def test_a_state_of_no_known_form_is_no_state():
    lines = raw_lines(good().data())
    state = {key: [7] for key in parser().parse(item_for(), lines, {}).state}
    assert len(parser().parse(item_for(), lines, state).messages) == 2


def rich():
    log = Log(title="Crane", parent="up", forkedAtMessageId="d2").both("one", "two")
    log.says("user", [text("see"), {"type": "image", "source": {"data": "QUJD"}}]).tool()
    log.record("compaction_state", id="c", timestamp=log.stamp(), summary={"body": "They met."})
    log.record("brand_new", text="?").user("<system-reminder>a</system-reminder> b")
    return log.user("x", userMessageSource="automation").both("again", "yes")


@pytest.mark.parametrize("sample", [good, rich])
def test_500_mutations_never_raise_and_each_loss_is_counted(sample):
    data = sample().data()
    for seed in range(500):
        mutant = mutate(data, seed)
        lines = raw_lines(mutant)
        result = parser().parse(item_for(mutant), lines, {})
        json.dumps(result.state)
        full = sum(1 for line in lines if line.data.strip())
        told = result.records + sum(result.unknown.values()) + len(result.bad_lines)
        assert told >= full, "each line is understood, of an unknown kind, or damaged"
        places = {(line.start, line.end) for line in lines}
        assert all((each.start, each.end) in places for each in result.bad_lines)
        ids = [(message.session, message.uid) for message in result.messages]
        assert len(set(ids)) == len(ids)
        assert all(message.text and message.session for message in result.messages)
        assert {message.session for message in result.messages} <= set(result.sessions)


def test_a_block_of_text_without_text_is_told():
    log = good().says("assistant", [{"type": "text", "txt": "lost"}])
    found, result = texts(log.data())
    assert (found, result.unknown) == (CHAT, {"block/text without text": 1})


@pytest.mark.parametrize("block", [{"type": "text", "text": None}, {"type": "text"}, 7, None, []])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_each_block_that_is_none_of_a_known_form_is_told(role, block):
    found, result = texts(good().says(role, [text("kept"), block]).data())
    assert (found, sum(result.unknown.values())) == ([*CHAT, "kept"], 1)


SUMMARIES = [{"sumary": {"body": "x"}}, {"summary": {"bodi": "x"}}, {"summary": {"title": "x"}}]


@pytest.mark.parametrize("lost", [{}, {"summary": None}, {"summaryText": 7}, *SUMMARIES])
def test_a_summary_without_its_words_is_told(lost):
    _found, result = texts(good().record("compaction_state", id="c", **lost).data())
    assert result.unknown == {"compaction_state": 1}
    assert result.silent is False


@pytest.mark.parametrize(
    "whole", [{"summary": ""}, {"summaryText": "x"}, {"summary": {"body": ""}, "summaryText": ""}]
)
def test_records_that_need_no_words_are_not_told(whole):
    log = good().record("compaction_state", id="c", **whole).says("user", [])
    log.says("assistant", [{"type": "thinking"}, {"type": "tool_use", "id": "t"}, text("")])
    assert texts(log.data())[1].unknown == {}
