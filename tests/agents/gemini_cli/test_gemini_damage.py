"""Damaged logs: nothing raises, every loss is counted, nothing else is lost."""

import json
import os

import pytest
from gemini_kit import NAME, NOW, Log

from cloxy_core.testing.mutations import mutate

CHAT = ["hello", "hi there"]


def rich():
    log = Log().both(*CHAT).both("second", "two").line({"$rewindTo": "m2"})
    log.set(messages=[line for line in log.lines[:4] if "type" in line], summary="A chat")
    log.gemini("", toolCalls=[{"name": "x", "result": ["x" * 300]}])
    picture = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}
    log.message("user", [{"text": "see"}, picture], displayContent="see")
    return log.message("error", "quota").message("narrator", "?").both("again", "yes")


def texts(folder):
    messages, _facts, result = folder.parse()
    return [message.text for message in messages], result


def test_glued_lines_zeros_and_a_mark_of_byte_order(folder):
    lines = Log().both(*CHAT).data().split(b"\n")[:-1]
    data = b"\xef\xbb\xbf" + lines[0] + lines[1] + b"\n" + b"\0" * 200 + b"\n"
    folder.write(data + b"\n".join(lines[2:]))
    found, result = texts(folder)
    assert found == CHAT
    assert [bad.reason for bad in result.bad_lines] == ["zero bytes"]


def test_a_half_line_costs_itself(folder):
    data = Log().both(*CHAT).both("second", "two").data()
    folder.write(data[: data.index(b'"two"') + 2])
    found, result = texts(folder)
    assert found == [*CHAT, "second"]
    assert len(result.bad_lines) == 1


def test_whole_messages_of_a_cut_document_are_taken(folder):
    document = Log().both(*CHAT).both("second", "two").document()
    folder.write(document[: document.index(b'"two"') + 2], f"harbour/chats/{NAME}.json")
    found, result = texts(folder)
    assert found == [*CHAT, "second"]
    assert [bad.reason for bad in result.bad_lines] == ["not a JSON document"]


def test_half_of_a_pair_of_characters_and_large_numbers_do_no_harm(folder):
    log = Log().both("build ok X", "hi")
    log.lines[3]["timestamp"] = 10**40
    for ending, data in (("jsonl", log.data()), ("json", log.document())):
        path = folder.write(data.replace(b" X", b" \\ud83d"), f"harbour/chats/{NAME}.{ending}")
        found, result = texts(folder)
        assert found == ["build ok \N{REPLACEMENT CHARACTER}", "hi"]
        assert result.bad_lines == []
        path.unlink()


@pytest.mark.parametrize("value", [None, [], {}, [None], 7, True, "", {"text": "x"}])
def test_fields_of_no_known_form(folder, value):
    log = Log().both(*CHAT)
    for kind in ("user", "gemini", "info", value):
        log.message(kind, value, displayContent=value, model=value)
        log.message(kind, [value, {"text": value, "inlineData": value, "fileData": value}])
        log.message(kind, "", timestamp=value)
    log.line({"$set": value}).set(messages=value).set(messages=[value, {"id": value}])
    log.set(summary=value, directories=value, projectHash=value, startTime=value)
    log.line({"$rewindTo": value}).line(dict.fromkeys(["id", "type", "content"], value))
    folder.write(log)
    found, _result = texts(folder)
    assert [text for text in found if "x" not in text.split() and "[file" not in text] == CHAT


@pytest.mark.parametrize("stamp", [None, "9999-99-99", "1e400", {}, "2199-01-01T00:00:00Z"])
def test_a_time_that_cannot_be_is_taken_for_none(folder, stamp):
    log = Log(startTime=stamp, lastUpdated=stamp).both(*CHAT)
    log.lines = [line for line in log.lines if "$set" not in line]
    for line in log.lines[1:]:
        line["timestamp"] = stamp
    path = folder.write(log)
    os.utime(path, (NOW / 1000, NOW / 1000))
    assert [(m.approximate, m.at) for m in folder.parse()[0]] == [(True, NOW)] * 2


LOST = [
    {"contxnt": "hello"},
    {"content": None},
    {"content": 7},
    {"content": [{"tixt": "hello"}]},
    {"content": [{"text": None}]},
    {"content": [{"text": "see"}, {"inlineDatb": {"mimeType": "image/png", "data": "QUJD"}}]},
]


