"""Through the real engine: what is stored, and what is told of encrypted conversations."""

import os

import pytest
from agents.stored import Stored, running
from windsurf_kit import SESSION, agent, chat, lines, put, user

import cloxy_plugins.windsurf.plugin as windsurf
from cloxy_core.services.logs.lines import LineLogs
from cloxy_plugins.windsurf.places import transcript_tree


class StoredTranscripts(Stored):
    """An application over a home folder with Windsurf in it."""

    def __init__(self, app, home):
        super().__init__(app)
        self.home = home

    def encrypted(self, name, number):
        folder = self.home / ".codeium" / name
        folder.mkdir(parents=True, exist_ok=True)
        for each in range(number):
            (folder / f"{each}.pb").write_bytes(os.urandom(40))
        return folder

    def source(self):
        sources = self.app.do(self.app.engine.catalogue.sources())
        return next(each for each in sources if each.name == "windsurf")


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    with running(tmp_path, windsurf) as app:
        yield StoredTranscripts(app, tmp_path / "home")


def test_encrypted_conversations_are_counted_by_folder_and_never_opened(stored, monkeypatch):
    cascade = stored.encrypted("windsurf/cascade", 3)
    nested = stored.encrypted("windsurf/cascade/implicit", 2)
    following = stored.encrypted("windsurf-next/cascade", 1)
    implicit = stored.encrypted("windsurf/implicit", 1)
    (cascade / "notes.md").write_text("no conversation")
    opened = []
    real = os.open

    def noting(path, *rest, **more):
        opened.append(str(path))
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", noting)
    put(stored.home, lines(*chat()))
    report = stored.ingest()
    monkeypatch.undo()
    assert any(path.endswith(".jsonl") for path in opened)
    assert not [path for path in opened if path.endswith(".pb")]
    assert nested.is_dir()
    told = {(each.file, each.error.partition(",")[0]) for each in report.passed_over}
    assert told == {
        (str(cascade), "5 encrypted conversation(s)"),
        (str(following), "1 encrypted conversation(s)"),
        (str(implicit), "1 encrypted conversation(s)"),
    }
    assert not report.errors, "it is by rule, and no error"
    source = stored.source()
    assert "encrypts" in source.why
    assert len(source.passed_over) == 3
    assert not source.failures, "nothing is wrong here"


def test_without_windsurf_there_is_nothing_to_tell(stored):
    report = stored.ingest()
    assert not report.passed_over
    assert not stored.source().passed_over


def test_a_transcript_that_grows_is_stored_once(stored):
    put(stored.home, lines(*chat()))
    stored.ingest()
    before = stored.rows("SELECT message_uid, occurred_at FROM passages ORDER BY id")
    path = put(stored.home, lines(*chat(), user("and now?"), agent("Still.")))
    os.utime(path, (1_900_000_000, 1_900_000_000))
    stored.ingest()
    after = stored.rows("SELECT message_uid, occurred_at FROM passages ORDER BY id")
    assert after[: len(before)] == before, "what was said earlier keeps its time"
    assert len(after) == 4
    assert stored.rows("SELECT agent, key, title FROM sessions") == [
        ("windsurf", SESSION, "why does it flake?")
    ]
    path.unlink()
    stored.ingest()
    assert len(stored.rows("SELECT id FROM passages")) == 4


def test_a_pass_over_one_folder_says_nothing_of_encrypted_ones(stored):
    stored.encrypted("windsurf/cascade", 1)
    path = put(stored.home, lines(*chat()))
    report = stored.app.do(stored.app.engine.ingest.run(path.parent))
    assert report.messages_added == 2
    assert not report.passed_over


def test_only_transcripts_are_found(tmp_path):
    for name in ("a.jsonl", "deeper/b.jsonl", "c.json", ".jsonl", "d.jsonl.tmp"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"{}\n")
    found = LineLogs([transcript_tree(tmp_path)]).discover([])
    assert [item.uri for item in found] == [str(tmp_path / "a.jsonl")]
