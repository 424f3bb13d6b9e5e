"""What is taken of records by the rules that people wrote."""

from dataclasses import replace

import pytest
from lines_kit import NOW, PLAIN, WRITTEN, item_for, lines, parse, parser, rules, said, says

from cloxy_core.testing.fakes import raw_lines
from cloxy_plugins.json_lines.judging import Left, judged

CHAT = [says("user", "why does it flake?", "a"), says("assistant", "A clock race.", "ab")]
META = {"session": "s1", "cwd": "/srv/harbour", "branch": "main", "model": "model-x"}


def test_words_of_both_sides_with_all_that_is_known_of_them():
    question, answer = parse([says("user", "why?", "a", **META), CHAT[1]])[0]
    assert (question.uid, question.session) == ("a", "s1")
    assert (question.cwd, question.branch, question.model) == ("/srv/harbour", "main", None)
    assert (answer.session, answer.cwd, answer.model) == ("s1", "/srv/harbour", "model-x")
    assert (question.at, question.approximate) == (1_776_017_821_000, False)


def test_facts_of_a_header_hold_in_later_runs():
    data = [{"kind": "start", "meta": META}, *CHAT]
    messages, facts, _result = parse(data, cuts=[1, 2])
    assert {(m.session, m.cwd, m.branch) for m in messages} == {("s1", "/srv/harbour", "main")}
    assert facts["s1"].cwd == "/srv/harbour"


def test_another_session_has_facts_of_its_own():
    data = [says("user", "one", "a", **META), says("user", "two", "ab", session="s2")]
    messages, facts, _result = parse(data)
    assert [(m.session, m.cwd) for m in messages] == [("s1", "/srv/harbour"), ("s2", None)]
    assert set(facts) == {"s1", "s2"}


def test_the_plainest_form_needs_no_fields():
    data = [
        {"role": "user", "content": "one", "timestamp": 1_776_017_821},
        {"role": "assistant", "text": "two", "time": 1_776_017_822_000},
        {"role": "ai", "content": [{"type": "text", "text": "three"}, {"text": "four"}]},
        {"role": "system", "content": "be nice"},
        {"role": "summary", "content": "They count."},
    ]
    messages, _facts, result = parse(data, "")
    assert [(m.role, m.author, m.text) for m in messages] == [
        ("user", "human", "one"), ("assistant", "assistant", "two"),
        ("assistant", "assistant", "three\n\nfour"), ("summary", "summary", "They count."),
    ]  # fmt: skip
    assert [m.at for m in messages][:2] == [1_776_017_821_000, 1_776_017_822_000]
    assert {m.session for m in messages} == {"talk"}
    assert (result.records, result.unknown) == (5, {})


@pytest.mark.parametrize("unit", [1, 1_000, 1_000_000, 1_000_000_000])
def test_times_are_seconds_or_a_finer_unit(unit):
    (message,) = parse([{"role": "user", "text": "x", "time": 1_776_017_821 * unit}], "")[0]
    assert (message.at, message.approximate) == (1_776_017_821_000, False)


@pytest.mark.parametrize("time", ["9999-99-99", 9**400, -5, True, {}, "2199-01-01T00:00:00Z"])
def test_a_time_that_cannot_be_is_about_that_of_the_file(time):
    (message,) = parse([{"role": "user", "text": "x", "time": time}], "")[0]
    assert (message.at, message.approximate) == (WRITTEN, True)


def test_without_times_that_of_the_file_counts_and_later_the_last_one():
    data = [{"role": "user", "text": "one"}, {"role": "user", "text": "two", "time": 1_776_017_821}]
    data.append({"role": "user", "text": "three"})
    assert [(m.at, m.approximate) for m in parse(data, "", cuts=[1, 2])[0]] == [
        (WRITTEN, True), (1_776_017_821_000, False), (1_776_017_821_000, True),
    ]  # fmt: skip
    assert NOW > WRITTEN


def test_what_a_log_without_times_gets_later_is_as_late_as_the_file():
    read = raw_lines(lines({"role": "user", "text": "one"}, {"role": "user", "text": "two"}))
    made, first = parser(""), item_for()
    result = made.parse(first, read[:1], {})
    later = replace(first, mtime_ns=first.mtime_ns + 3_600 * 10**9)
    (message,) = made.parse(later, read[1:], result.state).messages
    assert (message.at, message.approximate) == (WRITTEN + 3_600_000, True)


def test_conditions_drop_noise():
    words = PLAIN + 'where = { kind = ["message", "note"] }\nunless = { "said.by" = "x*" }\n'
    data = [*CHAT, says("xenon", "no"), {"kind": "note", **CHAT[0], "uid": "abc"}]
    data += [{**says("user", "no"), "kind": "other"}, {"said": {"by": "user"}}]
    messages, _facts, result = parse(data, words)
    assert [m.uid for m in messages] == ["a", "ab", "abc"]
    assert (result.records, result.unknown) == (len(data), {})


def test_roles_that_no_list_has_are_counted():
    data = [*CHAT, says("tool", "x"), says("weird", "x"), says("weird", "x"), {"kind": "start"}]
    result = parse(data)[2]
    assert result.unknown == {"role weird": 2, "(no role)": 1}
    assert result.records == 3


def test_a_program_that_types_is_no_human():
    words = PLAIN + 'program = ["cron"]\n'
    messages, facts, _result = parse([says("cron", "every morning"), says("user", "hm")], words)
    assert [(m.role, m.author) for m in messages] == [("user", "program"), ("user", "human")]
    assert (facts["talk"].program, facts["talk"].title) == (False, "hm")


