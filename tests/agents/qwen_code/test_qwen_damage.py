"""Damaged logs: nothing raises, every loss is counted, nothing else is lost."""

from functools import partial

import pytest
from agents.line_logs import IMPOSSIBLE_STAMPS, glued, halved, results_of_damage, stamped, texts_of
from qwen_kit import NOW, Log, item_for, parse, parser

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
    assert found == CHAT
    assert len(result.bad_lines) == 1


@pytest.mark.parametrize("value", [None, [], {}, [None], 7, True, "", {"text": "x"}])
def test_fields_of_no_known_form(value):
    log = good()
    for kind in ("user", "assistant"):
        log.record(kind, message=value).record(kind, message={"parts": value})
        log.record(kind, message={"parts": [value, {"text": value, "inlineData": value}]})
    for kind in ("chat_compression", "custom_title", "parent_session"):
        log.record("system", kind, systemPayload=value)
    log.system("chat_compression", {"compressedHistory": value})
    log.system("chat_compression", {"compressedHistory": [value, {"parts": value}]})
    log.system("custom_title", {"customTitle": value})
    log.system("parent_session", {"parentSessionId": value})
    everything = dict.fromkeys(good().lines[0], value)
    log.lines.append(everything | {"forkedFrom": value, "agentId": value, "systemPayload": value})
    messages, _facts, result = parse(log)
    assert [m.text for m in messages if m.text != "x" and "[file" not in m.text] == CHAT
    told = result.records + sum(result.unknown.values()) + len(result.bad_lines)
    assert told == len(log.lines)


@pytest.mark.parametrize("stamp", IMPOSSIBLE_STAMPS)
def test_a_time_that_cannot_be_is_taken_for_none(stamp):
    messages = parse(stamped(good(), stamp))[0]
    assert [(m.approximate, m.at) for m in messages] == [(True, NOW)] * 2


@pytest.mark.parametrize("kind", ["user", "assistant"])
@pytest.mark.parametrize("part", [{"tixt": "x"}, {"text": None}, {"inlineDatb": {}}, 7])
def test_a_message_without_its_words_is_told(kind, part):
    log = good().parts(part, kind=kind).parts({"text": "kept"}, part, kind=kind)
    found, result = texts(log.data())
    assert (found, result.unknown) == ([*CHAT, "kept"], {kind: 2})


@pytest.mark.parametrize("kind", ["user", "assistant"])
def test_messages_that_need_no_words_are_not_told(kind):
    log = good().parts(kind=kind).parts({"functionCall": {"name": "x"}}, {}, kind=kind)
    log.parts({"text": "hm", "thought": True}, {"text": ""}, kind=kind)
    log.parts({"thoughtSignature": "c2ln"}, kind=kind)
    found, result = texts(log.data())
    assert (found, result.unknown) == (CHAT, {})


LOST = [
    {},
    {"compressedHistory": None},
    {"compressedHistori": []},
    {"compressedHistory": [{"role": "user"}]},
    {"compressedHistory": [{"role": "user", "parts": [{"tixt": "They met."}]}]},
    {"compressedHistory": [{"rolf": "user", "parts": [{"text": "They met."}]}]},
]


@pytest.mark.parametrize("payload", LOST)
def test_a_summary_without_its_words_is_told(payload):
    result = texts(good().system("chat_compression", payload).data())[1]
    assert result.unknown == {"system/chat_compression": 1}


def test_a_compressed_history_without_a_summary_is_not_told():
    entries = [{"role": role, "parts": [{"text": "x"}]} for role in ("model", "user", "user")]
    log = good().system("chat_compression", {"compressedHistory": []})
    log.system("chat_compression", {"compressedHistory": entries})
    assert texts(log.data())[1].unknown == {}


def rich():
    log = good().system("custom_title", {"customTitle": "Crane"})
    log.parts({"text": "see"}, {"inlineData": {"mimeType": "image/png", "data": "QUJD"}})
    log.parts({"text": "@a"}, {"text": "--- Content from referenced files ---"}, {"text": "x"})
    history = [{"role": "user", "parts": [{"text": "They met."}]}]
    log.system("chat_compression", {"compressedHistory": history})
    log.parts({"functionResponse": {"response": {"output": "x" * 300}}}, kind="tool_result")
    log.system("brand_new", {"text": "?"}).system("parent_session", {"parentSessionId": "p"})
    copied = {"sessionId": "old", "messageUuid": f"q{len(log.lines)}"}
    return log.user("<hook_context>a</hook_context> b", forkedFrom=copied).both("again", "yes")


@pytest.mark.parametrize("sample", [good, rich])
def test_500_mutations_never_raise_and_each_loss_is_counted(sample):
    for result in results_of_damage(parser, item_for, sample().data()):
        assert {message.session for message in result.messages} <= set(result.sessions)
