"""Databases of older versions of Cloxy that are joined with a memory, and what comes of them."""

import json
import sqlite3
from contextlib import closing

import pytest
from exchange.exchange_kit import SECRET, Place, filled
from exchange.foreign_readers_kit import Read, damage
from legacy.legacy_kit import NOTES, PROJECT, SESSION, TITLE, TURNS, VERSIONS, OldDatabase, sha

from cloxy_core.services.exchange.foreign_limits import ForeignTrouble

TELLING = "moves it to the dead letters"


def old(folder, version="5.1"):
    return OldDatabase(folder / "old" / "memory.db", version)


def said(read):
    return [(m["role"], m["text"]) for m in read.messages]


def row(base, turns, ordinal, session="s-1", *, head="[2026-03-01 08:00 · shop]\n", **more):
    """A piece of a conversation as version 5 wrote it."""
    text = head + "\n\n".join(f"{role.upper()}: {words}" for role, words in turns)
    base.add(
        text,
        f"convo:{session}:{ordinal}",
        session_id=session,
        **{
            "ts_start": "2026-03-01T08:00:00.000Z",
            "ts_end": "2026-03-01T09:00:00.000Z",
            "project": PROJECT,
            **more,
        },
    )


@pytest.mark.parametrize("version", ["5.0", "5.1"])
def test_a_conversation_of_version_5_comes_message_by_message(tmp_path, version):
    read = Read(old(tmp_path, version).fill().close(), tmp_path / "t")
    (session,) = read.of("session")
    assert (session["agent"], session["key"]) == ("claude-code", SESSION)
    assert (session["cwd"], session["title"]) == (PROJECT, TITLE)
    assert said(read) == list(TURNS)
    assert [m["uid"] for m in read.messages[:3]] == [
        f"cloxy-5:{SESSION}:{place}" for place in ("0:0", "0:1", "1:0")
    ]
    assert [(m["time"], m["approximate"]) for m in read.messages[:3]] == [
        ("2026-03-04T08:00:00.000Z", False),
        ("2026-03-04T08:05:00.000Z", False),
        ("2026-03-06T08:00:00.000Z", False),
    ]
    assert read.homeless == {"pieces of conversations with a branch (left out)": 3}


