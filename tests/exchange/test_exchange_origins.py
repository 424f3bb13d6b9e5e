"""Sections of Markdown files go out and come back as what they are."""

import pytest
from exchange.exchange_kit import HEADER, QUIET, Here, end, message, session, write_lines
from ingest.ingest_support import Server

ROWS = (
    "SELECT origin, kind, tier, immutable, content, occurred_from, source FROM memories ORDER BY id"
)
NOTE = "# Harbour\n\nIntro words.\n\n## Crane\n\nLifts *ten* tons.\n\n## Quay\n\nIs long.\n"


@pytest.fixture
def places(tmp_path):
    for name in ("here", "there", "notes"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes" / "plan.md").write_text(NOTE)
    return Here(tmp_path / "here"), Here(tmp_path / "there")


def read(place):
    """Let the notes be read there."""
    notes = str(place.folder.parent / "notes")
    with Server(place.folder, environ={**QUIET, "CLOXY_NOTES_DIRS": notes}) as server:
        server.ingest()


def test_sections_of_a_file_come_back_as_they_were(places):
    here, there = places
    read(here)
    before = here.rows(ROWS)
    assert {row[:4] for row in before} == {("markdown", "reference", "working", 1)}
    assert len(before) > 1
    lines = here.export()
    assert {line["origin"] for line in lines if line["kind"] == "message"} == {"markdown"}
    summary, _said = there.take(here.folder / "out.jsonl")
    assert summary["messages"]["new"] == len(before)
    assert there.rows(ROWS) == before
    assert there.export()[1:] == lines[1:]
    # Read there as well, they are known.
    read(there)
    assert there.rows(ROWS) == before


@pytest.mark.parametrize("origin", [None, "transcript", "of-no-plugin", "note", "document"])
def test_whatever_a_file_says_what_was_said_is_kept_as_such(places, tmp_path, origin):
    _here, there = places
    more = {} if origin is None else {"origin": origin}
    lines = [session(), message("m-1", "The larch is oiled.", **more)]
    there.take(write_lines(tmp_path / "in.jsonl", HEADER, *lines, end(1, 1)))
    assert there.rows("SELECT origin, immutable FROM memories") == [("transcript", 1)]
    (line,) = [line for line in there.export() if line["kind"] == "message"]
    assert line["origin"] is None


def test_an_origin_that_is_none_is_a_bad_line(places, tmp_path):
    _here, there = places
    lines = [session(), message("m-1", "The larch is oiled.", origin=7)]
    summary, said = there.take(
        write_lines(tmp_path / "in.jsonl", HEADER, *lines, end(1, 1)), code=1
    )
    assert (summary["messages"]["new"], summary["bad"]) == (0, 1)
    assert "in.jsonl:3: origin: " in said