@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize("kind", ["user", "gemini"])
@pytest.mark.parametrize("content", LOST)
def test_a_message_without_its_words_is_told(folder, ending, kind, content):
    log = Log().both(*CHAT)
    made = log.make(kind, "")
    del made["content"]
    log.line(made | content)
    folder.write(log, f"harbour/chats/{NAME}.{ending}")
    found, result = texts(folder)
    assert (found[:2], result.unknown, result.bad_lines) == (CHAT, {kind: 1}, [])


def test_a_message_without_its_words_is_told_when_it_stood_there_before(folder):
    log = Log().user("hello").gemini("")
    log.line(log.lines[3] | {"content": None})
    folder.write(log)
    assert texts(folder)[1].unknown == {"gemini": 1}


def test_messages_that_need_no_words_are_not_told(folder):
    log = Log().both(*CHAT).gemini("", toolCalls=[{"name": "x"}]).message("user", [])
    log.message("gemini", [{"text": "hm", "thought": True}, {"functionCall": {"name": "x"}}])
    log.message("user", {"functionResponse": {"id": "t1"}}).message("gemini", [{}])
    log.message("gemini", [{"thoughtSignature": "c2ln"}]).message("info", None)
    folder.write(log)
    found, result = texts(folder)
    assert (found, result.unknown, result.bad_lines) == (CHAT, {}, [])


@pytest.mark.parametrize("damage", ["key", "null"])
@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_a_list_of_messages_that_is_none_is_told(folder, ending, damage):
    log = Log().both(*CHAT)
    messages = [line for line in log.lines if "type" in line]
    listed = {"messages": None} if damage == "null" else {"messagez": messages}
    if ending == "json":
        folder.write(log.lines[0] | listed, f"harbour/chats/{NAME}.json")
    else:
        log.lines = log.lines[:1]
        folder.write(log.set(**listed))
    found, result = texts(folder)
    assert (found, result.unknown) == ([], {"messages": 1})


@pytest.mark.parametrize("words", [{}, {"message": None}, {"massage": "hi"}])
def test_a_prompt_without_words_is_told(folder, words):
    entry = {"sessionId": "old", "messageId": 0, "type": "user"}
    whole = entry | {"messageId": 1, "message": "hi"}
    folder.write([entry | words, whole], "harbour/logs.json")
    found, result = texts(folder)
    assert (found, result.unknown) == (["hi"], {"prompt": 1})


def is_whole(line):
    try:
        return isinstance(json.loads(line.decode("utf-8", "replace"), strict=False), dict)
    except (ValueError, RecursionError):
        return False


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_500_mutations_never_raise_and_each_loss_is_counted(folder, ending):
    whole = rich().data() if ending == "jsonl" else rich().document()
    path = folder.write(whole, f"harbour/chats/{NAME}.{ending}")
    expected = len(folder.parse()[0])
    damaged = 0
    for seed in range(500):
        data = mutate(whole, seed)
        path.write_bytes(data)
        messages, facts, result = folder.parse()
        json.dumps(result.state)
        told = len(result.bad_lines) + sum(result.unknown.values())
        if ending == "json":
            assert told > 0 or is_whole(data.lstrip(b"\xef\xbb\xbf")) or len(messages) == expected
        else:
            broken = [line for line in data.split(b"\n") if line.strip() and not is_whole(line)]
            recovered = sum(line.count(b'"type"') > 0 for line in broken)
            assert told >= len(broken) - recovered
        damaged += bool(result.bad_lines)
        ids = [(message.session, message.uid) for message in messages]
        assert len(set(ids)) == len(ids)
        assert all(message.text and message.session for message in messages)
        assert {message.session for message in messages} <= set(facts)
    assert damaged > 200


def test_500_mutations_of_a_list_of_prompts(folder):
    entry = {"sessionId": "old", "messageId": 0, "type": "user", "message": "hi"}
    whole = json.dumps([entry | {"messageId": n} for n in range(5)]).encode()
    path = folder.write(whole, "harbour/logs.json")
    assert len(folder.parse()[0]) == 5
    for seed in range(500):
        path.write_bytes(mutate(whole, seed))
        messages, _facts, result = folder.parse()
        json.dumps(result.state)
        if not messages:
            assert len(result.bad_lines) + sum(result.unknown.values()) > 0
