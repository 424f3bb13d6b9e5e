"""Damaged lines: what can be recovered is, the rest is counted, nothing is raised."""

import json

import pytest
from claude_logs import dumped, record, text

from cloxy_hookspecs import RawLine, SourceItem

U1, U2, U3 = (record("user", f"u{n}", f"text {n}") for n in (1, 2, 3))


def raw(line):
    return json.dumps(line).encode()


def uids(result):
    return [m.uid for m in result.messages]


def test_glued_damaged_and_marked_lines(logs):
    result = logs.result(
        b"\xef\xbb\xbf" + raw(U1), raw(U2) + raw(U3), b"\0" * 200, raw(record("user", "u4", "x"))
    )

    assert uids(result) == ["u1", "u2", "u3", "u4"]
    assert [bad.reason for bad in result.bad_lines] == ["zero bytes"]


def test_glued_records_carry_the_place_of_their_line(logs):
    result = logs.result(raw(U1), raw(U2) + raw(U3))
    first = len(raw(U1)) + 1

    assert [(m.start, m.end) for m in result.messages] == [
        (0, first),
        (first, first + len(raw(U2) + raw(U3)) + 1),
        (first, first + len(raw(U2) + raw(U3)) + 1),
    ]


def test_record_behind_zero_bytes_is_recovered_and_the_hole_counted(logs):
    result = logs.result(b"\0" * 500 + raw(U1))

    assert uids(result) == ["u1"]
    assert len(result.bad_lines) == 1


@pytest.mark.parametrize("cut", range(2, len(raw(U1)) - 1, 7))
def test_record_behind_a_half_one_is_recovered(logs, cut):
    result = logs.result(raw(U1)[:cut] + raw(U2), raw(U3))

    assert uids(result)[-2:] == ["u2", "u3"]
    assert len(result.bad_lines) == 1


def test_part_of_a_half_record_is_not_taken_for_a_record(logs):
    inner = record("user", "u9", "quoted")
    del inner["sessionId"]
    outer = raw(record("progress", "p1", data={"message": inner}))

    result = logs.result(outer[:-2], b'{"type":"assistant","message":{"type":"text","text":"x"},')

    assert len(result.bad_lines) == 2
    assert not result.messages


def test_invalid_utf8_and_half_pairs_are_replaced(logs):
    result = logs.result(
        raw(U1).replace(b"text 1", b"caf\xe9 \xff"),
        raw(U2).replace(b"text 2", rb"build ok \ud83d"),
        raw(U3).replace(b"text 3", rb"ship \ud83d\ude80 \\ud83d \ude80"),
    )

    assert [m.text for m in result.messages] == [
        "caf\ufffd \ufffd",
        "build ok \ufffd",
        "ship \U0001f680 \\ud83d \ufffd",
    ]
    # A half pair is what a program writes that cuts a text; bytes that are no text are damage.
    assert [bad.reason for bad in result.bad_lines] == ["bytes that are no UTF-8"]


@pytest.mark.parametrize("inside", ["a\u2028b", "a\u0085b", "a\x0bb", "a\x00b", "a\u2029b\x1cc"])
def test_odd_characters_stay_in_their_line(logs, inside):
    escaped = raw(record("user", "u1", inside))
    plain = json.dumps(record("user", "u2", inside), ensure_ascii=False).encode()

    assert logs.said(escaped, plain) == [inside, inside]


@pytest.mark.parametrize("line", [b'"massive error"', b"42", b"[1]", b"null", b"true", b"[" * 90])
def test_other_json_is_counted(logs, line):
    result = logs.result(line, raw(U1))

    assert uids(result) == ["u1"]
    assert len(result.bad_lines) == 1


def test_blank_lines_are_nothing(logs):
    result = logs.result(b"", b"  \r", b"\t", raw(U1))

    assert uids(result) == ["u1"]
    assert not result.bad_lines


@pytest.mark.parametrize("depth", [900, 1500, 5000, 200_000])
def test_deep_nesting_is_survived(logs, depth):
    deep = (
        b'{"type":"user","uuid":"d","sessionId":"s-aaa","x":' + b"[" * depth + b"]" * depth + b"}"
    )
    objects = b'{"a":' * depth + b"1" + b"}" * depth

    result = logs.result(deep, objects, raw(U1))

    assert uids(result) == ["u1"]