@pytest.mark.parametrize("version", ["2.0", "3", "4"])
def test_pieces_of_the_versions_before_stay_as_they_are(tmp_path, version):
    read = Read(old(tmp_path, version).fill().close(), tmp_path / "t")
    (session,) = read.of("session")
    assert (session["key"], session["cwd"], session["title"]) == (SESSION, None, None)
    assert len(read.messages) == 3
    assert TELLING in read.messages[0]["text"]
    assert read.messages[0]["text"].startswith("[USER]: How long")
    assert [m["role"] for m in read.messages] == ["user", "user", "user"]
    # They knew no other time than when they were stored.
    assert [(m["time"], m["approximate"]) for m in read.messages] == [
        (f"2026-03-0{day}T08:00:00.000Z", True) for day in (4, 6, 8)
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_notes_of_every_version_come_with_their_source_and_time(tmp_path, version):
    read = Read(old(tmp_path, version).fill().close(), tmp_path / "t")
    notes = {note["text"]: note for note in read.notes}
    assert set(notes) == {*(text for _source, text in NOTES), "a row that has no vector"}
    note = notes[NOTES[1][1]]
    # Whatever hash stands in the row: version 2 had another one for the same text.
    assert note["uid"] == f"cloxy:{sha(NOTES[1][1])}"
    assert note["metadata"]["source"] == "decision:chunk0"
    assert note["time"] == "2026-04-11T08:00:00.000Z"


def test_metadata_and_project_of_a_note_are_kept(tmp_path):
    base = old(tmp_path)
    base.add("kept", "mine:chunk2", project="/srv/boat", metadata=json.dumps({"a": {"b": [1]}}))
    base.add("no object", "mine:chunk3", metadata="[1, 2]")
    read = Read(base.close(), tmp_path / "t")
    assert read.note("kept")["project"] == "/srv/boat"
    assert read.note("kept")["metadata"] == {"source": "mine:chunk2", "a": {"b": [1]}}
    assert read.note("no object")["metadata"]["metadata"] == [1, 2]


def test_what_only_looks_like_a_conversation_is_a_note(tmp_path):
    base = old(tmp_path)
    base.add("stored by hand under such a source", "convo:mine:chunk0")
    base.add("likewise in the later form", "convo:mine:4")
    base.converse(tells=False, session="old")
    # Version 5 gives a time to all that it stores itself, and this is no piece that it read.
    base.add("[USER]: quoted", "convo:old:chunk9", ts_start="2026-03-01T08:00:00Z")
    read = Read(base.close(), tmp_path / "t")
    assert len(read.notes) == 3
    assert read.note("quoted")
    assert [m["session"] for m in read.messages] == ["old"] * 3


def test_a_whole_talk_stored_by_hand_is_a_note(tmp_path):
    base = old(tmp_path)
    base.add("USER: no\n\nASSISTANT: none", "convo:mine:chunk0")
    read = Read(base.close(), tmp_path / "t")
    assert len(read.notes) == 1
    assert read.messages == []


def test_pieces_stand_in_order_wherever_their_rows_are(tmp_path):
    base = old(tmp_path)
    row(base, [("user", "third")], 2, metadata='{"title": "early"}')
    row(base, [("user", "of another one")], 0, "s-2")
    row(base, [("assistant", "second")], 1, metadata='{"title": "late"}')
    row(base, [("user", "first"), ("assistant", "middle"), ("user", "end")], 0, project=None)
    read = Read(base.close(), tmp_path / "t")
    assert [(m["session"], m["text"]) for m in read.messages] == [
        ("s-1", "first"),
        ("s-1", "middle"),
        ("s-1", "end"),
        ("s-1", "second"),
        ("s-1", "third"),
        ("s-2", "of another one"),
    ]
    assert [(m["time"][11:16], m["approximate"]) for m in read.messages[:3]] == [
        ("08:00", False),
        ("08:00", True),
        ("09:00", False),
    ]
    assert [s["title"] for s in read.of("session")] == ["late", None]
    assert read.of("session")[0]["cwd"] == PROJECT


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("[h]\nUSER: a\n\nb\nUSER: in a line\n\nASSISTANT: c", 2),
        ("[h]\nASSISTANT: part of a long one", 1),
        ("[h]\nUSER: \n\nASSISTANT: c", 1),
    ],
)
def test_turns_begin_behind_a_blank_line(tmp_path, text, turns):
    base = old(tmp_path)
    base.add(text, "convo:s:0", session_id="s", ts_start="2026-03-01T08:00:00Z")
    read = Read(base.close(), tmp_path / "t")
    assert len(read.messages) == turns
    assert all("[h]" not in m["text"] for m in read.messages)
    assert read.report.bad == 0


def test_a_piece_in_no_known_form_is_kept_whole(tmp_path):
    base = old(tmp_path)
    base.add("no header, no turns", "convo:s:0", session_id="s", ts_start="2026-03-01T08:00:00Z")
    last = base.add("words", "convo:s:1", session_id="s", ts_start="never", days=2)
    base.connection.execute(
        "UPDATE chunks SET content = CAST(? AS TEXT) WHERE id = ?", (b"[h]\nUSER: caf\xe9", last)
    )
    base.add(b"no text at all", "manual:chunk0")
    path = base.path
    base.connection.close()
    read = Read(path, tmp_path / "t")
    assert said(read) == [("assistant", "no header, no turns"), ("user", "caf\ufffd")]
    assert (read.messages[1]["time"], read.messages[1]["approximate"]) == (
        "2026-03-03T08:00:00.000Z",
        True,
    )
    assert [words for _n, words in read.report.told] == [
        "chunks: row 3 holds no text, or is damaged"
    ]


