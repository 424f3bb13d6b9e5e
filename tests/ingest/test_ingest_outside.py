"""A folder that is not watched, named by the owner of the data: read once, and never left."""

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from ingest_support import Server
from session_lines import lines, pairs, turns

from cloxy_core.services.ingest import service
from cloxy_hookspecs import InputError


@pytest.fixture
def server(tmp_path):
    with Server(tmp_path) as running:
        running.write(lines(*turns(2, session="watched")))
        yield running


@pytest.fixture
def outside(tmp_path):
    """A folder beside the watched one, with one session."""
    folder = tmp_path / "old laptop" / "sessions"
    folder.mkdir(parents=True)
    (folder / "old.jsonl").write_bytes(lines(*turns(3, session="old", stem="old")))
    return folder


def read(server, folder, **more):
    return server.do(server.engine.ingest.run(folder, anywhere=True, **more))


def test_the_owner_may_have_any_folder_read(server, outside):
    report = read(server, outside)
    assert (report.files_found, report.messages_added) == (1, 3)
    assert set(server.sessions()) == {"old"}
    assert server.messages("old") == pairs(*turns(3, session="old", stem="old"))
    server.check()


def test_nobody_else_may(server, outside):
    with pytest.raises(InputError) as caught:
        server.ingest(outside)
    assert "not inside a watched one" in caught.value.message
    assert "cloxy ingest DIR" in caught.value.hint
    assert server.sessions() == {}


def test_it_is_read_once_and_the_watched_folders_go_on(server, outside):
    read(server, outside)
    assert server.ingest().messages_added == 2
    again = read(server, outside)
    assert (again.messages_added, again.memories_added) == (0, 0)
    with (outside / "old.jsonl").open("ab") as file:
        file.write(lines(*turns(1, session="old", stem="new", first=3)))
    assert read(server, outside).messages_added == 1
    assert len(server.messages("old")) == 4
    assert server.ingest().messages_added == 0
    assert set(server.sessions()) == {"old", "watched"}
    assert server.engine.ingest.roots() == [server.watched]
    server.check()


def test_a_watched_folder_may_be_named_as_before(server):
    report = read(server, server.watched)
    assert (report.files_found, report.messages_added) == (1, 2)
    assert server.ingest().files_skipped == 1


def test_a_folder_around_a_watched_one_reads_each_file_once(server, outside, tmp_path):
    read(server, tmp_path)
    assert set(server.sessions()) == {"old", "watched"}
    assert server.ingest().files_skipped == 1
    server.check()


def prompts(count):
    """A list of prompts as it lies beside the sessions of some agent; it is no session."""
    entries = [{"session_id": f"s{n}", "ts": 1_780_000_000 + n, "text": "x"} for n in range(count)]
    return b"".join(json.dumps(each).encode() + b"\n" for each in entries)


def test_a_file_that_no_source_understands_is_nobodys_and_is_named(server, outside):
    (outside / "history.jsonl").write_bytes(prompts(5))
    report = read(server, outside)
    assert (report.messages_added, report.drift, report.errors) == (3, (), ())
    told = [(Path(each.file).name, each.error) for each in report.passed_over]
    assert told == [("history.jsonl", "no source understands it")]
    assert server.status().drift == ()


def test_a_file_with_nothing_in_it_is_told_by_nobody(server, outside):
    (outside / "empty.jsonl").write_bytes(b"")
    report = read(server, outside)
    assert (report.messages_added, report.drift, report.passed_over) == (3, (), ())


def test_a_file_that_is_understood_late_is_read(server, outside):
    (outside / "late.jsonl").write_bytes(prompts(200) + lines(*turns(2, session="late")))
    report = read(server, outside)
    assert (report.messages_added, report.passed_over) == (5, ())
    assert set(server.sessions()) == {"late", "old"}


def test_no_link_leads_out_of_the_folder(server, outside, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "id.jsonl").write_bytes(lines(*turns(2, session="secret")))
    (outside / "file.jsonl").symlink_to(secret / "id.jsonl")
    (outside / "folder").symlink_to(secret)
    (outside / "loop").symlink_to(outside)
    report = read(server, outside)
    assert set(server.sessions()) == {"old"}
    assert report.errors == ()
    told = {(Path(item.file).name, item.error) for item in report.passed_over}
    assert {("file.jsonl", "is a link"), ("folder", "is a link"), ("loop", "is a link")} <= told


def test_a_folder_swapped_for_a_link_between_look_and_read_leads_nowhere(
    server, outside, tmp_path, monkeypatch
):
    secret = tmp_path / "secret"
    (secret / "inner").mkdir(parents=True)
    inner = outside / "inner"
    inner.mkdir()
    for folder, session in ((secret / "inner", "secret"), (inner, "fine")):
        (folder / "a.jsonl").write_bytes(lines(*turns(2, session=session)))
    (reader,) = server.engine.ingest.readers
    original = type(reader.source).discover

    def swapping(self, failures, under=None):
        found = list(original(self, failures, under))
        if not inner.is_symlink():
            inner.rename(tmp_path / "away")
            inner.symlink_to(secret / "inner")
        return found

    monkeypatch.setattr(type(reader.source), "discover", swapping)
    # Else the first look would be that of who shares the files out.
    monkeypatch.setattr(service, "share_out", lambda readers, folder: (readers, ()))
    assert read(server, outside).errors
    assert set(server.sessions()) == {"old"}


def test_pipes_devices_and_second_names_are_told_and_never_block(server, outside):
    os.mkfifo(outside / "pipe.jsonl")
    (outside / "zero.jsonl").symlink_to("/dev/zero")
    os.link(outside / "old.jsonl", outside / "second.jsonl")
    report = read(server, outside)
    assert report.messages_added == 3
    told = " ".join(f"{item.file}: {item.error}" for item in report.passed_over)
    assert "pipe.jsonl: is not a regular file" in told
    assert "zero.jsonl: is a link" in told
    assert "hard link" in told


@pytest.mark.parametrize("text", ["nowhere", "sessions/old.jsonl", "relative"])
def test_what_is_no_folder_is_an_input_error(server, outside, text):
    path = outside.parent / text if text != "relative" else Path("sessions")
    with pytest.raises(InputError) as caught:
        read(server, path)
    assert caught.value.hint


def test_a_source_that_cannot_read_other_folders_says_so(server, outside, monkeypatch):
    (reader,) = server.engine.ingest.readers
    plain = SimpleNamespace(roots=reader.source.roots, discover=None, read=None, excerpt=None)
    monkeypatch.setattr(server.engine.ingest, "readers", (replace(reader, source=plain),))
    monkeypatch.setattr(server.engine.ingest, "others", ())
    with pytest.raises(InputError, match="not watched"):
        read(server, outside)
