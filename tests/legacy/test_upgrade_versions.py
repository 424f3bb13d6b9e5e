"""Each version of the original is recognised and converted: ids, times, texts, vectors."""

import json
import os
import re

import pytest
from legacy.legacy_kit import (
    CONVERSATIONS,
    DIMENSIONS,
    NOTES,
    PROJECT,
    SESSION,
    TITLE,
    VERSIONS,
    OldDatabase,
    backups,
    build,
    is_ours,
    md5,
    milliseconds,
    old_rows,
    report,
    rows,
    sha,
    sound,
    stamp,
    upgrade,
    vector,
)

from cloxy_core.store.legacy import building
from cloxy_core.store.legacy.instants import milliseconds as read_time

EVERYTHING = "SELECT * FROM memories ORDER BY id"


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_ids_texts_times_and_vectors_are_kept(tmp_path, version):
    path = build(tmp_path / "d", version)
    before = old_rows(path)
    assert upgrade(tmp_path / "d") == path
    assert sound(path)
    after = rows(
        path,
        "SELECT m.id, m.content, m.source, e.vector, m.created_at FROM memories m"
        " JOIN passages p ON p.memory_id = m.id LEFT JOIN embeddings e ON e.passage_id = p.id"
        " ORDER BY m.id",
    )
    assert [row[:4] for row in after] == [row[:4] for row in before]
    assert [row[4] for row in after] == [read_time(row[4]) for row in before]
    assert rows(path, "SELECT id FROM passages ORDER BY id") == [(row[0],) for row in before]
    found = report(path)
    assert found[f"version.{version}"] == 1
    assert (found["rows"], found["conversations"]) == (len(before), CONVERSATIONS)
    assert found["vectors"] == len(before) - 1
    assert found["problem.vectors.missing"] == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_no_id_is_given_again(tmp_path, version):
    path = build(tmp_path / "d", version)
    (last,) = rows(path, "SELECT seq FROM sqlite_sequence WHERE name = 'chunks'")
    highest = old_rows(path)[-1][0]
    assert last[0] > highest
    upgrade(tmp_path / "d")
    counted = rows(path, "SELECT seq FROM sqlite_sequence WHERE name IN ('memories', 'passages')")
    assert counted == [last, last]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_second_start_does_nothing(tmp_path, version):
    path = build(tmp_path / "d", version)
    upgrade(tmp_path / "d")
    before, kept = rows(path, EVERYTHING), backups(tmp_path / "d")
    told = []
    upgrade(tmp_path / "d", told.append)
    assert told == []
    assert rows(path, EVERYTHING) == before
    assert backups(tmp_path / "d") == kept


@pytest.mark.parametrize("version", VERSIONS)
def test_the_old_database_is_kept_as_it_was(tmp_path, version):
    path = build(tmp_path / "d", version)
    before = old_rows(path, "*")
    told = []
    upgrade(tmp_path / "d", told.append)
    (kept,) = backups(tmp_path / "d")
    assert old_rows(kept, "*") == before
    assert kept.name.endswith(f"-before-upgrade-from-{version}.db")
    assert kept.stat().st_mode & 0o077 == 0
    assert path.stat().st_mode & 0o077 == 0
    assert f"from Cloxy {version}" in told[-1]
    assert str(kept) in told[-1]
    assert {each.name for each in (tmp_path / "d").glob("memory.db*")} == {"memory.db"}


@pytest.mark.parametrize("version", ["5.0", "5.1"])
def test_version_5_tells_sessions_projects_titles_and_times(tmp_path, version):
    path = build(tmp_path / "d", version)
    upgrade(tmp_path / "d")
    (session,) = rows(
        path,
        "SELECT s.agent, s.key, s.title, s.branch, s.cwd, p.key, s.started_at, s.ended_at"
        " FROM sessions s JOIN projects p ON p.id = s.project_id",
    )
    assert session[:6] == ("claude-code", SESSION, TITLE, "main", PROJECT, PROJECT)
    assert session[6:] == (milliseconds(3), milliseconds(7) + 300_000)
    first, *_ = rows(
        path,
        "SELECT origin, immutable, ordinal, occurred_from, occurred_to, extra, project_id"
        " FROM memories WHERE session_id = 1 ORDER BY id",
    )
    assert first[:5] == ("transcript", 1, 0, milliseconds(3), milliseconds(3) + 300_000)
    assert json.loads(first[5]) == {
        "title": TITLE,
        "git_branch": "main",
        "path": "/x.jsonl",
        "agent": "claude-code",
        "upgraded_from": version,
    }
    note = rows(
        path, "SELECT origin, immutable, session_id, occurred_from FROM memories WHERE id = 4"
    )
    assert note == [("note", 0, None, milliseconds(40))]


@pytest.mark.parametrize("version", ["2.0", "3", "4"])
def test_older_ones_tell_the_session_by_the_source_and_no_other_time(tmp_path, version):
    path = build(tmp_path / "d", version)
    upgrade(tmp_path / "d")
    assert rows(path, 'SELECT agent, "key", title FROM sessions') == [
        ("claude-code", SESSION, None)
    ]
    found = rows(
        path, "SELECT ordinal, occurred_from, created_at FROM memories WHERE origin = 'transcript'"
    )
    assert [row[0] for row in found] == list(range(CONVERSATIONS))
    assert all(begin == created for _, begin, created in found)