def test_of_several_paths_the_first_with_words_counts():
    words = 'role = "r"\ntext = ["shown", "parts[].text", "raw"]\n'
    data = [
        {"r": "user", "shown": "one", "raw": "not this"}, {"r": "user", "shown": " ", "raw": "two"},
        {"r": "user", "shown": {"x": 1}, "parts": [{"text": "three"}, {"text": 7}, {}]},
        {"r": "user", "raw": ["no"]},
    ]  # fmt: skip
    assert [text for _role, _author, text in said(data, words)] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<ctx>\nx\n</ctx>go", "go"), ("go <ctx a='b'>x</ctx> on", "go  on"),
        ("<ctx>x</ctx>", None), ("go<ctx>cut off", "go"), ("<ctx>a</ctx><env>b</env>c", "c"),
        ("<ctxt>x</ctxt>", "<ctxt>x</ctxt>"), ("why </ctx>", "why </ctx>"),
    ],
)  # fmt: skip
def test_blocks_that_the_program_put_in_are_dropped(text, words):
    more = PLAIN + 'drop_tags = ["ctx", "env"]\n'
    assert said([says("user", text)], more) == ([("user", "human", words)] if words else [])
    assert said([says("assistant", text)], more) == [("assistant", "assistant", text)]


def test_a_title_is_taken_whenever_it_comes():
    title = {"kind": "title", "title": "Clock\nrace"}
    assert parse(CHAT)[1]["talk"].title == "why does it flake?"
    for data in ([title, *CHAT], [*CHAT, title], [CHAT[0], title, CHAT[1]]):
        assert parse(data)[1]["talk"].title == "Clock race"
        assert parse(data, cuts=[1, 2])[1]["talk"].title == "Clock race"
    messages, facts, _result = parse([title])
    assert (messages, facts) == ([], {})


def test_a_title_behind_the_last_message_is_that_of_its_session():
    other = says("user", "two", "abc", session="s2")
    data = [says("user", "one", "a", session="s1"), {"kind": "title", "title": "First"}, other]
    for cuts in ((), (1,), (2,)):
        facts = parse(data, cuts=cuts)[1]
        assert (facts["s1"].title, facts["s2"].title) == ("First", "two")


def test_a_sub_agent_in_the_log_of_its_session():
    data = [*CHAT, says("user", "find it", "abc", agent="scout")]
    messages, facts, _result = parse(data)
    assert [(m.session, m.author) for m in messages] == [
        ("talk", "human"), ("talk", "assistant"), ("talk/scout", "subagent"),
    ]  # fmt: skip
    assert (facts["talk/scout"].parent, facts["talk/scout"].relation) == ("talk", "subagent")
    assert facts["talk"].parent is None


def test_a_session_that_another_one_started():
    data = [{"kind": "start", "meta": {"session": "s2", "parent": "s1"}}, *CHAT]
    messages, facts, _result = parse(data, cuts=[1, 2])
    assert [m.author for m in messages] == ["subagent", "subagent"]
    assert (facts["s2"].parent, facts["s2"].relation) == ("s1", "subagent")
    own = parse([says("user", "x", "a", session="s1", parent="s1")])[1]
    assert own["s1"].parent is None


def test_sessions_in_our_own_folder_are_not_taken():
    data = [says("user", "x", "a", cwd="/srv/cloxy/work"), CHAT[1]]
    messages, facts, result = parse(data)
    assert (messages, facts, result.silent) == ([], {}, True)


def test_without_ids_messages_have_ids_that_stay_and_equal_words_are_two():
    data = [says("user", "yes"), says("assistant", "ok"), says("user", "yes")]
    first, again = parse(data)[0], parse([*data, says("user", "yes")], cuts=[2])[0]
    assert [m.uid for m in first] == [m.uid for m in again][:3]
    assert len({m.uid for m in again}) == 4


def test_ids_and_sessions_may_be_numbers():
    words = 'session = "s"\nid = "i"\n'
    data = [{"s": 7, "i": 1, "role": "user", "text": "x"}, {"s": True, "i": 2.5, "role": "user"}]
    (message,) = parse(data, words)[0]
    assert (message.session, message.uid) == ("7", "1")


def test_a_record_written_twice_is_one_message():
    assert len(parse([*CHAT, *CHAT])[0]) == 2


def test_a_log_that_holds_no_message_is_told_unless_rules_leave_all_out():
    assert parse([])[2].silent is True
    where = PLAIN + 'where = { kind = "message" }\n'
    assert parse([{"kind": "start"}], where)[2].silent is True
    assert parse([says("tool", "x")])[2].silent is True
    assert parse([{"kind": "start"}])[2].silent is False
    assert parse([says("user", "")])[2].silent is False
    assert parse([says("weird", "x")])[2].silent is False


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"kind": "start"}, "where: not kind = message"),
        ({**says("user", "x"), "hidden": True}, "unless: hidden = true"),
        ({"kind": "message"}, "no role: nothing at said.by"),
        (says("weird", "x"), "the role is weird, which no list has"),
        (says("tool", "x"), "ignore: the role is tool"),
        (says("user", ""), "no words: nothing at said.parts[type=text].text"),
        (says("user", "<ctx>x</ctx>"), "no words outside of drop_tags"),
        (says("user", "x"), ""),
    ],
)
def test_why_a_record_says_nothing(record, reason):
    words = PLAIN + 'where = { kind = "message" }\nunless = { hidden = true }\ndrop_tags = "ctx"\n'
    (line,) = raw_lines(lines(record))
    assert parser(words).explain(line) == reason
    found = judged(record, rules(words))
    assert isinstance(found, Left) is bool(reason)
