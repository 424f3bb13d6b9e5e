"""Rows that are not as they should be are counted; nothing stops the upgrade of the others."""

import json
import struct

import pytest
from legacy.legacy_kit import (
    DIMENSIONS,
    PROJECT,
    SESSION,
    TURNS,
    OldDatabase,
    backups,
    build,
    report,
    rows,
    sha,
    sound,
    stamp,
    upgrade,
    vector,
)

SECRET = "sk-ant-api03-" + "Ab1Cd2Ef3Gh4" * 8


def converted(folder, version, fill, **meta):
    """Paths of a database that was filled by a function, and upgraded."""
    build(folder, version, fill, **meta)
    path = upgrade(folder)
    assert sound(path)
    return path


def test_vectors_of_other_lengths_are_left_to_be_made_anew(tmp_path):
    def fill(old):
        for number in range(4):
            old.add(f"as long as it should be, number {number}")
        old.add("of another model", embedding=vector(1, 768))
        old.add("cut off", embedding=vector(2)[:-2])
        old.add("empty", embedding=b"")
        old.add("not there", embedding=None)
        old.add("a text in its place", embedding="no vector at all")
        old.add("zeros", embedding=bytes(4 * DIMENSIONS))
        old.add("no number", embedding=struct.pack("<f", float("nan")) * DIMENSIONS)
        old.add("too long", embedding=struct.pack("<f", 1.0) * DIMENSIONS)

    path = converted(tmp_path / "d", "4", fill)
    found = report(path)
    assert (found["rows"], found["vectors"]) == (12, 4)
    problems = {k.removeprefix("problem.vectors."): v for k, v in found.items() if "vectors." in k}
    assert problems == {
        "of_another_length": 2,
        "damaged": 4,
        "missing": 1,
        "not_of_unit_length": 1,
    }
    kept = rows(path, "SELECT length(vector), count(*) FROM embeddings GROUP BY 1")
    assert kept == [(4 * DIMENSIONS, 4)]


def test_without_a_statement_the_most_frequent_length_counts_and_the_model_is_unknown(tmp_path):
    def fill(old):
        for number in range(3):
            old.add(f"of 256 dimensions, number {number}", embedding=vector(number, 256))
        old.add("of 384 dimensions")

    path = converted(tmp_path / "d", "3", fill)
    assert rows(path, "SELECT model, dim FROM embedding_spaces") == [("unknown", 256)]
    assert report(path)["vectors"] == 3


def test_a_model_that_was_adopted_without_a_look_at_the_vectors_is_not_believed(tmp_path):
    def fill(old):
        for number in range(3):
            old.add(f"made by something else, number {number}", embedding=vector(number, 256))

    path = converted(tmp_path / "d", "4", fill)
    assert rows(path, "SELECT model, dim FROM embedding_spaces") == [("unknown", 256)]


@pytest.mark.parametrize("dimension", ["", "many", "0", "-384", "٣٨٤", None])
def test_a_dimension_that_is_no_number_is_as_none(tmp_path, dimension):
    path = converted(
        tmp_path / "d", "4", lambda old: old.add("a text with a vector"), embed_dim=dimension
    )
    assert rows(path, "SELECT model, dim FROM embedding_spaces") == [
        ("BAAI/bge-small-en-v1.5", DIMENSIONS)
    ]


def test_what_was_stored_under_the_name_of_a_conversation_stays_a_note(tmp_path):
    """Versions 2 to 4 named pieces of both alike."""

    def fill(old):
        old.converse()
        old.add("my own words about the plan", "convo:plans:chunk0", days=2)
        old.add("more of my own words", "convo:plans:chunk1", days=2)
        old.add("not even a number", "convo:plans:chunkX", days=2)

    path = converted(tmp_path / "d", "4", fill)
    assert rows(path, 'SELECT "key" FROM sessions') == [(SESSION,)]
    own = rows(path, "SELECT origin, session_id FROM memories WHERE source LIKE 'convo:plans%'")
    assert own == [("note", None)] * 3


def test_in_version_5_what_a_session_wrote_is_told_by_its_columns(tmp_path):
    def fill(old):
        old.converse()
        old.converse(session="of-version-4", tells=False, days=0)
        at = "2026-03-09T10:00:00+00:00"
        for source in (
            f"convo:{SESSION}:chunk0",
            f"convo:{SESSION}:7",
            "convo:of-version-4:chunk9",
        ):
            old.add(f"[USER]: my own, under {source}", source, ts_start=at, ts_end=at)
        old.add("of another session", "convo:x:0", session_id="y", project=PROJECT, ts_start=at)

    path = converted(tmp_path / "d", "5.0", fill)
    found = rows(
        path,
        'SELECT s."key", count(*), max(m.project_id) FROM memories m'
        " JOIN sessions s ON s.id = m.session_id GROUP BY 1 ORDER BY 1",
    )
    pieces = len(TURNS) // 2
    assert found == [(SESSION, pieces, 1), ("of-version-4", pieces, None)]
    assert rows(path, "SELECT count(*) FROM memories WHERE origin = 'note'") == [(4,)]