def test_hashes_of_version_2_become_ours_and_copies_are_merged(tmp_path):
    old = OldDatabase(tmp_path / "d" / "memory.db", "3")
    twice = "a text that was stored by version 2, and by version 3 again"
    first = old.add(twice, "manual:chunk0", hashed=md5(twice), embedding=None, days=1)
    old.add("between them", "manual:chunk0")
    again = old.add(twice, "other:chunk0", hashed=sha(twice), days=9)
    alone = old.add("only of version 2", "manual:chunk0", hashed=md5("only of version 2"))
    path = old.close()
    upgrade(tmp_path / "d")
    found = dict(rows(path, "SELECT id, content_hash FROM memories"))
    assert set(found) == {first, again - 1, alone}
    assert found[first] == sha(twice)
    assert found[alone] == sha("only of version 2")
    # The later one had a vector, which is as good for the earlier one.
    kept = rows(path, "SELECT vector FROM embeddings WHERE passage_id = ?", first)
    assert kept == [(vector(twice),)]
    assert rows(path, "SELECT created_at FROM memories WHERE id = ?", first) == [
        (read_time(stamp(1)),)
    ]
    assert report(path)["problem.duplicates"] == 1
    assert report(path)["problem.hashes"] == 2
    assert report(path)["version.3"] == 1


def test_rows_that_are_only_in_the_log_are_taken(tmp_path):
    old = OldDatabase(tmp_path / "made" / "memory.db", "3").fill()
    assert old.path.with_name("memory.db-wal").stat().st_size > 0
    data = tmp_path / "d"
    data.mkdir()
    for name in ("memory.db", "memory.db-wal"):
        (data / name).write_bytes((tmp_path / "made" / name).read_bytes())
    before = old.connection.execute("SELECT id, content FROM chunks ORDER BY id").fetchall()
    old.connection.close()
    path = upgrade(data)
    assert rows(path, "SELECT id, content FROM memories ORDER BY id") == before
    assert len(before) == CONVERSATIONS + len(NOTES) + 1
    assert old_rows(backups(data)[0], "id, content") == before


def test_the_old_file_is_replaced_and_never_written_to(tmp_path):
    path = build(tmp_path / "d", "5.1")
    before = old_rows(path, "*")
    # Another name of the same file, which would show every byte that is written into it.
    os.link(path, tmp_path / "held.db")
    upgrade(tmp_path / "d")
    assert is_ours(path)
    assert not is_ours(tmp_path / "held.db")
    assert old_rows(tmp_path / "held.db", "*") == before


def test_converted_twice_the_ids_for_exports_are_the_same(tmp_path):
    for name in ("a", "b"):
        build(tmp_path / name, "5.1")
        upgrade(tmp_path / name)
    uids = [rows(tmp_path / name / "memory.db", "SELECT uid FROM memories") for name in "ab"]
    assert uids[0] == uids[1]
    assert len(set(uids[0])) == len(uids[0])
    assert all(re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{26}", uid) for (uid,) in uids[0])


def test_an_empty_database_is_converted_too(tmp_path):
    path = build(tmp_path / "d", "5.1", fill=lambda _old: None)
    upgrade(tmp_path / "d")
    assert is_ours(path)
    assert rows(path, "SELECT count(*) FROM memories") == [(0,)]
    assert rows(path, "SELECT count(*) FROM embedding_spaces") == [(0,)]


def test_few_rows_are_in_memory_at_a_time(tmp_path, monkeypatch):
    """The rows are handed on while later ones have not been read."""

    def many(old):
        for number in range(1_200):
            old.add(f"row {number} of many", embedding=vector(number, 4))

    build(tmp_path / "d", "4", fill=many, embed_dim="4")
    sizes = []
    added = building.NewDatabase.add

    def counted(self, some):
        sizes.append(len(some))
        added(self, some)

    monkeypatch.setattr(building.NewDatabase, "add", counted)
    path = upgrade(tmp_path / "d")
    assert sizes == [500, 500, 200]
    assert rows(path, "SELECT count(*), max(id) FROM memories") == [(1_200, 1_200)]
    assert report(path)["vectors"] == 1_200


def test_progress_is_told_for_big_files_only(tmp_path):
    def many(old):
        old.connection.execute("BEGIN")
        for number in range(5_000):
            old.add(f"row {number} of many", embedding=None)
        old.connection.execute("COMMIT")

    build(tmp_path / "d", "3", fill=many)
    told = []
    upgrade(tmp_path / "d", told.append)
    far = [words for words in told if "of 5,000 rows" in words]
    assert len(far) == 10
    assert far[-1] == "upgrading: 5,000 of 5,000 rows"


@pytest.mark.parametrize(
    ("meta", "space"),
    [
        ({}, ("BAAI/bge-small-en-v1.5", DIMENSIONS, "", "")),
        (
            {"embed_model": "intfloat/e5-small-v2", "embed_passage_prefix": "passage: "},
            ("intfloat/e5-small-v2", DIMENSIONS, "query: ", "passage: "),
        ),
        (
            {"embed_model": "intfloat/e5-small-v2", "embed_passage_prefix": None},
            ("intfloat/e5-small-v2", DIMENSIONS, "", ""),
        ),
    ],
)
def test_the_space_says_what_the_database_says(tmp_path, meta, space):
    path = build(tmp_path / "d", "5.1", **meta)
    upgrade(tmp_path / "d")
    found = rows(
        path, "SELECT model, dim, query_prefix, passage_prefix, active, state FROM embedding_spaces"
    )
    assert found == [(*space, 0, "dormant")]
