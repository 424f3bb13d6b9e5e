"""Files that nobody vouches for: damaged, cut, malicious, or with secrets."""

import io

import pytest
from exchange.exchange_kit import (
    HEADER,
    SECRET,
    TELLING,
    Place,
    end,
    filled,
    message,
    note,
    objects,
    session,
    write_lines,
)

from cloxy_core.services.exchange.lines import read_lines


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path / "place")
    made.folder.mkdir()
    return made


def texts(place):
    return [each["text"] for each in place.export() if each["kind"] in ("message", "note")]


BAD = {
    "not JSON": (b"{kind", "the line is not JSON"),
    "not UTF-8": (b'{"kind":"note","text":"\xff"}', "the line is not UTF-8"),
    "no object": (b"[1]", "it is no JSON object"),
    "deep": (b'{"kind":"note","x":' + b"[" * 200_000, "the line is nested too deep"),
    "twice": (b'{"kind":"note","kind":"note"}', "a key stands twice in one object"),
    "NaN": (b'{"kind":"note","x":NaN}', "NaN is no number of JSON"),
    "long number": (b'{"kind":"note","x":' + b"1" * 9000 + b"}", "the line is not JSON"),
    "no kind": ({"text": "x"}, "kind: is missing"),
    "text a number": (message("a", 5), "text: is not a string"),
    "text empty": (message("a", " "), "text: is empty"),
    "no uid of a note": (note(None, "x"), "uid: is missing"),
    "NUL in a key": (message("a\0b", "x"), "uid: holds a control character"),
    "half a character in a key": (message("a\ud800", "x"), "uid: holds a control character"),
    "a secret as a key": (message(SECRET, "x"), "uid: holds what looks like a secret"),
    "long key": (message("a" * 2000, "x"), "uid: is longer than 1,024 characters"),
    "role": (message("a", "x", role="root"), "role: is none of user, assistant"),
    "author": (message("a", "x", author=["human"]), "author: is not a string"),
    "time a number": (message("a", "x", time=17), "time: is not a string"),
    "time without offset": (message("a", "x", time="2026-05-08T13:56:00"), "time: is not a time"),
    "rank": (session(title_rank=True), "title_rank: is not a whole number"),
    "great rank": (session(title_rank=10**12), "title_rank: is not between 0 and 1,000"),
    "program": (session(program="yes"), "program: is neither true nor false"),
    "metadata": (note("n", "x", metadata=[1]), "metadata: is not an object"),
    "part": (note("n", "x", part=-1), "part: is not between 0"),
}


def deep_metadata():
    value = {}
    for _ in range(150):
        value = {"a": value}
    return note("n", "some text", metadata=value)


def test_every_bad_line_is_named_and_passed_over(place, tmp_path):
    lines = [each for each, _words in BAD.values()]
    file = write_lines(
        tmp_path / "bad.jsonl",
        HEADER,
        session(),
        *lines[:12],
        message("good", "A good line."),
        end(),
    )
    summary, said = place.take(file, code=1)
    assert summary["bad"] == 12
    for number, (_line, words) in enumerate(list(BAD.values())[:12], start=3):
        assert f"{file}:{number}: {words}" in said
    assert texts(place) == ["A good line."]
    file = write_lines(tmp_path / "more.jsonl", HEADER, *lines[12:], deep_metadata(), end())
    summary, said = place.take(file, code=1)
    assert summary["bad"] == len(BAD) - 12 + 1
    for number, (_line, words) in enumerate(list(BAD.values())[12:], start=2):
        assert f"{file}:{number}: {words}" in said
    assert "metadata: metadata is nested deeper" in said
    assert texts(place) == ["A good line."]
    assert place.run("doctor").returncode == 0


def test_a_line_that_is_too_long_is_passed_over_without_being_held():
    file = io.BytesIO(b'{"a":1}\n' + b"x" * 5000 + b"\n" + b'{"b":2}\n' + b"y" * 3000)
    found = list(read_lines(file, 1000))
    assert [(each.number, dict(each.value)) for each in found] == [
        (1, {"a": 1}),
        (2, {}),
        (3, {"b": 2}),
        (4, {}),
    ]
    assert found[1].trouble == "the line is longer than 1,000 bytes"
    assert [each.finished for each in found] == [True, True, True, False]


def test_nul_and_halves_of_characters_in_a_text_are_stored_harmlessly(place, tmp_path):
    odd = message("a", "before \0 and \ud800 after", branch="x\ny", source="/etc/\u202epasswd")
    file = write_lines(
        tmp_path / "odd.jsonl", HEADER, session(title="t\u0007\ud800"), odd, end(1, 1, 0)
    )
    summary, _said = place.take(file)
    assert summary["messages"]["new"] == 1
    (text,) = texts(place)
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert "\0" not in text
    assert place.run("doctor").returncode == 0
    again, _said = place.take(file)
    assert again["messages"]["known"] == 1


