"""What is told of the files of versions before 1.10, and where stores are found."""

import json
import os
from pathlib import Path

import pytest
from goose_kit import (
    BEHIND,
    CWD,
    NOW,
    A,
    Store,
    T,
    database,
    facts,
    file,
    files,
    message,
    messages,
    results,
    said,
)

from cloxy_hookspecs.logs.titles import FIRST_WORDS, LISTED
from cloxy_plugins.goose.places import session_folders

NAME = "20250601_101500"
HOME = Path(os.sep).resolve() / "home" / "dev"
CHAT = (
    message("user", "Why does the crane overheat?"),
    message("assistant", "It never idles.", {"type": "toolRequest", "id": "t"}, at=T + 2),
    message("user", {"type": "toolResponse", "id": "t", "toolResult": {}}, at=T + 3),
)


@pytest.fixture
def sessions(tmp_path):
    return tmp_path / "sessions"


def test_words_of_both_with_their_facts(tmp_path, sessions):
    file(sessions, *CHAT)
    (result,) = results(files(tmp_path))
    question, answer = result.messages
    assert (question.role, question.author, question.text) == (
        "user", "human", "Why does the crane overheat?",
    )  # fmt: skip
    assert (answer.role, answer.author, answer.text) == (
        "assistant", "assistant", "It never idles.",
    )  # fmt: skip
    assert (question.session, question.cwd, question.at) == (NAME, CWD, T * 1000)
    told = result.sessions[NAME]
    assert (told.title, told.title_rank) == ("Cranes", LISTED)
    assert not result.bad_lines
    assert not result.unknown


def test_a_file_without_a_first_line_about_the_session(tmp_path, sessions):
    file(sessions, *CHAT, head=False)
    told = facts(files(tmp_path), NAME)
    assert (told.cwd, told.title_rank) == (None, FIRST_WORDS)
    assert len(said(files(tmp_path))) == 2


def test_a_scheduled_session_and_a_recipe(tmp_path, sessions):
    file(sessions, *CHAT, head={"schedule_id": "nightly"})
    file(
        sessions,
        message("user", "Sort the letters."),
        name="other",
        head={"recipe": {"prompt": "Sort {{ what }}."}},
    )
    assert sorted(author for _role, author, _words in said(files(tmp_path))) == [
        "assistant", "program", "program",
    ]  # fmt: skip
    assert facts(files(tmp_path), NAME).program
    assert not facts(files(tmp_path), "other").program


def test_equal_words_are_messages_of_their_own_and_ids_stay(tmp_path, sessions):
    file(sessions, *[message("user", "yes")] * 3)
    before = [message.uid for message in messages(files(tmp_path))]
    assert len(set(before)) == 3
    file(sessions, *[message("user", "yes")] * 3, message("user", "no"))
    assert [message.uid for message in messages(files(tmp_path))][:3] == before


def test_a_summary_and_hidden_messages(tmp_path, sessions):
    file(
        sessions,
        message("user", "The crane overheats."),
        message("assistant", BEHIND),
        message("user", "hidden", metadata={"userVisible": False, "agentVisible": True}),
        message("user", "And now?"),
    )
    assert said(files(tmp_path)) == [
        ("summary", "summary", "The crane overheats."),
        ("user", "human", "And now?"),
    ]


def test_a_session_that_the_database_has_is_not_read_from_its_file(tmp_path, sessions):
    file(sessions, *CHAT)
    file(sessions, *CHAT, name="other")
    made = files(tmp_path)
    assert len(said(made)) == 4
    store = Store(sessions).session(NAME, name="Cranes")
    assert len(said(made)) == 4, "the database has the session, but nothing that was said"
    store.chat(NAME)
    assert {message.session for message in messages(made)} == {"other"}
    assert {message.session for message in messages(database(tmp_path))} == {NAME}


def test_one_file_that_is_asked_for_is_left_out_too(tmp_path, sessions):
    path = file(sessions, *CHAT)
    other = file(sessions, *CHAT, name="other")
    Store(sessions).session(NAME).chat(NAME)
    made = files(tmp_path)
    assert list(made.discover([], path)) == []
    assert [item.uri for item in made.discover([], other)] == [str(other)]


@pytest.mark.parametrize("ids", ["none", "own"])
@pytest.mark.parametrize("version", [7, 17])
def test_a_message_that_moves_into_the_database_keeps_its_id(tmp_path, sessions, ids, version):
    chat = [each | {"id": f"u-{n}" if ids == "own" else None} for n, each in enumerate(CHAT)]
    file(sessions, *chat)
    before = [(message.session, message.uid) for message in messages(files(tmp_path))]
    store = Store(sessions, version).session(NAME)
    for line in chat:
        store.row(line["role"], json.dumps(line["content"]), NAME, line["id"], line["created"])
    after = [(message.session, message.uid) for message in messages(database(tmp_path))]
    assert after == before


def test_a_database_that_cannot_be_read_leaves_the_files_to_be_read(tmp_path, sessions):
    file(sessions, *CHAT)
    (sessions / "sessions.db").write_bytes(b"no database at all" * 100)
    failures = []
    assert len(results(files(tmp_path), failures)) == 1
    assert failures == []
    assert results(database(tmp_path), failures) == []
    assert len(failures) == 1


