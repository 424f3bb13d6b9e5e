"""Files that change under the reader, cannot be read, or are not understood."""

import os

import pytest
from ingest_support import age, append
from session_lines import lines, pairs, title, turns


def test_a_file_that_grows_while_it_is_read_loses_no_line(server, monkeypatch):
    path = server.write(lines(*turns(900)))
    (reader,) = server.engine.ingest.readers
    original, waiting = type(reader.source).read, [turns(5, first=900), turns(5, first=905)]

    def growing(self, item, offset):
        for number, found in enumerate(original(self, item, offset)):
            if number % 300 == 0 and waiting:
                append(path, lines(*waiting.pop(0)))
            yield found

    monkeypatch.setattr(type(reader.source), "read", growing)
    server.ingest()
    monkeypatch.undo()
    server.ingest()
    assert server.messages() == pairs(*turns(910))
    server.check()


def test_a_file_that_is_rewritten_while_it_is_read_is_read_again(server, monkeypatch):
    old, new = turns(900), turns(1200, stem="other")
    path = server.write(lines(*old))
    (reader,) = server.engine.ingest.readers
    original = type(reader.source).read

    def rewriting(self, item, offset):
        for number, found in enumerate(original(self, item, offset)):
            if number == 200:
                path.write_bytes(lines(*new))
            yield found

    monkeypatch.setattr(type(reader.source), "read", rewriting)
    server.ingest()
    monkeypatch.undo()
    age(path, 7)
    server.ingest()
    assert set(pairs(*new)) <= set(server.messages())
    assert len({uid for uid, _text in server.messages()}) == len(server.messages())
    server.check()


def test_an_unreadable_file_is_told_and_tried_again_while_others_go_on(server, monkeypatch):
    bad = server.write(lines(*turns(3, session="bad")), "bad.jsonl")
    server.write(lines(*turns(3, session="good")), "good.jsonl")
    (reader,) = server.engine.ingest.readers
    original = type(reader.source).read

    def refusing(self, item, offset):
        if item.uri == str(bad):
            raise PermissionError(13, "Permission denied", item.uri)
        return original(self, item, offset)

    monkeypatch.setattr(type(reader.source), "read", refusing)
    report = server.ingest()
    assert [error.file for error in report.errors] == [str(bad)]
    assert "Permission denied" in report.errors[0].error
    assert any(str(bad) in warning for warning in server.status().warnings)
    assert set(server.sessions()) == {"good"}
    assert len(server.ingest().errors) == 1
    monkeypatch.undo()
    assert server.ingest().messages_added == 3
    assert server.status().warnings == ()
    server.check()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_denied_is_told_in_words(server):
    path = server.write(lines(*turns(3)))
    path.chmod(0)
    assert "denied" in server.ingest().errors[0].error.lower()
    path.chmod(0o600)
    assert server.ingest().messages_added == 3


def test_a_failure_half_way_through_a_file_loses_nothing(server, monkeypatch):
    records = turns(1300)
    path = server.write(lines(*records))
    (reader,) = server.engine.ingest.readers
    original = type(reader.source).read

    def failing(self, item, offset):
        for number, found in enumerate(original(self, item, offset)):
            if number == 1000:
                raise OSError(5, "Input/output error")
            yield found

    monkeypatch.setattr(type(reader.source), "read", failing)
    assert server.ingest().errors
    assert server.cursor(path)[1] == "failed"
    monkeypatch.undo()
    server.ingest()
    assert server.messages() == pairs(*records)
    assert server.cursor(path) == (path.stat().st_size, "watched")
    server.check()


def test_an_edit_made_while_the_file_could_not_be_read_is_followed(server, monkeypatch):
    records = turns(80)
    path = server.write(lines(*records))
    server.ingest()
    (reader,) = server.engine.ingest.readers

    def refusing(self, item, start, end):
        raise PermissionError(13, "Permission denied")

    records[40] = records[40] | {"message": {"role": "user", "content": "turn 40 of XX"}}
    path.write_bytes(lines(*records))
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000_000))
    with monkeypatch.context() as patch:
        patch.setattr(type(reader.source), "excerpt", refusing)
        patch.setattr(type(reader.source), "read", refusing)
        server.ingest()
    server.ingest()
    assert server.messages() == pairs(*records)
    server.check()


def test_a_file_that_vanishes_between_the_look_and_the_read_stops_nothing(server, monkeypatch):
    path = server.write(lines(*turns(3, session="gone")), "gone.jsonl")
    server.write(lines(*turns(3, session="good")), "good.jsonl")
    age(server.file("good.jsonl"))
    (reader,) = server.engine.ingest.readers
    original = type(reader.source).discover

    def vanishing(self, failures, under=None):
        found = list(original(self, failures, under))
        path.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(type(reader.source), "discover", vanishing)
    report = server.ingest()
    assert len(report.errors) == 1
    assert set(server.sessions()) == {"good"}
    monkeypatch.undo()
    assert server.ingest().errors == ()
    server.check()


def test_a_folder_that_vanishes_and_comes_back_changes_nothing(server):
    records = turns(5)
    path = server.write(lines(*records))
    server.ingest()
    away = server.watched.rename(server.folder / "away")
    assert server.ingest().files_found == 0
    assert server.cursor(path)[1] == "gone"
    away.rename(server.watched)
    assert server.ingest().messages_added == 0
    assert server.cursor(path)[1] == "watched"
    append(path, lines(*turns(1, first=5)))
    assert server.ingest().messages_added == 1
    assert server.messages() == pairs(*turns(6))
    server.check()


def test_a_file_with_only_what_is_not_understood_raises_drift(server):
    unknown = [{"kind": "turn", "message": {"text": "hello"}, "n": n} for n in range(3)]
    path = server.write(lines(*unknown))
    assert server.ingest().drift == (str(path),)
    assert server.status().drift == (str(path),)
    assert any("drift" in warning for warning in server.status().warnings)


def test_a_file_with_only_titles_is_no_drift(server):
    server.write(lines(title("Only a title"), {"type": "permission-mode", "mode": "plan"}))
    report = server.ingest()
    assert report.drift == ()
    assert server.status().warnings == ()