def test_nan_and_huge_numbers_do_not_hide_the_words(logs):
    result = logs.result(
        raw(U1)[:-1] + b', "usage": NaN}',
        raw(U2)[:-1] + b', "usage": [Infinity, -Infinity, 1e999]}',
        raw(U3)[:-1] + b', "usage": ' + b"7" * 5000 + b"}",
    )

    assert uids(result) == ["u1", "u2", "u3"]


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        [None],
        [[]],
        [[{"type": "text", "text": "nested"}]],
        [{"type": "text"}],
        [{"type": "text", "text": None}],
        [{"type": "text", "text": 7}],
        [{"type": []}],
        [{"type": {"a": 1}}],
        [7, "bare", True],
        7,
        True,
    ],
)
@pytest.mark.parametrize("kind", ["user", "assistant"])
def test_odd_contents_hide_nothing_else(logs, kind, content):
    odd = {**record(kind, "x1"), "message": {"role": kind, "content": content}}

    assert uids(logs.result(odd, raw(U1))) == ["u1"]


def test_odd_blocks_hide_no_words(logs):
    content = [None, {"type": "new_block", "x": 1}, *text("kept"), "bare", 7]

    assert logs.said(record("user", "u1", content)) == ["kept"]


@pytest.mark.parametrize("message", ["error", None, 7, [], ["x"]])
def test_odd_messages_hide_nothing_else(logs, message):
    result = logs.result({**record("user", "u1"), "message": message}, raw(U1))

    assert [m.text for m in result.messages] == ["text 1"]


@pytest.mark.parametrize(
    "line",
    [
        {"type": "attachment", "attachment": "x"},
        {"type": "attachment", "attachment": {"type": []}},
        {"type": "attachment", "attachment": {"type": "queued_command", "commandMode": "prompt"}},
        {"type": "attachment", "attachment": {"type": "goal_status", "condition": 7}},
        {"type": "attachment", "attachment": {"type": "plan_file_reference"}},
        {"type": "system", "subtype": "away_summary", "content": 7},
        {"type": "system", "subtype": []},
        {"type": "summary", "summary": {}, "leafUuid": []},
        {"type": "ai-title", "aiTitle": []},
        {"type": "pr-link", "prUrl": []},
        {"type": "pr-link", "prUrl": "https://x", "prNumber": [], "prRepository": {}},
        {"type": []},
        {"type": {"a": 1}},
        {},
        record("user", ["odd"], "x", cwd=7, gitBranch=[], agentId={}, forkedFrom="x", origin=[]),
        record("user", {}, "x", sessionId=[], isSidechain="yes", entrypoint=7, promptSource=[]),
        record("assistant", 7, text("x"), timestamp={}, forkedFrom={"sessionId": 7}),
    ],
)
def test_odd_fields_hide_nothing_else(logs, line):
    assert uids(logs.result(line, raw(U1)))[-1] == "u1"


def test_line_above_the_limit_is_counted(logs):
    item = SourceItem(logs.uri, "1:1", 100, 0)
    good = raw(U1)
    lines = [
        RawLine(0, 5, b"", dropped=20_000_000),
        RawLine(5, 5 + len(good), good, finished=False),
    ]

    result = logs.parser.parse(item, lines, {})

    assert uids(result) == ["u1"]
    assert [(bad.start, bad.end) for bad in result.bad_lines] == [(0, 5)]
    assert "20000000 bytes" in result.bad_lines[0].reason


@pytest.mark.parametrize(
    "state",
    [
        {"sessions": 7, "last": [], "recent": {}, "said": "x", "silent": None},
        {"sessions": {"s": 7, "t": [1], "u": ["x", 1, 1]}, "recent": [7], "said": [None]},
        {"unknown": 1},
    ],
)
def test_odd_state_is_forgiven(logs, state):
    assert uids(logs.result(raw(U1), state=state)) == ["u1"]


def test_bad_lines_do_not_repeat_the_text(logs):
    result = logs.result(b'{"type":"user","message":"hunter2', dumped(U1)[:-1])

    assert all("hunter2" not in bad.reason for bad in result.bad_lines)


def test_line_of_very_many_values_is_given_up(logs):
    result = logs.result(b"1 " * 500_000, raw(U1))

    assert uids(result) == ["u1"]
    assert len(result.bad_lines) == 1


def attached(**attachment):
    return record("attachment", "a1", attachment=attachment)


