"""Indexes, vectors and the outbox against the rows they stand for."""

import math

import pytest
from doctor_kit import SPACE, add_vectors, names, vector


@pytest.mark.parametrize(
    ("drift", "found"),
    [
        ("DELETE FROM fts_passages WHERE passage_id = 3", "full-text-damaged"),
        (
            "INSERT INTO fts_passages VALUES (999999, 'stray', 'row', 'here')",
            "full-text-damaged",
        ),
        ("UPDATE fts_passages SET body = 'other words' WHERE passage_id = 5", "index-differs"),
        (
            "INSERT INTO passages_fts(passages_fts, rowid, body, context, parts)"
            " VALUES ('delete', 7, 'wrong words', '', '')",
            "full-text-damaged",
        ),
        (
            "INSERT INTO passages_fts(passages_fts) VALUES ('delete-all')",
            "full-text-damaged",
        ),
    ],
)
def test_a_keyword_index_that_drifted_is_found_and_rebuilt(patient, drift, found):
    patient.sql(drift)
    report = patient.examine()
    assert found in names(report)
    after, work = patient.repair()
    assert after.well
    assert any("rebuilt the indexes" in words for words in work.done)
    with patient.server() as server:
        assert server.recall("blue lantern staging")
    patient.all_is_well()


def test_an_index_that_is_whole_in_itself_but_behind_its_passages(patient):
    patient.sql(
        "INSERT INTO passages_fts(passages_fts, rowid, body, context, parts)"
        " SELECT 'delete', passage_id, body, context, parts FROM fts_passages WHERE passage_id = 9",
        "DELETE FROM fts_passages WHERE passage_id = 9",
    )
    report = patient.examine()
    assert "full-text-damaged" not in names(report)
    (problem,) = [p for p in report.problems if p.name == "index-differs"]
    assert problem.ids == (9,)
    # What one look tried to write, the next does not see.
    assert any("1 passages cannot be found" in p.message for p in report.problems)
    after, _ = patient.repair()
    assert after.well
    patient.all_is_well()


def test_rows_of_passages_that_are_not_active(patient):
    patient.sql("UPDATE memories SET state = 'archived' WHERE id = 2")
    assert "index-stray" in names(patient.examine())
    after, _ = patient.repair()
    assert after.well
    patient.sql("UPDATE memories SET state = 'active' WHERE id = 2")
    after, _ = patient.repair()
    assert after.well
    patient.all_is_well()


def test_good_vectors_are_well(patient):
    add_vectors(patient)
    report = patient.examine()
    assert report.well
    assert not report.has("vector-stale", "vector-backlog")


def test_wrong_vectors_are_found_each_by_its_name_and_removed(patient):
    add_vectors(patient)
    total = patient.value("SELECT count(*) FROM embeddings")
    change = "UPDATE embeddings SET vector = ? WHERE passage_id = ?"
    patient.sql(
        (change, (vector(0.6, 0.8, 0), 1)),
        (change, (vector(0.6, math.nan, 0.8, 0), 2)),
        (change, (vector(0.6, math.inf, 0.8, 0), 3)),
        (change, (vector(3, 4, 0, 0), 4)),
        (change, (vector(0, 0, 0, 0), 5)),
        ("UPDATE embeddings SET vector = CAST('text' AS TEXT) WHERE passage_id = 6", ()),
        ("UPDATE embeddings SET text_hash = 'old' WHERE passage_id = 8", ()),
        ("UPDATE embeddings SET passage_id = 999999 WHERE passage_id = 9", ()),
        ("UPDATE embeddings SET space_id = 99 WHERE passage_id = 10", ()),
    )
    report = patient.examine()
    counts = {p.name: p.count for p in report.problems if p.name.startswith("vector")}
    assert counts == {
        "vector-size": 2,
        "vector-broken": 4,
        "vector-stale": 1,
        "vector-stray": 2,
        "vector-backlog": 3,
    }
    after, work = patient.repair()
    assert after.well
    assert any("wrong vector" in words or "references" in words for words in work.done)
    assert patient.value("SELECT count(*) FROM embeddings") == total - 9
    (backlog,) = [p for p in after.problems if p.name == "vector-backlog"]
    assert (backlog.count, backlog.severity) == (9, "note")
    assert not after.repairable


@pytest.mark.parametrize("marked", [(0, 0), (1, 1)])
def test_exactly_one_space_is_active(patient, marked):
    add_vectors(patient)
    patient.sql((SPACE, (8, "b", marked[1])))
    patient.sql(("UPDATE embedding_spaces SET active = ? WHERE id = 7", (marked[0],)))
    assert "space-active" in names(patient.examine())
    after, _ = patient.repair()
    assert after.well
    assert patient.rows("SELECT id FROM embedding_spaces WHERE active") == [(7,)]


def test_the_outbox_and_its_checkpoints(patient):
    patient.sql(
        "INSERT INTO index_outbox (passage_id, op, at) VALUES (999999, 'put', 1)",
        "INSERT INTO index_checkpoints (\"index\", seq) VALUES ('elsewhere', 999999)",
    )
    report = patient.examine()
    assert {"outbox-untold", "checkpoint-ahead"} <= set(names(report))
    after, work = patient.repair()
    assert after.well
    assert any("outbox" in words for words in work.done)
    assert patient.rows("SELECT op FROM index_outbox WHERE passage_id = 999999") in (
        [("put",), ("delete",)],
        [],
    )


def test_broken_references(patient):
    whole = patient.messages()
    patient.sql(
        "DELETE FROM sessions WHERE key = 's3'",
        "UPDATE memories SET project_id = 77 WHERE id = 1",
        "INSERT INTO dead_letters (source_id, byte_start, byte_end, reason, tries, at)"
        " VALUES (555, 0, 1, 'x', 1, 1)",
    )
    assert "broken-reference" in names(patient.examine())
    after, _ = patient.repair()
    assert after.well, after.problems
    assert patient.messages() == whole
    with patient.server() as server:
        server.ingest(force=True)
    assert patient.messages() == whole
