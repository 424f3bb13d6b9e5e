"""A server whose database was of the original: found by words at once, told, and forgotten."""

import pytest
from ingest.ingest_support import Server
from legacy.legacy_kit import (
    NOTES,
    PROJECT,
    SESSION,
    TITLE,
    VERSIONS,
    OldDatabase,
    backups,
    build,
    rows,
    upgrade,
)

from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.services.doctor.directory import examine_directory
from cloxy_core.services.doctor.vectors import examine_vectors
from cloxy_core.services.upgrade import words
from cloxy_core.services.upgrade.words import WordFilling
from cloxy_hookspecs.errors import MigrationError

SWEEPER = "who moves jobs, the lavender sweeper?"
INDEXED = "SELECT count(*) FROM fts_passages"
MARK = "SELECT value FROM counters WHERE key = 'upgrading.indexed_to'"


@pytest.mark.parametrize("version", VERSIONS)
def test_everything_is_found_by_its_words_at_once(server_over, version):
    server = server_over(version)
    best = server.recall(SWEEPER)[0]
    assert best.id == 1
    assert "lavender sweeper" in best.content
    assert best.session_id == SESSION
    assert server.recall("orange crane")[0].content == f"[2026-04-11 08:00]\n{NOTES[1][1]}"
    assert server.recall("東京の鍵")[0].content == f"[2026-04-10 08:00]\n{NOTES[0][1]}"
    total = server.value("SELECT count(*) FROM memories")
    assert server.value(INDEXED) == total
    assert server.rows(MARK) == []


def test_what_begins_with_its_header_is_shown_with_one(server_over):
    server = server_over("5.1")
    best = server.recall(SWEEPER)[0]
    assert best.header == f"[2026-03-04 08:00 · shop · {TITLE}]"
    assert best.content.count(TITLE) == 1
    assert best.content.startswith(best.header)
    assert (best.project, best.metadata["title"]) == (PROJECT, TITLE)
    note = server.recall("orange crane")[0]
    assert note.content == f"{note.header}\n{NOTES[1][1]}"


def test_a_header_with_a_former_title_is_the_one_that_is_shown(server_over):
    def fill(old):
        for number, title in enumerate(("Former title", "Later title")):
            old.add(
                f"[2026-03-04 08:0{number} · shop · {title}]\nUSER: the velvet word {number}",
                f"convo:{SESSION}:{number}",
                session_id=SESSION,
                project=PROJECT,
                ts_start=f"2026-03-04T08:0{number}:00Z",
                metadata=f'{{"title": "{title}"}}',
            )

    server = server_over("5.1", fill)
    first = next(hit for hit in server.recall("velvet word") if hit.id == 1)
    assert first.header == "[2026-03-04 08:00 · shop · Former title]"
    assert first.content == "[2026-03-04 08:00 · shop · Former title]\nUSER: the velvet word 0"
    assert first.metadata["title"] == "Later title"


def test_a_note_that_looks_like_a_header_is_not_taken_for_one(server_over):
    text = "[2026-01-01 · not a header] but the first words of a note about velvet"
    server = server_over("5.1", lambda old: old.note("manual", text))
    best = server.recall("velvet")[0]
    assert text in best.content


@pytest.mark.parametrize("version", ["3", "5.1"])
def test_filters_of_project_and_time(server_over, version):
    server = server_over(version)
    assert server.recall("queue", since="2026-03-01", until="2026-03-30")
    assert not server.recall("queue", until="2026-02-28")
    assert bool(server.recall("queue", project="shop")) is (version == "5.1")


def test_filling_goes_on_where_it_was_killed(tmp_path, monkeypatch):
    build(tmp_path / "data")
    upgrade(tmp_path / "data")
    assert rows(tmp_path / "data" / "memory.db", MARK) == [(0.0,)]
    monkeypatch.setattr(words, "BATCH", 2)
    step, calls = WordFilling._step, []

    def fails_late(self, connection, after):
        calls.append(after)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return step(self, connection, after)

    monkeypatch.setattr(WordFilling, "_step", fails_late)
    server = Server(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        server.__enter__()
    server.__exit__()
    assert rows(tmp_path / "data" / "memory.db", INDEXED) == [(4,)]
    monkeypatch.setattr(WordFilling, "_step", step)
    with Server(tmp_path) as again:
        assert again.recall(SWEEPER)[0].id == 1
        assert again.value(INDEXED) == again.value("SELECT count(*) FROM memories")
        assert again.rows(MARK) == []


def test_status_tells_what_was_converted(server_over, tmp_path):
    server = server_over("4")
    told = server.do(server.engine.health.report())["store"]["upgraded"]
    (kept,) = backups(tmp_path / "data")
    assert "from Cloxy 4 on " in told
    assert "6 memories (3 of 1 conversations), 5 vectors kept" in told
    assert "1 rows without a vector" in told
    assert str(kept) in told
    kept.unlink()
    told = server.do(server.engine.health.report())["store"]["upgraded"]
    assert "is gone by now" in told


def test_a_database_of_our_own_tells_nothing_of_it(tmp_path):
    with Server(tmp_path) as server:
        assert "upgraded" not in server.do(server.engine.health.report())["store"]


def test_old_memories_are_forgotten_like_others(server_over, tmp_path):
    server = server_over("5.1")
    server.forget(server.recall("orange crane")[0].id)
    assert not [hit for hit in server.recall("orange crane") if "orange" in hit.content]
    server.forget_source(f"convo:{SESSION}")
    assert server.value("SELECT count(*) FROM memories WHERE origin = 'transcript'") == 0
    assert server.value("SELECT count(*) FROM embeddings") == 1
    server.stop()
    for file in (tmp_path / "data").rglob("*"):
        if file.is_file() and file.name != "reserve.bin":
            data = file.read_bytes()
            assert b"orange crane" not in data
            assert b"lavender sweeper" not in data


def test_new_memories_get_ids_above_all_old_ones(server_over):
    server = server_over("5.1")
    (identifier,) = server.remember("a new note about the copper kettle")
    # Two rows were deleted, of which the last one had the highest id.
    assert identifier == 9
    server.restart()
    assert server.recall("copper kettle")[0].id == identifier


def test_the_doctor_finds_nothing_wrong(tmp_path):
    build(tmp_path / "data")
    with Server(tmp_path, environ={"CLOXY_PLUGINS_DISABLED": ""}) as server:
        server.do(server.engine.checks.run())
        found = server.engine.checks.results()
    assert [each for each in found if each["severity"] == "error"] == []


def test_the_doctor_names_the_copy_and_no_space_is_missing(tmp_path):
    build(tmp_path / "data")
    upgrade(tmp_path / "data")
    (kept,) = backups(tmp_path / "data")
    found = examine_directory(DataDirectory(tmp_path / "data"))
    (problem,) = [each for each in found.problems if each.name == "kept-before-upgrade"]
    assert problem.details == (str(kept),)
    with Server(tmp_path) as server:
        vectors = server.read(lambda c: examine_vectors(c, lambda _words: None))
    assert vectors.problems == ()


def test_a_refusal_is_passed_on_as_it_is(tmp_path):
    old = OldDatabase(tmp_path / "data" / "memory.db", "5.1")
    old.connection.execute("PRAGMA user_version=3")
    old.close()
    server = Server(tmp_path)
    with pytest.raises(MigrationError, match="has the number 3"):
        server.__enter__()
    server.__exit__()
