"""Records of turns, and what the parser makes of them."""

import json

import pytest

import cloxy_plugins.cursor.plugin as cursor
from cloxy_core.testing.conformance import ParserConformance
from cloxy_hookspecs import RawLine, SourceItem
from cloxy_hookspecs.logs.turns import (
    MadeUids,
    TurnParser,
    damaged,
    fingerprint,
    made_uid,
    message,
    raw_lines,
    session,
    unknown,
)

NOW = 1_788_177_600_000
AT = NOW - 3_600_000
ITEM = SourceItem("/store#s1", "agent:s1", 3, AT * 1_000_000)
OWN = "/srv/cloxy-data"


def parse(*records, state=None, item=ITEM):
    parser = TurnParser(OWN, lambda: NOW)
    return parser.parse(item, raw_lines(records, 0), state or {})


def said(uid, text, role="user", **more):
    author = more.pop("author", "human" if role == "user" else "assistant")
    return message("s1", uid, role, author, text, **more)


class TestTurnParser(ParserConformance):
    @pytest.fixture
    def plugins(self):
        return {"cursor": cursor}

    @pytest.fixture
    def provider(self):
        (provider,) = cursor.cloxy_parsers()
        return provider

    @pytest.fixture
    def sample(self, tmp_path):
        records = [
            session("s1", cwd="/srv/shop", title="Ports", rank=4),
            said("1", "which port?", at=AT),
            said("2", "8080", "assistant", model="m"),
            said("3", "and behind it?", at=AT + 5000),
        ]
        path = tmp_path / "records"
        path.write_bytes(b"".join(line.data + b"\n" for line in raw_lines(records, 0)))
        return path


def test_a_message_takes_place_and_time_of_what_stands_before_it():
    result = parse(
        session("s1", cwd="/srv/shop", branch="main"),
        said("1", "which port?", at="2026-08-31T11:00:00Z"),
        said("2", "8080", "assistant", model="m"),
        said("3", "elsewhere?", cwd="/srv/other", branch="side", near=AT + 9),
    )
    first, second, third = result.messages
    assert (first.cwd, first.branch, first.at, first.approximate) == (
        "/srv/shop",
        "main",
        AT,
        False,
    )
    assert (second.cwd, second.at, second.approximate, second.model) == ("/srv/shop", AT, True, "m")
    assert (third.cwd, third.branch, third.at) == ("/srv/other", "side", AT)


def test_a_first_message_without_a_time_has_one_near_it_else_that_of_the_store():
    near = parse(session("s1"), said("1", "a", near=AT - 7)).messages[0]
    assert (near.at, near.approximate) == (AT - 7, True)
    none = parse(session("s1"), said("1", "a", at=NOW * 10)).messages[0]
    assert (none.at, none.approximate) == (AT, True)


def test_a_time_that_is_not_the_messages_own_is_approximate():
    only = parse(session("s1"), said("1", "a", at=AT, approximate=True)).messages[0]
    assert (only.at, only.approximate) == (AT, True)


def test_facts_of_sessions():
    result = parse(
        session("s1", cwd="/srv/shop", branch="b", title="Ports", rank=4),
        session("s2", parent="s1", relation="fork", program=True),
        session("s3", relation="fork"),
        said("1", "which?"),
    )
    one, two, three = (result.sessions[key] for key in ("s1", "s2", "s3"))
    assert (one.title, one.title_rank, one.cwd, one.branch) == ("Ports", 4, "/srv/shop", "b")
    assert (two.parent, two.relation, two.program, two.title) == ("s1", "fork", True, None)
    assert three.relation is None


def test_the_first_words_of_a_person_are_a_title_where_there_is_none():
    result = parse(session("s1"), said("0", "hook", author="program"), said("1", "which port?"))
    assert result.sessions["s1"].title == "which port?"
    later = parse(said("2", "other words"), state=result.state)
    assert later.sessions["s1"].title is None


def test_a_session_in_the_data_directory_is_not_taken_from_the_first_word_on():
    result = parse(session("s1", cwd=f"{OWN}/x"), said("1", "ours"))
    assert (list(result.messages), dict(result.sessions)) == ([], {})
    assert list(parse(said("2", "still ours"), state=result.state).messages) == []
    assert list(parse(session("s1"), said("1", "ours", cwd=OWN)).messages) == []


@pytest.mark.parametrize(
    "change",
    [
        {"text": " "},
        {"text": 5},
        {"uid": None},
        {"session": ""},
        {"role": "robot"},
        {"author": None},
    ],
)
def test_a_message_that_lacks_something_is_told(change):
    result = parse(session("s1"), said("1", "which?") | change)
    assert [bad.reason for bad in result.bad_lines] == ["is no whole message"]
    assert not result.messages
    assert not result.silent


def test_what_could_not_be_read_is_told():
    result = parse(damaged("the file is cut"), unknown("odd", 3), unknown("odd"), {"kind": "new"})
    assert [bad.reason for bad in result.bad_lines] == ["the file is cut"]
    assert result.unknown == {"odd": 4, "new": 1}
    assert not result.silent
    assert parse(damaged("an empty draft", quiet=True)).silent
    assert parse({"kind": "session"}).bad_lines[0].reason == "names no session"
    many = parse(*(unknown(f"kind {number}") for number in range(500)))
    assert len(many.unknown) == 100


def test_lines_that_hold_no_record_are_told():
    lines = [
        RawLine(0, 1, b"{"),
        RawLine(1, 2, b"[]"),
        RawLine(2, 3, b"", dropped=99),
        RawLine(3, 4, b" "),
    ]
    result = TurnParser(OWN, lambda: NOW).parse(ITEM, lines, {})
    reasons = [bad.reason for bad in result.bad_lines]
    assert reasons == ["is not JSON", "is no record", "a record of 99 bytes is too long"]


@pytest.mark.parametrize(
    "state", [{"titled": 5, "ours": None, "at": "x", "heard": 1}, {"titled": [1, "s1"]}]
)
def test_a_state_of_another_form_is_no_state(state):
    assert len(parse(session("s1"), said("1", "a"), state=state).messages) == 1


def test_a_state_holds_no_words():
    result = parse(session("s1", title="secret title"), said("1", "secret words"))
    assert "secret" not in json.dumps(result.state)


def test_made_ids_stay_when_something_is_put_in():
    one, two = MadeUids(), MadeUids()
    before = [one.of("s1", "user", text) for text in ("go on", "yes", "go on")]
    after = [two.of("s1", "user", text) for text in ("first", "go on", "yes", "go on")]
    assert after[1:] == before
    assert len(set(before)) == 3
    assert made_uid("a", "bc") != made_uid("ab", "c")
    # What was stored is recognised by it, so that it stays the same in every version.
    assert made_uid("s1", "user", "why?") == "made-85ae17e20cc7e680fb4d438e"
    assert made_uid("s1", "user", "why?") == "made-" + fingerprint("s1", "user", "why?")
    assert made_uid("\ud83d")