@pytest.mark.parametrize("kind", ["user", "assistant"])
@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("error", "(no message)"),
        (None, "(no message)"),
        ({"role": "user"}, "(no content)"),
        ({"role": "user", "content": None}, "(no content)"),
        ({"role": "user", "content": {}}, "(no content)"),
        ({"role": "user", "content": 7}, "(no type)"),
        ({"role": "user", "content": [{"text": "hi"}]}, "(no type)"),
        ({"role": "user", "content": ["hi"]}, "(no type)"),
        ({"role": "user", "content": [{"type": "text"}]}, "text"),
        ({"role": "user", "content": [{"type": "text", "text": None}]}, "text"),
        ({"role": "user", "content": [{"type": "thinking"}, {"type": "texU"}]}, "texU"),
    ],
)
def test_a_message_without_its_words_is_told(logs, kind, message, name):
    result = logs.result({**record(kind, "x1"), "message": message}, U1)

    assert uids(result) == ["u1"]
    assert dict(result.unknown) == {f"{kind}/{name}": 1}
    assert result.records == 1
    assert not result.silent


def test_a_message_under_another_name_is_told(logs):
    lost = {**record("user", "x1"), "mesrage": {"role": "user", "content": "hi"}}

    assert dict(logs.result(lost, U1).unknown) == {"user/(no message)": 1}


def test_words_beside_a_block_that_is_not_known_are_kept(logs):
    result = logs.result(record("assistant", "a1", [*text("kept"), {"type": "novel"}]))

    assert [m.text for m in result.messages] == ["kept"]
    assert dict(result.unknown) == {"assistant/novel": 1}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (record("attachment", "a1"), "attachment"),
        (attached(type="queued_command", commandMode="prompt"), "attachment/queued_command"),
        (attached(type="queued_command", prompt="hi"), "attachment/queued_command"),
        (
            attached(type="queued_command", commandMode="promp", prompt="hi"),
            "attachment/queued_command",
        ),
        (attached(commandMode="prompt", prompt="hi"), "attachment/(no type)"),
        (attached(type="queued_X", commandMode="prompt", prompt="hi"), "attachment/queued_X"),
        (attached(type="goal_status", condition=7), "attachment/goal_status"),
        (attached(type="goal_stXtus", condition="done"), "attachment/goal_stXtus"),
        (attached(type="plan_file_reference"), "attachment/plan_file_reference"),
        (attached(type="plan", planContent="# Plan"), "attachment/plan"),
        (record("system", "s1", subtype="away_summary"), "system/away_summary"),
        ({**record("system", "s1", subtype="away"), "content": "They met."}, "system/away"),
        (record("system", "s1", summary="They met."), "system/(no type)"),
        (record("summary", None, leafUuid="u1"), "summary"),
        (record("ai-title", None), "ai-title"),
        (record("custom-title", None, customTitle=7), "custom-title"),
        (record("pr-link", None, prNumber=7), "pr-link"),
    ],
)
def test_a_record_without_its_words_is_told(logs, line, name):
    result = logs.result(line, U1)

    assert uids(result) == ["u1"]
    assert dict(result.unknown) == {name: 1}


def test_what_versions_write_without_words_is_not_told(logs):
    lines = [
        *(record(kind, "x1", content) for kind in ("user", "assistant") for content in ("", [])),
        *(record(kind, "x1") for kind in ("user", "assistant")),
        record(
            "user", "x1", [{"type": "tool_result", "content": []}], toolUseResult={"content": 1}
        ),
        record("assistant", "x1", [{"type": "thinking", "thinking": ""}]),
        record("user", "x1", [None], isMeta=True),
        attached(type="deferred_tools_delta"),
        attached(type="brand_new"),
        attached(type="queued_command", commandMode="task-notification", prompt="x"),
        attached(type="goal_status", sentinel=True),
        attached(type="plan_file_reference", planContent=""),
        {**record("system", "s1", subtype="compact_boundary"), "content": "Compacted"},
        {**record("system", "s1", level="info"), "content": "Running"},
        {**record("system", "s1", subtype="brand_new", level="info"), "content": "New."},
        {**record("system", "s1", subtype="away_summary"), "content": ""},
        record("system", "s1", subtype="turn_duration", durationMs=7),
        record("ai-title", None, aiTitle=""),
    ]

    result = logs.result(*lines)

    assert not result.messages
    assert (dict(result.unknown), result.bad_lines) == ({}, [])
    assert result.records == len(lines)