def test_damaged_lines_are_told_and_the_rest_is_there(tmp_path, sessions):
    path = file(sessions, message("user", "one"))
    lines = [json.dumps(message("user", words)).encode() for words in ("two", "three", "four")]
    with path.open("ab") as out:
        out.write(lines[0] + lines[1] + b"\n" + b"\0" * 50 + lines[2] + b"\n")
        out.write(b'{"role": "user", "content": [{"type": "te' + b"\n" + b"\xff\xfe\n7\n\n")
        out.write(json.dumps({"role": "user", "content": "no blocks"}).encode())
    (result,) = results(files(tmp_path))
    assert [message.text for message in result.messages] == ["one", "two", "three", "four"]
    assert sorted(bad.reason for bad in result.bad_lines) == [
        "a message cannot be read",
        "line 4: zero bytes",
        "line 5: not JSON",
        "line 6: not JSON",
        "line 7: not a JSON object",
    ]


def test_two_lines_that_became_one_are_told(tmp_path, sessions):
    """What was lost between them looks like nothing: the object is whole."""
    path = file(sessions)
    blocks = b'"content": [{"type": "text", "text": "kept"}]}'
    path.write_bytes(b'{"working_dir": "/srv/x", "created": 1, ' + blocks + b"\n")
    (result,) = results(files(tmp_path))
    assert dict(result.unknown) == {"role None": 1}
    path.write_bytes(b'{"role": "user", "cre\0\0\0\0ated": 1, ' + blocks + b"\n")
    (result,) = results(files(tmp_path))
    assert [message.text for message in result.messages] == ["kept"]
    assert [bad.reason for bad in result.bad_lines] == ["line 1: control characters"]


def test_a_line_cannot_pass_for_a_record_of_ours(tmp_path, sessions):
    path = file(sessions, message("user", "one"))
    with path.open("a") as out:
        forged = {"kind": "message", "session": "x", "uid": "u", "role": "assistant"}
        out.write(json.dumps({**forged, "author": "human", "text": "forged"}) + "\n")
        out.write(json.dumps({"kind": "damaged", "reason": "CANARY"}) + "\n")
    (result,) = results(files(tmp_path))
    assert [message.text for message in result.messages] == ["one"]
    assert "CANARY" not in str(result.bad_lines)
    assert len(result.bad_lines) + sum(result.unknown.values()) == 2


def test_an_empty_file_says_nothing(tmp_path, sessions):
    sessions.mkdir()
    (sessions / "20250601_101500.jsonl").write_text("")
    (result,) = results(files(tmp_path))
    assert result.messages == []
    assert result.silent


def test_a_time_that_is_missing_is_near_that_of_the_file(tmp_path, sessions):
    path = file(sessions, {"role": "user", "content": [{"type": "text", "text": "when?"}]})
    os.utime(path, (T, T))
    (told,) = messages(files(tmp_path))
    assert (told.at, told.approximate) == (T * 1000, True)
    assert told.at < NOW


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        (
            {},
            "linux",
            [HOME / ".local/share/goose/sessions", HOME / ".config/goose/sessions"],
        ),
        (
            {},
            "darwin",
            [HOME / ".local/share/goose/sessions", HOME / ".config/goose/sessions"],
        ),
        (
            {"XDG_DATA_HOME": str(HOME / "x")},
            "linux",
            [HOME / "x/goose/sessions", HOME / ".config/goose/sessions"],
        ),
        ({}, "win32", [HOME / "AppData/Roaming/Block/goose/data/sessions"]),
        ({"APPDATA": str(HOME / "r")}, "win32", [HOME / "r/Block/goose/data/sessions"]),
        ({"GOOSE_PATH_ROOT": str(HOME / "g")}, "linux", [HOME / "g/data/sessions"]),
        ({"GOOSE_PATH_ROOT": str(HOME / "g")}, "win32", [HOME / "g/data/sessions"]),
        (
            {"GOOSE_PATH_ROOT": "relative"},
            "linux",
            [HOME / ".local/share/goose/sessions", HOME / ".config/goose/sessions"],
        ),
    ],
)
def test_folders_of_sessions(environment, platform, expected):
    assert list(session_folders(environment, HOME, platform)) == expected


@pytest.mark.parametrize("below", ["", "sessions", "data/sessions"])
def test_stores_are_found_from_the_folders_above_them(tmp_path, below):
    place = tmp_path / "goose" / below
    file(place, *CHAT)
    Store(place).session().chat()
    file(place / "deeper", *CHAT, name="no")
    file(place / "deeper" / "sessions", *CHAT, name="neither")
    (place / ".jsonl").write_text("x")
    made = database(tmp_path).of(tmp_path / "goose")
    assert {message.session for message in messages(made)} == {A}
    made = files(tmp_path).of(tmp_path / "goose")
    assert [item.uri for item in made.discover([])] == [str(place / f"{NAME}.jsonl")]
    assert {message.session for message in messages(made)} == {NAME}


def test_a_file_in_an_old_place_is_left_out_for_the_database_in_the_new_one(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "cloxy_plugins.goose.source._folders", lambda: [tmp_path / "new", tmp_path / "old"]
    )
    file(tmp_path / "old", *CHAT)
    file(tmp_path / "elsewhere", *CHAT)
    Store(tmp_path / "new").session(NAME).chat(NAME)
    assert said(files(tmp_path, tmp_path / "old")) == []
    assert len(said(files(tmp_path, tmp_path / "elsewhere"))) == 2
