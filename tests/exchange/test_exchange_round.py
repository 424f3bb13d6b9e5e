"""From one machine to another: everything arrives, once, as it was."""

import json

import pytest
from exchange.exchange_kit import LONG, Place, filled, objects, without_header

QUERIES = ("tide tables harbour", "mast larch boat", "paragraph harbours and tides")


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        return filled(tmp_path_factory.mktemp("origin"))


@pytest.fixture
def file(origin, tmp_path):
    target = tmp_path / "memory.jsonl"
    done = origin.run("export", target)
    assert done.returncode == 0, done.stderr
    assert target.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["memory.jsonl"]
    return target


def test_an_export_says_everything_in_order(file):
    lines = objects(file)
    assert [each["kind"] for each in lines[:1] + lines[-1:]] == ["header", "end"]
    messages = [each for each in lines if each["kind"] == "message"]
    said = [each for each in messages if each["session"] == "s-one"]
    other = [each for each in messages if each["session"] == "s-two"]
    assert [each["uid"] for each in said] == ["u1", "u2", "u3"]
    assert [each["uid"] for each in other] == ["v1", "v2"]
    assert said[1]["text"] == LONG
    assert said[1]["time"] == "2026-05-08T13:57:01.250Z"
    assert (said[1]["role"], said[1]["author"]) == ("assistant", "assistant")
    assert said[1]["branch"] == "main"
    assert said[0]["source"].endswith("s-one.jsonl")
    first = next(each for each in lines if each.get("key") == "s-one")
    assert (first["key"], first["project"], first["branch"]) == ("s-one", "/srv/demo/shop", "main")
    assert (first["started"], first["ended"]) == (
        "2026-05-08T13:56:00.000Z",
        "2026-05-09T08:00:00.007Z",
    )
    assert first["title"]
    notes = [each for each in lines if each["kind"] == "note"]
    assert "".join(each["text"] for each in notes[1:]) == LONG
    assert notes[0]["project"] == "/srv/demo/boat"
    assert notes[1]["metadata"] == {"tags": ["x", 1], "deep": {"a": None}}
    assert lines[-1] == {"kind": "end", "sessions": 2, "messages": 5, "notes": len(notes)}


def test_an_import_answers_as_the_origin_and_exports_the_same(origin, file, tmp_path):
    other = Place(tmp_path / "other")
    other.folder.mkdir()
    summary, _said = other.take(file)
    assert summary["messages"] == {"new": 5, "known": 0, "forgotten": 0, "empty": 0, "ruled_out": 0}
    assert without_header(other.export()) == without_header(objects(file))
    assert other.recall(*QUERIES) == origin.recall(*QUERIES)
    assert all(found for found in origin.recall(*QUERIES))
    assert other.run("doctor", "--json").returncode == 0


def test_twice_is_once(file, tmp_path):
    other = Place(tmp_path / "other")
    other.folder.mkdir()
    other.take(file)
    before = other.export()
    summary, _said = other.take(file)
    lines = objects(file)
    assert summary["messages"] == {"new": 0, "known": 5, "forgotten": 0, "empty": 0, "ruled_out": 0}
    assert summary["notes"]["known"] == lines[-1]["notes"]
    assert summary["notes"]["new"] == summary["sessions"]["new"] == 0
    assert without_header(other.export()) == without_header(before)


def test_into_the_origin_itself_nothing_comes(origin, file):
    before = origin.export()
    summary, _said = origin.take(file)
    assert (summary["sessions"]["new"], summary["messages"]["new"], summary["notes"]["new"]) == (
        0,
        0,
        0,
    )
    assert without_header(origin.export()) == without_header(before)


def test_a_trial_says_what_would_come_and_writes_nothing(file, tmp_path):
    other = Place(tmp_path / "other")
    other.folder.mkdir()
    trial, _said = other.take(file, "--dry-run")
    assert not other.data.exists()
    done, _said = other.take(file)
    assert trial == done | {"dry_run": True}
    with other.server():
        again, _said = other.take(file, "--dry-run")
    assert again["messages"] == {"new": 0, "known": 5, "forgotten": 0, "empty": 0, "ruled_out": 0}
    assert again["notes"]["new"] == 0


def test_filters_are_those_of_recall_and_messages_stay_whole(origin):
    boat = origin.export("boat.jsonl", "--project", "boat")
    assert [each["uid"] for each in boat if each["kind"] == "message"] == ["v1", "v2"]
    assert len([each for each in boat if each["kind"] == "note"]) == 1
    day = origin.export("day.jsonl", "--since", "2026-05-09", "--until", "2026-05-09")
    assert [each["uid"] for each in day if each["kind"] == "message"] == ["u3"]
    assert [each["key"] for each in day if each["kind"] == "session"] == ["s-one"]
    part = origin.export("part.jsonl", "--source", "convo:s-one:2")
    assert [each["text"] for each in part if each["kind"] == "message"] == [LONG]


def test_standard_output_is_the_export_and_nothing_else(origin, file):
    done = origin.run("export")
    lines = [json.loads(text) for text in done.stdout.decode().splitlines()]
    assert without_header(lines) == without_header(objects(file))
    assert done.stderr == b""
    assert origin.run("export", "--json").returncode == 2


def test_a_file_that_is_there_is_replaced_only_when_asked(origin, file):
    before = file.read_bytes()
    refused = origin.run("export", file)
    assert refused.returncode == 6
    assert b"--force" in refused.stderr
    assert file.read_bytes() == before
    done = origin.run("export", file, "--force", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["messages"] == 5


def test_a_running_server_is_named(origin, file):
    with origin.server() as live:
        assert origin.run("export", "-").returncode == 0
        refused = origin.run("import", file)
        assert refused.returncode == 11
        assert f"process {live.process.pid}" in refused.stderr.decode()