def test_secrets_are_redacted_wherever_they_are(place, tmp_path):
    file = write_lines(
        tmp_path / "secrets.jsonl",
        HEADER,
        session(
            title=f"use {SECRET}", title_rank=3, project=f"/srv/{SECRET}", cwd=f"/srv/{SECRET}"
        ),
        message("a", f"the token is {SECRET} ok", branch=SECRET, source=f"/logs/{SECRET}.jsonl"),
        message("b", "said <private>only to you</private> today"),
        note("n", f"note {SECRET}", source=f"manual:{SECRET}", metadata={SECRET: [SECRET]}),
        end(1, 2, 1),
    )
    summary, _said = place.take(file)
    assert summary["redactions"] >= 8
    for each in place.data.iterdir():
        if each.is_file():
            assert SECRET.encode() not in each.read_bytes(), each.name
            assert b"only to you" not in each.read_bytes(), each.name
    assert any("[REDACTED" in text for text in texts(place))
    assert place.take(file)[0]["messages"]["known"] == 2


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (b"", "is not an export of Cloxy"),
        (b"PK\x03\x04", "is not an export of Cloxy"),
        ({"kind": "header", "format": "other", "version": 1}, "is not an export of Cloxy"),
        ({**HEADER, "version": 2}, "upgrade Cloxy on this machine"),
        ({**HEADER, "version": "1"}, "version: is not a number"),
    ],
)
def test_a_file_of_another_form_is_refused_at_once(place, tmp_path, first, words):
    file = write_lines(tmp_path / "other.jsonl", first, session(), message("a", "x"), end(1, 1))
    done = place.run("import", file)
    assert done.returncode == 4
    assert words in done.stderr.decode()
    assert not place.data.exists()


def test_a_cut_file_is_said_and_what_is_there_is_taken(place, tmp_path):
    whole = write_lines(
        tmp_path / "whole.jsonl", HEADER, session(), message("a", "First."), message("b", "Last.")
    )
    summary, said = place.take(whole, code=1)
    assert "the file is cut: its end line is missing" in said
    assert summary["messages"]["new"] == 2
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(whole.read_bytes()[:-20])
    assert "its last line is torn" in place.take(torn, code=1)[1]
    short = write_lines(
        tmp_path / "short.jsonl", HEADER, session(), message("a", "First."), end(1, 2)
    )
    _summary, said = place.take(short, code=1)
    assert "2 message lines were written and 1 are here" in said
    behind = write_lines(tmp_path / "behind.jsonl", HEADER, end(), message("z", "Behind."))
    assert "it stands behind the end line" in place.take(behind, code=1)[1]
    assert texts(place) == ["First.", "Last."]


def test_unknown_kinds_are_counted_and_unknown_fields_ignored(place, tmp_path):
    file = write_lines(
        tmp_path / "newer.jsonl",
        {**HEADER, "mood": "good"},
        {"kind": "picture", "data": "x"},
        session(colour="red"),
        message("a", "A line.", weight=3),
        end(1, 1),
    )
    summary, _said = place.take(file)
    assert (summary["unknown"], summary["bad"], summary["messages"]["new"]) == (1, 0, 1)


def test_forgotten_things_stay_forgotten(tmp_path):
    place = filled(tmp_path / "place")
    before = place.export("before.jsonl")
    with place.server() as live:
        body = {"query": "larch needs oil every year", "top_k": 1}
        (hit,) = live.ask("POST", "/recall", body)[1]["results"]
        assert live.ask("DELETE", f"/memory/{hit['id']}")[0] == 200
        ((memory,),) = place.rows(
            "SELECT m.id FROM memories m JOIN passages p ON p.memory_id = m.id"
            " WHERE p.message_uid = 'v2'"
        )
        assert live.ask("DELETE", f"/memory/{memory}")[0] == 200
    trial, _said = place.take(tmp_path / "place/before.jsonl", "--dry-run")
    summary, _said = place.take(tmp_path / "place/before.jsonl")
    assert summary["messages"]["forgotten"] == trial["messages"]["forgotten"] == 2
    assert summary["messages"]["new"] == summary["notes"]["new"] == 0
    gone = [each for each in before if each.get("text") == TELLING]
    assert len(gone) == 1
    renamed = [{**gone[0], "uid": "another", "session": "elsewhere"}]
    file = write_lines(tmp_path / "renamed.jsonl", HEADER, *renamed, end(0, 1))
    assert place.take(file)[0]["messages"]["forgotten"] == 1
    assert TELLING not in texts(place)
    for each in place.data.glob("memory.db*"):
        assert TELLING.encode() not in each.read_bytes()


def test_a_short_note_stays_forgotten(tmp_path):
    place = Place(tmp_path)
    with place.server() as live:
        _status, stored = live.ask("POST", "/ingest_text", {"text": "Tea is at four."})
        file = tmp_path / "out.jsonl"
        assert place.run("export", file).returncode == 0
        assert live.ask("DELETE", f"/memory/{stored['ids'][0]}")[0] == 200
    summary, _told = place.take(file)
    assert summary["notes"]["forgotten"] == 1
    assert place.rows("SELECT count(*) FROM memories") == [(0,)]


def test_a_lost_key_of_what_was_forgotten_lets_nothing_in(tmp_path):
    place = filled(tmp_path / "place")
    place.export("out.jsonl")
    with place.server() as live:
        ((memory,),) = place.rows("SELECT min(id) FROM memories")
        live.ask("DELETE", f"/memory/{memory}")
    (place.data / "tombstones.key").unlink()
    file = place.folder / "out.jsonl"
    assert place.run("import", file, "--dry-run").returncode == 11
    refused = place.run("import", file)
    assert refused.returncode == 11
    assert b"tombstones.key" in refused.stderr
    assert len(objects(file)) > len(place.export("after.jsonl"))
