"""What odd bytes and odd records do: their line at most, never the file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ingest_support import Server, append
from session_lines import START, instant, line, lines, pairs, said, title, turns

BAD = [
    b'{"type":"user","message":' + b"[" * 5000 + b"]" * 5000 + b"}",
    b"[1, 2]",
    b'"text"',
    b"null",
    b"\0" * 200,
    b"\xff\xfe broken",
    b'{"type":"user","uuid":"x","sessionId":"s1","message":{"role":"user","content":"cut',
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: repr(bad[:12]))
def test_a_bad_line_is_passed_over_and_counted_once(server, bad):
    records = turns(4)
    path = server.write(lines(*records[:2]) + bad + b"\n" + lines(*records[2:]))
    assert server.ingest().bad_lines == 1
    assert server.messages() == pairs(*records)
    assert server.value("SELECT count(*) FROM dead_letters") == 1
    server.restart()
    append(path, lines(*turns(1, first=4)))
    server.ingest()
    assert server.status().bad_lines == 1
    assert server.value("SELECT count(*) FROM dead_letters") == 1
    server.check()


@pytest.mark.parametrize(
    "content", [None, [], {}, [None], "", [{"type": "tool_result", "content": [[None]]}], 7]
)
def test_a_content_without_words_stops_nothing(server, content):
    records = turns(2)
    empty = said("", "empty") | {"message": {"role": "user", "content": content}}
    server.write(lines(records[0], empty, records[1]))
    server.ingest()
    assert server.messages() == pairs(*records)
    server.check()


def test_huge_numbers_and_no_numbers_are_read(server):
    first, last = turns(2)
    odd = line(said("odd", "odd"))[:-2]
    server.write(
        line(first)
        + odd.replace(b"odd", b"od1")
        + b',"n":NaN,"m":-Infinity}\n'
        + odd.replace(b"odd", b"od2")
        + b',"n":'
        + b"9" * 5000
        + b"}\n"
        + line(last)
    )
    server.ingest()
    texts = [text for _uid, text in server.messages()]
    assert texts == ["turn 0 of s1", "od1", "od2", "turn 1 of s1"]
    server.check()


def test_a_byte_order_mark_costs_no_line(server):
    records = turns(3)
    server.write(b"\xef\xbb\xbf" + lines(*records))
    server.ingest()
    assert server.messages() == pairs(*records)
    server.check()


def test_glued_records_are_both_read_once(server):
    records = turns(4)
    glued = line(records[1]).rstrip(b"\n") + line(records[2])
    path = server.write(line(records[0]) + glued + line(records[3]))
    server.ingest()
    append(path, lines(*turns(1, first=4)))
    server.ingest(force=True)
    assert server.messages() == pairs(*turns(5))
    server.check()


def test_many_records_glued_on_one_line_are_read(server):
    records = turns(1500)
    server.write(lines(*records).replace(b"\n", b"") + b"\n")
    server.ingest()
    server.ingest(force=True)
    assert server.messages() == pairs(*records)
    server.check()


def test_half_of_a_character_becomes_a_replacement_and_the_rocket_stays(server):
    raw = b'{"type":"user","uuid":"%s","sessionId":"s1","message":{"role":"user","content":"%s"}}\n'
    server.write(raw % (b"a", rb"build ok \ud83d") + raw % (b"b", rb"ship \ud83d\ude80"))
    server.ingest()
    assert server.messages() == [("a", "build ok \ufffd"), ("b", "ship 🚀")]
    server.check()


@pytest.mark.parametrize("odd", ["\u2028", "\u0085", "\x0b", "\x0c", "\u2029", "\r", "\t"])
def test_separators_inside_a_string_do_not_end_a_line(server, odd):
    records = [said(f"before {odd} after", "odd"), *turns(1)]
    server.write(lines(*records))
    server.ingest()
    assert server.messages() == pairs(*records)
    server.check()


def test_what_follows_an_embedded_nul_is_kept_and_found(server):
    server.write(lines(said("alphaword \0 omegaword", "nul"), *turns(3)))
    server.ingest()
    (uid, text), *_others = server.messages()
    assert uid == "nul"
    assert text.startswith("alphaword") and text.endswith("omegaword")
    assert server.recall("omegaword")
    server.do(server.engine.memories.reindex())
    server.check()


def test_an_enormous_word_is_kept_and_its_neighbours_are_found(server):
    record = said("beforeword " + "a" * 91_548 + " afterword", "huge")
    server.write(lines(record))
    server.ingest()
    assert server.messages() == pairs(record)
    assert server.recall("beforeword") and server.recall("afterword")
    server.check()


@pytest.mark.parametrize("stamp", [None, "9999-99-99", "1e400", 7, "", [], "+300000-01-01"])
def test_a_message_without_a_usable_time_is_stored_undated(server, stamp):
    records = [said("undated words", "odd") | {"timestamp": stamp}, *turns(2)]
    server.write(lines(*records))
    server.ingest()
    assert server.messages() == pairs(*records)
    assert server.rows("SELECT occurred_at FROM passages WHERE message_uid='odd'") == [(None,)]
    server.check()


def test_order_is_that_of_the_file_when_the_clock_goes_back(server):
    records = [said(f"word {n}", f"m{n}", at=instant(n if n < 3 else n - 7200)) for n in range(6)]
    server.write(lines(*records))
    server.ingest()
    assert server.messages() == pairs(*records)
    started, ended = server.rows("SELECT started_at, ended_at FROM sessions")[0]
    assert ended == START + 2000
    assert started == START - 7_197_000
    server.check()


def test_a_message_from_next_year_gets_no_time(server):
    server.write(lines(said("from the future", "odd", at="2044-01-01T00:00:00Z")))
    server.ingest()
    assert server.rows("SELECT occurred_at FROM passages") == [(None,)]


def test_unknown_records_are_counted_and_passed_over(server):
    records = turns(2)
    server.write(lines(records[0], {"type": "brand-new", "n": 1}, records[1]))
    server.ingest()
    assert server.messages() == pairs(*records)
    assert server.status().unknown == {"brand-new": 1}
    server.check()


def test_a_picture_is_named_and_its_data_is_not_stored(server):
    data = "QUJD" * 100_000
    picture = {"type": "image", "source": {"media_type": "image/png", "data": data}}
    server.write(lines(said([picture], "pic"), *turns(1)))
    server.ingest()
    assert server.messages()[0] == ("pic", "[image: image/png]")
    assert server.holders("QUJDQUJD") == []
    server.check()


def test_the_same_id_in_many_sessions_is_stored_for_each(server):
    for number in range(100):
        server.write(
            lines(said("identical telling words", "same", session=f"s{number}")), f"{number}.jsonl"
        )
    server.ingest()
    assert len(server.sessions()) == 100
    assert len(server.recall("identical telling words", top_k=10)) == 1
    server.check()


def test_several_sessions_in_one_file_keep_their_own_messages(server):
    one, two = turns(6, session="one"), turns(6, session="two")
    mixed = [record for both in zip(one, two, strict=True) for record in both]
    server.write(lines(*mixed))
    server.ingest()
    assert server.sessions() == {"one": pairs(*one), "two": pairs(*two)}
    server.check()


def test_a_parser_that_fails_on_one_line_costs_that_line(server, monkeypatch):
    (reader,) = server.engine.ingest.readers
    original = type(reader.parser).parse

    def stumbling(self, item, found, state):
        if any(b"poison" in line.data for line in found):
            raise ZeroDivisionError("words of the line")
        return original(self, item, found, state)

    monkeypatch.setattr(type(reader.parser), "parse", stumbling)
    records = turns(4)
    server.write(lines(*records[:2], said("poison", "p"), *records[2:]) + line(title("A title")))
    server.write(lines(*turns(2, session="other")), "other.jsonl")
    assert server.ingest().bad_lines == 1
    assert server.messages() == pairs(*records)
    assert server.title() == "A title"
    assert set(server.sessions()) == {"s1", "other"}
    (reason,) = server.rows("SELECT reason FROM dead_letters")
    assert reason == ("the parser failed (ZeroDivisionError)",)
    server.check()


def test_a_run_that_cannot_be_written_stops_its_file_only(server, monkeypatch):
    (reader,) = server.engine.ingest.readers
    original = type(reader.feed.chunker).pack
    poison = [True]

    def stumbling(self, new, tail):
        if poison and any("poison" in message.text for message in new):
            raise ZeroDivisionError("words of the message")
        return original(self, new, tail)

    monkeypatch.setattr(type(reader.feed.chunker), "pack", stumbling)
    records = [*turns(450), said("poison", "p"), *turns(500, first=450)]
    path = server.write(lines(*records))
    server.write(lines(*turns(2, session="other")), "other.jsonl")
    report = server.ingest()
    assert [error.file for error in report.errors] == [str(path)]
    assert server.messages("other") == pairs(*turns(2, session="other"))
    assert server.messages() == pairs(*records[:400])
    assert server.cursor(path)[1] == "failed"
    server.check()
    poison.clear()
    assert server.ingest().errors == ()
    assert server.messages() == pairs(*records)
    server.check()


def test_a_source_that_cannot_look_for_its_files_is_told(server, monkeypatch):
    (reader,) = server.engine.ingest.readers

    def failing(self, failures, under=None):
        raise ZeroDivisionError

    monkeypatch.setattr(type(reader.source), "discover", failing)
    report = server.ingest()
    assert "cannot look" in report.errors[0].error
    assert any("cannot look" in warning for warning in server.status().warnings)
    monkeypatch.undo()
    server.write(lines(*turns(1)))
    assert server.ingest().messages_added == 1
    assert server.status().warnings == ()


def run_child(folder):
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("big_line_child.py")), str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ,
    )
    return map(int, done.stdout.split())


@pytest.mark.process
def test_a_line_of_100_megabytes_is_passed_over_within_bounds(tmp_path):
    path = tmp_path / "projects" / "-srv" / "a.jsonl"
    path.parent.mkdir(parents=True)
    head, tail = json.dumps(said("@", "big")).encode().split(b"@")
    with path.open("wb") as file:
        file.write(lines(*turns(1)) + head)
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(tail + b"\n" + lines(*turns(1, first=1)))
    added, grown, bad = run_child(tmp_path)
    assert (added, bad) == (2, 1)
    assert grown < 300
    with Server(tmp_path) as server:
        assert server.messages() == pairs(*turns(2))
        assert server.cursor(path) == (path.stat().st_size, "watched")
        server.check()


@pytest.mark.process
def test_a_million_empty_lines_cost_little_and_hide_nothing(tmp_path):
    path = tmp_path / "projects" / "-srv" / "a.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(lines(*turns(1)) + b"\n" * 1_000_000 + lines(*turns(1, first=1)))
    added, grown, bad = run_child(tmp_path)
    assert (added, bad) == (2, 0)
    assert grown < 100
