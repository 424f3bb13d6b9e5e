"""Databases of conversations that have no transcript."""

import sqlite3
from contextlib import closing

import pytest
from agents.sources import items, only, read
from antigravity_kit import (
    AT,
    CWD,
    STEPS,
    A,
    B,
    Log,
    Stores,
    chat,
    field,
    payload,
    said,
    texts,
    varint,
)

from cloxy_plugins.antigravity.protobuf import fields, inner


@pytest.fixture
def stores(tmp_path):
    return Stores(tmp_path)


def test_prompts_answers_and_summaries_with_their_times(stores):
    stores.prompts({"conversationId": A, "workspace": CWD})
    stores.database()
    result = only(stores.store)
    assert said(result) == [
        ("user", "human", "Why does the crane overheat?"),
        ("assistant", "assistant", "It never idles."),
        ("summary", "summary", "They met."),
        ("user", "human", "Add a test for Ünïcödé 港"),
        ("assistant", "assistant", "Done."),
    ]
    assert [m.uid for m in result.messages] == [f"step-{n}" for n in (0, 2, 3, 4, 5)]
    assert [m.at for m in result.messages][:2] == [AT * 1000 + 250, AT * 1000 + 2250]
    assert not any(m.approximate for m in result.messages)
    assert result.sessions[A].cwd == CWD


def test_a_conversation_with_a_transcript_is_left_to_it(stores):
    stores.database(key=A)
    stores.database(key=B)
    stores.log(chat(), A)
    found, _ = items(stores.store)
    assert [item.uri.rpartition("#")[2] for item in found] == [B]


def test_a_transcript_without_a_byte_is_none(stores):
    stores.database()
    stores.log(b"")
    assert len(only(stores.store).messages) == 5


def test_a_sub_agent_is_known_from_the_transcript_that_started_it(stores):
    stores.log(Log().both("go", "I ask.").starts(B), A)
    stores.database(key=B)
    result = only(stores.store)
    assert {m.author for m in result.messages} == {"subagent", "summary"}
    assert result.sessions[B].parent == A


def test_a_step_more_makes_a_new_version(stores):
    stores.database(STEPS[:4])
    (before,), _ = items(stores.store)
    stores.database(STEPS)
    (after,), _ = items(stores.store)
    assert (before.uri, before.identity) == (after.uri, after.identity)
    assert before != after


def test_a_damaged_step_is_told_and_the_others_come(stores):
    whole = payload(14, "hello")
    broken = [
        (14, whole[:-3]),
        (15, b"\xff" * 30),
        (14, field(19, field(2, "x")) + b"\x03"),
        (15, "It never idles."),
    ]
    stores.database(broken)
    result = only(stores.store)
    assert texts(result) == ["It never idles."]
    assert [bad.reason for bad in result.bad_lines] == ["a step is damaged"] * 3


def test_steps_of_other_forms(stores):
    path = stores.database([(15, "fine")])
    with closing(sqlite3.connect(path)) as database:
        for number, data in enumerate(["text", None, 7, b"", field(19, 7), field(5, 1)], 10):
            row = (number, 14, data)
            database.execute(
                "INSERT INTO steps (idx, step_type, step_payload) VALUES (?, ?, ?)", row
            )
        database.commit()
    result = only(stores.store)
    assert texts(result) == ["fine"]
    assert len(result.bad_lines) == 3


def test_a_step_without_a_time_has_that_of_the_one_before(stores):
    bare = field(1, 15) + field(20, field(1, "Done."))
    stores.database([(14, "go"), (15, bare)])
    result = only(stores.store)
    assert [(m.at, m.approximate) for m in result.messages] == [
        (AT * 1000 + 250, False),
        (AT * 1000 + 250, True),
    ]


@pytest.mark.parametrize("names", [[], [A, B], [None]])
def test_a_database_that_does_not_name_one_conversation_is_told(stores, names):
    stores.database(names=names)
    found, failures = items(stores.store)
    assert found == []
    assert "does not name its conversation" in failures[0].reason


def test_other_databases_are_none(stores):
    path = stores.home / "conversations" / "x.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE steps (idx integer, body blob)")
        database.commit()
    for name in ("conversation_summaries.db", "conversations/y.pb", "conversations/y.db.bak"):
        (stores.home / name).write_bytes(b"x")
    assert items(stores.store) == ([], [])


def test_a_database_with_a_log_beside_it_is_read_as_it_is_now(stores):
    path = stores.database(STEPS[:1], wal=True)
    with closing(sqlite3.connect(path)) as database:
        row = (1, 15, payload(15, "It never idles."))
        database.execute("INSERT INTO steps (idx, step_type, step_payload) VALUES (?, ?, ?)", row)
        database.commit()
        (item,), _ = items(stores.store)
        assert len(read(stores.store, item).messages) == 2


def test_fields_of_a_message():
    data = field(1, 300) + field(2, "x") + b"\x19" + bytes(8) + b"\x25" + bytes(4)
    assert list(fields(data)) == [(1, 300), (2, b"x"), (3, bytes(8)), (4, bytes(4))]
    assert inner(field(5, field(1, "deep")), 5, 1) == b"deep"
    assert inner(field(5, field(1, "deep")), 5, 2) is None
    assert varint(300) == b"\xac\x02"


@pytest.mark.parametrize(
    "data",
    [
        b"\x80",
        b"\x0a",
        b"\x0a\x05ab",
        b"\x0b",
        b"\x19abc",
        b"\x02\x00",
        b"\x00\x01",
        b"\x08" + b"\x80" * 10 + b"\x08\x01",
    ],
)
def test_damaged_messages(data):
    with pytest.raises(ValueError, match=r"a field|a number"):
        list(fields(data))
