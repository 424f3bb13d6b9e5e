"""Damaged logs: nothing raises, every loss is counted, nothing else is lost."""

from functools import partial

import pytest
from agents.line_logs import IMPOSSIBLE_STAMPS, glued, halved, results_of_damage, stamped, texts_of
from droid_kit import NOW, Log, item_for, parse, parser, text

from cloxy_core.testing.fakes import raw_lines
from cloxy_hookspecs import RawLine

CHAT = ["hello", "hi there"]
texts = partial(texts_of, parse)


def good():
    return Log().both(*CHAT)


def test_glued_records_zeros_and_a_mark_of_byte_order():
    found, result = texts(glued(good(), 0))
    assert found == CHAT
    assert [bad.reason for bad in result.bad_lines] == ["zero bytes"]


def test_a_record_behind_half_of_another_is_kept():
    found, result = texts(halved(good(), 1))
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


@pytest.mark.parametrize("stamp", IMPOSSIBLE_STAMPS)
def test_a_time_that_cannot_be_is_taken_for_none(stamp):
    messages = parse(stamped(good(), stamp))[0]
    assert [(m.approximate, m.at) for m in messages] == [(True, NOW)] * 2


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
    for result in results_of_damage(parser, item_for, sample().data()):
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
