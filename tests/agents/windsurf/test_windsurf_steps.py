"""What is taken of transcripts, whatever state they are in."""

import json

import pytest
from windsurf_kit import SESSION, WRITTEN, agent, chat, lines, parse, said, step, tool, user

from cloxy_core.testing.mutations import mutate


def test_words_of_both_sides_are_kept_and_nothing_of_tools():
    assert said(*chat()) == [
        ("user", "human", "why does it flake?"),
        ("assistant", "assistant", "A clock race."),
    ]


def test_a_message_has_the_session_of_its_file_and_about_its_time():
    result = parse(lines(*chat()))
    assert {m.session for m in result.messages} == {SESSION}
    assert [(m.at, m.approximate) for m in result.messages] == [(WRITTEN, True)] * 2
    assert result.sessions[SESSION].title == "why does it flake?"


def test_ids_stay_when_a_transcript_grows_and_equal_words_are_two_messages():
    first = [m.uid for m in parse(lines(user("yes"), agent("ok"), user("yes"))).messages]
    more = lines(user("yes"), tool(), agent("ok"), user("yes"), agent("ok"))
    second = [m.uid for m in parse(more).messages]
    assert second[:3] == first
    assert len(set(second)) == 4
    assert first[0] != parse(lines(user("yes")), name="another").messages[0].uid


def test_words_may_stand_in_the_step_itself():
    assert said(step("user_input", "hello")) == [("user", "human", "hello")]


def test_steps_without_words_say_nothing():
    assert said(user("  "), agent(""), step("planner_response"), *chat()) == said(*chat())


def test_a_transcript_in_which_nothing_is_found_is_told():
    result = parse(lines(step("person_said", {"words": "hello"}), tool(), tool()))
    assert (result.messages, result.silent) == ([], False)
    assert result.unknown == {"person_said": 1, "code_action": 2}
    assert parse(lines(*chat())).unknown == {}
    assert parse(lines(*chat(), {"status": "done"})).unknown == {"(no type)": 1}
    assert parse(b"").silent is True


def test_damage_is_told_and_costs_only_its_line():
    whole = lines(*chat())
    first, rest = whole.split(b"\n", 1)
    result = parse(first + b"\nnot json\n" + b"\0" * 30 + b"\n[1]\n" + rest)
    assert [m.text for m in result.messages] == ["why does it flake?", "A clock race."]
    reasons = [bad.reason for bad in result.bad_lines]
    assert reasons == ["not JSON", "zero bytes", "not a JSON object"]
    glued = first + rest
    assert len(parse(glued).messages) == 2
    half = parse(first[:30] + rest)
    assert [m.text for m in half.messages] == ["A clock race."]
    assert len(half.bad_lines) == 1


@pytest.mark.parametrize("value", [None, [], {}, [None], 7, True, "", 9**400])
def test_fields_of_no_known_form(value):
    odd = [
        step("user_input", {"user_response": value}), step("planner_response", {"response": value}),
        {"type": value}, {"type": "user_input", "user_input": value}, {"status": value},
    ]  # fmt: skip
    result = parse(lines(*chat(), *odd) + json.dumps(value).encode())
    assert [m.text for m in result.messages] == ["why does it flake?", "A clock race."]


def test_500_mutations_never_raise():
    data = lines(*chat(), user("Ünïcödé 港"), agent("yes"))
    for seed in range(500):
        mutant = mutate(data, seed)
        result = parse(mutant)
        told = result.messages or result.bad_lines or result.unknown
        assert told or not mutant.strip(), "what holds anything is told"
        ids = [message.uid for message in result.messages]
        assert len(set(ids)) == len(ids)


def test_a_step_that_has_no_words_where_it_should_is_told():
    first, second = user("why?"), agent("A clock race.")
    renamed = {**second, "type": "plannerresponse"}
    assert parse(lines(first, renamed)).unknown == {"plannerresponse of another form": 1}
    other = step("planner_response", {"answer": "A clock race."})
    assert parse(lines(first, other)).unknown == {"planner_response of another form": 1}
    gone = {"status": "done", "type": "user_input"}
    assert parse(lines(second, gone)).unknown == {"user_input of another form": 1}
    assert parse(lines(first, step("planner_response"), agent(""))).unknown == {}


def test_bytes_that_are_no_text_are_told_though_the_step_is_kept():
    whole = lines(*chat())
    result = parse(whole.replace(b"clock", b"cl\xffck").replace(b"flake", b"fl\0ke"))
    assert [m.text for m in result.messages] == ["why does it fl\0ke?", "A cl\ufffdck race."]
    reasons = [bad.reason for bad in result.bad_lines]
    assert reasons == ["control characters", "bytes that are no UTF-8"]
    tabs = whole.replace(b"clock", b"cl\tck").replace(b"flake", b"fl\\ud83dke")
    assert parse(tabs).bad_lines == [], "as some programs write it"
