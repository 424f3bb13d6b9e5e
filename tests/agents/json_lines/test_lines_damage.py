"""Damaged logs: nothing raises, every loss is counted, nothing else is lost."""

import json
from functools import partial

import pytest
from agents.line_logs import texts_of
from lines_kit import PLAIN, item_for, lines, parse, parser, says

from cloxy_core.testing.fakes import raw_lines
from cloxy_core.testing.mutations import mutate
from cloxy_hookspecs import RawLine

CHAT = ["hello", "hi there"]


def good():
    return [says("user", CHAT[0], "a", session="s1"), says("assistant", CHAT[1], "ab")]


texts = partial(texts_of, parse)


def test_glued_records_zeros_and_a_mark_of_byte_order():
    first, second = lines(*good()).split(b"\n")[:-1]
    found, result = texts(b"\xef\xbb\xbf" + first + second + b"\n" + b"\0" * 200 + b"\n\n")
    assert found == CHAT
    assert [bad.reason for bad in result.bad_lines] == ["zero bytes"]


def test_a_record_behind_half_of_another_is_kept():
    half = json.dumps({"uid": "x", "said": {"by": "user"}})[:20].encode()
    whole = json.dumps({"uid": "b", "said": says("user", "hello")["said"]}).encode()
    found, result = texts(half + whole + b"\n")
    assert found == ["hello"]
    assert len(result.bad_lines) == 1


def test_what_is_no_object_or_too_long_is_told():
    found, result = texts(b"[1]\n7\nnull\nnot json\n" + lines(*good()))
    assert found == CHAT
    assert len(result.bad_lines) == 4
    result = parser().parse(item_for(), [RawLine(0, 100, b"", dropped=99)], {})
    assert [bad.reason for bad in result.bad_lines] == ["a line of 99 bytes is too long"]


@pytest.mark.parametrize(
    "value", [None, [], {}, [None], 7, True, "", {"text": 1}, 9**400, "x" * 9999]
)
def test_fields_of_no_known_form(value):
    fields = ("session", "cwd", "branch", "model", "parent", "agent")
    data = [
        *good(), {"kind": "title", "title": value}, {"said": value}, {"said": {"by": value}},
        {"said": {"by": "user", "parts": value}}, {"said": {"by": "user", "parts": [value]}},
        {"said": {"by": "user", "parts": [{"type": "text", "text": value}]}},
        {"uid": value, "at": value, "meta": value},
        *({"meta": {name: value}} for name in fields),
        {**says("user", "odd", "abc"), "uid": value, "at": value},
    ]  # fmt: skip
    messages, _facts, result = parse(data)
    assert [m.text for m in messages if m.text in CHAT] == CHAT
    told = result.records + sum(result.unknown.values()) + len(result.bad_lines)
    assert told == len(data)


def test_a_state_of_no_known_form_is_no_state():
    read = raw_lines(lines(*good()))
    state = {key: [7] for key in parser().parse(item_for(), read, {}).state}
    assert len(parser().parse(item_for(), read, state).messages) == 2


def rich():
    return [
        {"kind": "start", "meta": {"session": "s1", "cwd": "/srv/x", "model": "m"}}, *good(),
        says("tool", "x" * 300), says("user", "again", agent="scout"), says("weird", "?"),
        {"kind": "title", "title": "Crane"}, says("assistant", "yes", session="s2"),
    ]  # fmt: skip


@pytest.mark.parametrize("sample", [good, rich])
@pytest.mark.parametrize("words", [PLAIN, PLAIN + 'where = { kind = "message" }\n'])
def test_500_mutations_never_raise_and_each_loss_is_counted(sample, words):
    data = lines(*sample())
    made = parser(words)
    for seed in range(500):
        mutant = mutate(data, seed)
        read = raw_lines(mutant)
        result = made.parse(item_for(mutant), read, {})
        json.dumps(result.state)
        full = sum(1 for line in read if line.data.strip())
        told = result.records + sum(result.unknown.values()) + len(result.bad_lines)
        assert told >= full, "each line is understood, of an unknown kind, or damaged"
        ids = [(message.session, message.uid) for message in result.messages]
        assert len(set(ids)) == len(ids)
        assert all(message.text and message.session for message in result.messages)
        assert {message.session for message in result.messages} <= set(result.sessions)
        assert all(isinstance(made.explain(line), str) for line in read)


def test_a_message_without_a_field_of_words_is_told():
    data = [*good(), {"said": {"by": "user", "prts": []}}]
    renamed = {"said": {"by": "assistant", "parts": [{"type": "text", "txt": "lost"}]}}
    tools = {"said": {"by": "assistant", "parts": [{"type": "tool"}]}}
    empty = {"said": {"by": "assistant", "parts": []}}
    _messages, _facts, result = parse([*data, renamed, tools, empty])
    assert result.unknown == {"role user without text": 1, "role assistant without text": 1}


def test_a_message_whose_words_may_stand_in_several_places_has_to_have_one():
    words = 'role = "role"\ntext = ["[type=new].body.parts[].text", "content"]\n'
    for record, lost in [
        ({"type": "new", "body": {"parts": [{"image": 1}]}}, False),
        ({"type": "new", "body": {"prts": []}}, True),
        ({"type": "old", "content": None}, False),
        ({"type": "old", "contnt": "lost"}, True),
    ]:
        _messages, _facts, result = parse([{"role": "user", **record}], words)
        assert result.unknown == ({"role user without text": 1} if lost else {}), record
