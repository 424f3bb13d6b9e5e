"""Pages that were remembered arrive as pages: with their origin, address, time and hash."""

import json

import pytest
from exchange.exchange_kit import Place, end, note, write_lines
from web.operations.sites import Site, html

from cloxy_core.testing.harness import App

ADDRESS = "http://example.com/"
TEXT = "The harbour crane lifts forty tonnes on a good day, and its people are proud of it."
ROWS = "SELECT uid, origin, kind, immutable, source, content, occurred_from, extra FROM memories"


@pytest.fixture
def site():
    page = html(f"<main><p>{TEXT}</p><p>{TEXT[::-1]}</p></main>", "Harbour")
    with Site({"/": page}).running() as site:
        yield site


def remembered(place, site):
    """What comes of remembering the page there."""
    with App(place.folder, network=site.network("example.com")) as app:
        fetch = next(each for each in app.engine.operations if each.record.name == "web-fetch")
        return app.do(fetch.run({"url": ADDRESS, "remember": True})).remembered


@pytest.fixture
def places(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLOXY_EMBED_PROVIDER", "none")
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    return Place(tmp_path / "here"), Place(tmp_path / "there")


def test_a_page_arrives_as_it_was(places, site):
    here, there = places
    assert remembered(here, site).added == 1
    lines = here.export()
    facts = next(each for each in lines if each["kind"] == "note")["metadata"]
    assert facts["url"] == ADDRESS
    assert facts["fetched_at"]
    assert len(facts["sha256"]) == 64
    trial, _said = there.take(here.folder / "out.jsonl", "--dry-run")
    summary, _said = there.take(here.folder / "out.jsonl")
    assert (
        summary["notes"]
        == trial["notes"]
        == {"new": 1, "known": 0, "forgotten": 0, "empty": 0, "ruled_out": 0}
    )
    assert there.rows(ROWS) == here.rows(ROWS)
    assert there.rows("SELECT origin, kind, immutable FROM memories") == [
        ("document", "reference", 1)
    ]
    assert there.export()[1:] == lines[1:]
    assert there.take(here.folder / "out.jsonl")[0]["notes"]["known"] == 1
    again = remembered(there, site)
    assert (again.added, len(again.ids)) == (0, 1), "the page is known there"


def test_the_same_page_that_was_remembered_on_both_sides_is_there_once(places, site):
    here, there = places
    remembered(here, site)
    remembered(there, site)
    here.export()
    for more in ("--dry-run",), ():
        assert there.take(here.folder / "out.jsonl", *more)[0]["notes"]["known"] == 1


@pytest.mark.parametrize("origin", [None, "of-no-plugin", "transcript"])
def test_an_origin_that_is_missing_or_of_no_plugin_becomes_a_note(places, tmp_path, origin):
    _here, there = places
    header = {"kind": "header", "format": "cloxy-export", "version": 1}
    lines = [header, note("n1", TEXT, origin=origin), end(notes=1)]
    file = write_lines(tmp_path / "in.jsonl", *lines)
    assert there.take(file)[0]["notes"]["new"] == 1
    assert there.rows("SELECT origin, immutable FROM memories") == [("note", 0)]
    same = write_lines(tmp_path / "same.jsonl", header, note("n2", TEXT), end(notes=1))
    assert there.take(same)[0]["notes"]["known"] == 1


@pytest.mark.parametrize("origin", [7, "", "a\u0007b", "x" * 2_000])
def test_an_origin_that_is_none_is_a_bad_line(places, tmp_path, origin):
    _here, there = places
    header = {"kind": "header", "format": "cloxy-export", "version": 1}
    lines = [header, note("n1", TEXT, origin=origin), end(notes=1)]
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in lines))
    summary, said = there.take(file, code=1)
    assert (summary["notes"]["new"], summary["bad"]) == (0, 1)
    assert "in.jsonl:2: origin: " in said