def test_conversations_without_a_log_are_kept(tmp_path):
    path = converted(tmp_path / "d", "3", OldDatabase.converse)
    found = rows(
        path, "SELECT origin, state, role FROM memories JOIN passages ON memory_id = memories.id"
    )
    assert found == [("transcript", "active", "user")] * (len(TURNS) // 2)


def test_secrets_are_taken_out_counted_and_cost_the_row_its_vector(tmp_path):
    def fill(old):
        old.add(f"the key is {SECRET}, do not lose it", days=1)
        old.add("nothing to hide", days=2)
        old.add(
            "hidden beside it", days=3, metadata=json.dumps({"note": [f"key {SECRET}"], "n": 1})
        )

    path = converted(tmp_path / "d", "5.1", fill)
    found = rows(path, "SELECT content, content_hash FROM memories ORDER BY id")
    assert SECRET not in found[0][0]
    assert found[0][0].startswith("the key is [REDACTED:")
    assert all(hashed == sha(content) for content, hashed in found)
    assert rows(path, "SELECT passage_id FROM embeddings ORDER BY 1") == [(2,), (3,)]
    counts = report(path)
    assert (counts["redacted"], counts["problem.vectors.of_changed_text"]) == (2, 1)
    redacted = rows(path, "SELECT sum(value) FROM counters WHERE key LIKE 'redacted.%'")
    assert redacted == [(2.0,)]
    assert SECRET.encode() not in path.read_bytes()
    # The copy is the old database as it was, for whoever wants to go back.
    assert SECRET.encode() in backups(tmp_path / "d")[0].read_bytes()


def test_texts_that_are_no_text(tmp_path):
    def fill(old):
        old.add(b"bytes \xff\xfe in the place of words", "manual:chunk0", hashed="0" * 64)
        old.add("with a \0 in it", "manual:chunk0", hashed="1" * 64)
        old.add("", "manual:chunk0")
        old.add("   \n ", "manual:chunk0")
        old.connection.execute(
            "INSERT INTO chunks (content, content_hash, source) VALUES ('no source', '2', NULL)"
        )

    path = converted(tmp_path / "d", "3", fill)
    found = rows(path, "SELECT content, content_hash, source FROM memories ORDER BY id")
    assert [row[0] for row in found] == [
        "bytes \ufffd\ufffd in the place of words",
        "with a  in it",
        "no source",
    ]
    assert all(hashed == sha(content) for content, hashed, _ in found)
    assert found[2][2] == "unknown"
    counts = report(path)
    assert (counts["problem.empty"], counts["problem.undecodable"]) == (2, 1)


@pytest.mark.parametrize(
    ("created", "begin", "end", "expected"),
    [
        (stamp(0), "2026-03-05T10:00:00+02:00", "2026-03-05T09:30:00Z", ("08:00", "09:30")),
        (stamp(0), None, "2026-03-05T09:30:00", ("09:30", "09:30")),
        (stamp(0), "2026-03-05 10:00:00", "2026-03-05 09:00:00", ("10:00", "10:00")),
        (stamp(0), "yesterday", None, ("stored", "stored")),
        (stamp(0), "9999-99-99T00:00:00Z", "", ("stored", "stored")),
    ],
)
def test_times_as_they_were_written(tmp_path, created, begin, end, expected):
    path = converted(
        tmp_path / "d",
        "5.1",
        lambda old: old.connection.execute(
            "INSERT INTO chunks (content, content_hash, created_at, ts_start, ts_end)"
            " VALUES ('said', ?, ?, ?, ?)",
            (sha("said"), created, begin, end),
        ),
    )
    ((found_from, found_to, stored, broken),) = rows(
        path,
        "SELECT strftime('%H:%M', occurred_from / 1000, 'unixepoch'),"
        " strftime('%H:%M', occurred_to / 1000, 'unixepoch'), occurred_from = created_at,"
        " (SELECT value FROM counters WHERE key = 'upgrade.problem.times') FROM memories",
    )
    if expected[0] == "stored":
        assert (stored, broken) == (1, 1)
    else:
        assert (found_from, found_to) == expected
        assert broken is None


@pytest.mark.parametrize("created", ["", "soon", None, "2026-13-01 00:00:00"])
def test_a_row_that_does_not_say_when_it_was_stored_counts_as_stored_now(tmp_path, created):
    path = converted(
        tmp_path / "d",
        "3",
        lambda old: old.connection.execute(
            "INSERT INTO chunks (content, content_hash, created_at) VALUES ('said', ?, ?)",
            (sha("said"), created),
        ),
    )
    assert rows(path, "SELECT created_at FROM memories") == [(int(report(path)["at"]),)]
    assert report(path)["problem.times"] == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": [1, {"b": "c"}], "d": null}', {"a": [1, {"b": "c"}], "d": None}),
        ("[1, 2]", {"metadata": [1, 2]}),
        ("no JSON", {"metadata": "no JSON"}),
        ("[" * 5_000, {"metadata": "[" * 5_000}),
        ('{"n": NaN}', {"n": "NaN"}),
    ],
)
def test_metadata_of_every_kind(tmp_path, text, expected):
    path = converted(
        tmp_path / "d", "5.1", lambda old: old.add("with metadata", metadata=text, ts_start=None)
    )
    ((extra,),) = rows(path, "SELECT extra FROM memories")
    assert json.loads(extra) == {**expected, "upgraded_from": "5.1"}


def test_one_project_however_it_is_spelled(tmp_path):
    def fill(old):
        for number, project in enumerate(
            (PROJECT, PROJECT + "/", "/home/ada/./code/shop", " ", "")
        ):
            old.add(
                f"text {number}", f"convo:s{number}:0", session_id=f"s{number}", project=project
            )

    path = converted(tmp_path / "d", "5.1", fill)
    assert rows(path, "SELECT key FROM projects") == [(PROJECT,)]
    assert rows(path, "SELECT count(*), count(project_id) FROM sessions") == [(5, 3)]


def test_tables_of_others_in_the_file_do_not_disturb(tmp_path):
    def fill(old):
        old.fill()
        old.connection.execute("CREATE TABLE mine (a)")
        old.connection.execute("DROP TABLE meta")

    path = converted(tmp_path / "d", "5.1", fill)
    assert report(path)["version.5.0"] == 1
    assert rows(path, "SELECT count(*) FROM sqlite_master WHERE name = 'mine'") == [(0,)]
