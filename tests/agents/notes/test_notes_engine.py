"""Through the real engine: notes that change, that hold secrets, and that are forgotten."""

import os

import pytest
from agents.stored import Stored, running
from notes_kit import BODY, NOTE

import cloxy_plugins.notes.plugin as plugin
from cloxy_hookspecs import Query


class StoredNotes(Stored):
    def __init__(self, app, folder):
        super().__init__(app, folder)
        self.changes = 0

    def note(self, words=NOTE, name="plan.md"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(words)
        self.changes += 1
        os.utime(path, (1_770_000_000 + self.changes,) * 2)
        return path

    def contents(self):
        return [row[0] for row in self.rows("SELECT content FROM memories ORDER BY id")]

    def recall(self, words):
        query = Query(words, top_k=5, now=1_800_000_000_000)
        return self.app.do(self.app.engine.recaller.recall(query)).hits


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("AIDER_CHAT_HISTORY_FILE", raising=False)
    with running(tmp_path, plugin, **{"notes.dirs": str(tmp_path / "notes")}) as app:
        yield StoredNotes(app, tmp_path / "notes")


def test_each_section_is_a_memory_that_says_where_it_is_from(stored):
    path = stored.note()
    stored.ingest()
    assert [content.split("\n")[0] for content in stored.contents()] == [
        "#crane #deep-water", "## Crane", "## Quay"]  # fmt: skip
    assert set(stored.rows("SELECT origin, kind, immutable FROM memories")) == {
        ("markdown", "reference", 1)
    }
    assert stored.rows("SELECT program, cwd FROM sessions") == [(1, str(stored.folder))]
    (hit, *_) = stored.recall("how many tons")
    assert hit.content == "## Crane\n\nLifts *ten* tons."
    assert hit.source.startswith(f"convo:note:{path}:")
    assert "The harbour: a plan" in hit.header
    assert {passage.role for passage in hit.passages} == {"note"}


def test_a_section_that_changes_is_revised(stored):
    stored.note()
    stored.ingest()
    stored.note(NOTE.replace("*ten* tons", "twenty").replace("# Harbour\n", "# Harbour\n\nNew.\n"))
    stored.ingest()
    stored.ingest(force=True)
    joined = "\n".join(stored.contents())
    assert len(stored.contents()) == 3
    assert "twenty" in joined
    assert "New." in joined
    assert "ten" not in joined.replace("twenty", "")
    assert stored.recall("twenty")


def test_what_is_gone_from_the_folder_stays(stored):
    path = stored.note()
    stored.ingest()
    stored.note("# Harbour\n\n## Quay\n\nIs long.\n")
    stored.ingest()
    path.unlink()
    stored.ingest()
    assert len(stored.contents()) == 3


def test_long_sections_are_stored_whole(stored):
    long = "## Long\n\n" + "\n\n".join(f"Paragraph {n} about buoys. " * 20 for n in range(20))
    stored.note(long)
    stored.ingest()
    assert len(stored.contents()) > 3
    assert "".join(stored.contents()) == long.rstrip()


def test_secrets_do_not_get_in(stored):
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    stored.note(f"---\ntitle: {secret}\ntags: [{secret}]\n---\n" + BODY + f"\n## Key\n\n{secret}\n")
    stored.ingest()
    assert len(stored.contents()) == 4
    assert secret not in str(stored.rows("SELECT * FROM memories"))
    assert secret not in str(stored.rows("SELECT * FROM sessions"))


def test_what_is_forgotten_does_not_come_back(stored):
    path = stored.note()
    stored.ingest()
    memory = stored.rows("SELECT id FROM memories WHERE content LIKE '## Crane%'")[0][0]
    stored.app.do(stored.app.engine.memories.forget(memory))
    stored.note(NOTE + "\n## Lamp\n\nIs bright.\n")
    stored.ingest()
    stored.ingest(force=True)
    joined = "\n".join(stored.contents())
    assert "tons" not in joined
    assert "Is bright." in joined
    stored.app.do(stored.app.engine.memories.forget_session(f"note:{path}"))
    stored.ingest(force=True)
    assert stored.contents() == []


def test_off_until_a_folder_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with running(tmp_path, plugin, **{"notes.dirs": ""}) as app:
        (status,) = [s for s in app.do(app.engine.catalogue.sources()) if s.name == "notes"]
        assert list(status.places) == []
        assert "CLOXY_NOTES_DIRS" in status.why