def test_what_lies_on_a_damaged_page_is_passed_over_and_told(tmp_path):
    base = old(tmp_path)
    for number in range(40):
        base.add(f"number {number} {'x' * 2000}", f"manual:chunk{number}")
    path = base.path
    base.connection.close()
    damage(path, "number 20 ")
    read = Read(path, tmp_path / "t")
    assert 20 <= len(read.notes) < 40
    assert read.report.bad >= 1
    assert all("number 20 " not in note["text"] for note in read.notes)
    assert read.note("number 39 ")


def test_rows_that_are_only_in_the_log_are_read_and_it_is_left_as_it_is(tmp_path):
    base = old(tmp_path)
    base.add("only in the log", "manual:chunk0")
    files = {path.name: path.read_bytes() for path in base.path.parent.iterdir()}
    assert len(files["memory.db-wal"]) > 0
    read = Read(base.path, tmp_path / "t")
    assert read.note("only in the log")
    after = {path.name: path.read_bytes() for path in base.path.parent.iterdir()}
    assert after.keys() == files.keys()
    assert all(after[name] == files[name] for name in ("memory.db", "memory.db-wal"))
    base.connection.close()


def test_one_of_today_is_refused_with_what_to_do(tmp_path):
    place = filled(tmp_path)
    with pytest.raises(ForeignTrouble, match="a Cloxy of today") as caught:
        Read(place.data / "memory.db", tmp_path / "t")
    assert "cloxy export" in caught.value.hint
    other = Place(tmp_path / "other")
    other.folder.mkdir()
    done = other.run("import", place.data / "memory.db")
    assert done.returncode == 4
    assert b"cloxy export" in done.stderr
    assert not other.data.exists()


def test_an_import_joins_what_is_here_once(tmp_path):
    place = filled(tmp_path)
    base = old(tmp_path).fill()
    base.add(f"The gate opens with {SECRET}.", "manual:chunk0", metadata=f'{{"t": "{SECRET}"}}')
    before = [line for line in place.export() if line["kind"] != "header"]
    path = base.close()
    summary, _said = place.take(path)
    assert summary["agent"] == "cloxy"
    assert (summary["messages"]["new"], summary["notes"]["new"]) == (len(TURNS), 4)
    assert summary["sessions"]["new"] == 1
    assert summary["redactions"] == 2
    for each in place.data.iterdir():
        assert not each.is_file() or SECRET.encode() not in each.read_bytes(), each.name
    after = place.export()
    assert all(line in after for line in before if line["kind"] != "end")
    again, _said = place.take(path)
    assert (again["messages"]["new"], again["notes"]["new"]) == (0, 0)
    assert again["messages"]["known"] == len(TURNS)
    (hits,) = place.recall("lavender sweeper dead letters")
    hit = next(hit for hit in hits if TELLING in hit["content"])
    assert (hit["project"], hit["session_id"]) == (PROJECT, SESSION)


def test_a_conversation_that_grew_is_followed(tmp_path):
    place = Place(tmp_path / "place")
    place.folder.mkdir()
    base = old(tmp_path)
    row(base, TURNS[:1], 0)
    place.take(base.path)
    base.connection.execute("DELETE FROM chunks")
    row(base, TURNS[:2], 0)
    row(base, TURNS[2:3], 1)
    summary, _said = place.take(base.path)
    base.connection.close()
    assert (summary["messages"]["new"], summary["messages"]["known"]) == (2, 1)
    kept = [line["text"] for line in place.export() if line["kind"] == "message"]
    assert kept == [text for _role, text in TURNS[:3]]


def test_a_database_of_another_shape_is_no_cloxy(tmp_path):
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, content TEXT)")
    with pytest.raises(ForeignTrouble, match="no memory system that is known"):
        Read(path, tmp_path / "t")
