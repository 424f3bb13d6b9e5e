"""Rules of projects hold for what is imported, notes included, and a trial says so."""

import pytest
from exchange.exchange_kit import HEADER, Here, end, message, note, session, write_lines
from exchange.foreign_memories_kit import ExocortexDatabase
from ingest.ingest_support import Server

NONE = {"new": 0, "known": 0, "forgotten": 0, "empty": 0, "ruled_out": 0}


@pytest.fixture
def place(tmp_path):
    made = Here(tmp_path / "place")
    made.folder.mkdir()
    with Server(made.folder):
        pass
    return made


def ruled(place, path, *, ignored=False, days=None):
    """What `cloxy ignore` and `cloxy retention` note; neither of both lifts a rule."""
    values = (path, path, ignored, days, 1)
    place.change(f"DELETE FROM project_rules WHERE path = '{path}'")
    if ignored or days:
        place.change("INSERT INTO project_rules VALUES (?, ?, ?, ?, ?)", *values)


@pytest.fixture
def file(tmp_path):
    """What was said and noted in an ignored project, in one of its name, and elsewhere."""
    return write_lines(
        tmp_path / "in.jsonl",
        HEADER,
        session("s-1", project="/srv/diary/spring", cwd="/srv/diary/spring"),
        message("m-1", "Dear diary, the tulips are out."),
        session("s-2", project="/srv/shop", cwd="/srv/shop"),
        message("m-2", "The shop opens at eight.", "s-2"),
        message("m-3", "The shop opened in the last century.", "s-2", time="1999-05-08T13:56:00Z"),
        session("s-3", project="/srv/shop", cwd="/srv/shop"),
        message("m-4", "An old word alone.", "s-3", time="1999-05-08T13:56:00Z"),
        note("n-1", "A note of the diary.", project="/srv/diary"),
        note("n-2", "A note of a folder in it.", project="/srv/diary/spring"),
        note("n-3", "A note of a project that is only a name.", project="Diary"),
        note("n-4", "A note of the shop.", project="/srv/shop", time="1999-05-08T13:56:00Z"),
        note("n-5", "A note of nothing."),
        note("n-6", "A note of another diary.", project="/home/ada/diary"),
        end(3, 4, 6),
    )


def test_nothing_of_an_ignored_project_comes(place, file):
    ruled(place, "/srv/diary", ignored=True)
    ruled(place, "/srv/shop", days=3650)
    trial, _said = place.take(file, "--dry-run")
    summary, _said = place.take(file)
    assert summary == trial | {"dry_run": False}
    assert summary["sessions"] == NONE | {"new": 1, "ruled_out": 2}
    assert summary["messages"] == NONE | {"new": 1, "ruled_out": 3}
    # Notes are kept on purpose, however old they are.
    assert summary["notes"] == NONE | {"new": 3, "ruled_out": 3}
    lines = place.export()
    assert [line["uid"] for line in lines if line["kind"] == "message"] == ["m-2"]
    assert [line["uid"] for line in lines if line["kind"] == "note"] == ["n-4", "n-5", "n-6"]
    again, _said = place.take(file)
    assert again["notes"] == NONE | {"known": 3, "ruled_out": 3}
    said = place.run("import", file, "--dry-run").stdout.decode()
    assert "0 new, 3 known, 3 kept out by rules of projects" in said


def test_what_was_kept_out_comes_when_the_rule_is_gone(place, file):
    ruled(place, "/srv/diary", ignored=True)
    place.take(file)
    ruled(place, "/srv/diary")
    trial, _said = place.take(file, "--dry-run")
    summary, _said = place.take(file)
    assert summary["notes"] == trial["notes"] == NONE | {"new": 3, "known": 3}
    assert summary["messages"]["ruled_out"] == trial["messages"]["ruled_out"]


def test_other_systems_know_a_project_by_its_name_alone(place, tmp_path):
    base = ExocortexDatabase(tmp_path / "e.db")
    base.memory("m-1", "The tulips are out.", is_active=1, namespace="diary")
    base.memory("m-2", "The shop opens at eight.", is_active=1, namespace="shop")
    ruled(place, "/srv/diary", ignored=True)
    trial, _said = place.take(base.file, "--dry-run")
    summary, _said = place.take(base.file)
    assert summary["notes"] == trial["notes"] == NONE | {"new": 1, "ruled_out": 1}
    assert place.rows("SELECT uid FROM memories") == [("exocortex:m-2",)]
