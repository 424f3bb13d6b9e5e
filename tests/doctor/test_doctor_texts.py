"""Damaged texts are named, and come back from a backup, from the log, or are set aside."""

import json

from doctor_kit import NOTES, names
from ingest.session_lines import lines, turns


def test_a_sound_database_is_well_and_left_alone(patient):
    before = patient.database.read_bytes()
    report = patient.examine()
    assert report.well
    assert not report.repairable
    assert patient.database.read_bytes() == before
    assert [path.name for path in patient.data.glob("doctor-*")] == []
    patient.all_is_well()


def spoil(patient, memory, old, new):
    """Change a text behind everybody's back."""
    before = patient.value("SELECT content FROM memories WHERE id = ?", memory)
    assert old in before
    patient.sql(
        ("UPDATE memories SET content = replace(content, ?, ?) WHERE id = ?", (old, new, memory))
    )


def memory_of(patient, session):
    return patient.value("SELECT id FROM memories WHERE source = ?", f"convo:{session}:0")


def test_changed_text_is_named_and_comes_back_from_the_log(patient):
    whole = patient.messages()
    memory = memory_of(patient, "s1")
    spoil(patient, memory, "number 1 3 of", "number 1 Q of")
    spoil(patient, memory, "queue number 1 6 of", "qu\x00e number")
    spoil(patient, memory, "number 1 29 of", "number 1 2 of")
    report = patient.examine()
    assert "text-changed" in names(report)
    (problem,) = [p for p in report.problems if p.name == "text-changed"]
    assert problem.ids == (memory,)
    assert "s1.jsonl" in problem.details[0]
    assert "/srv/demo/app" in problem.details[0]
    after, work = patient.repair()
    assert after.well, after.problems
    assert work.copy.is_file()
    assert patient.messages() == whole
    kept = [json.loads(line) for line in (work.quarantine / "rows.jsonl").read_text().splitlines()]
    assert [row["memory"]["id"] for row in kept] == [memory]
    assert "qu\x00e" in kept[0]["memory"]["content"]
    patient.all_is_well()


def test_text_that_is_no_text_comes_back(patient):
    whole = patient.messages()
    patient.sql(
        "UPDATE memories SET content = CAST(replace(CAST(content AS BLOB), x'6c616e74',"
        " x'ff616e74') AS TEXT) WHERE id IN (1, 3)"
    )
    assert "text-changed" in names(patient.examine())
    after, _ = patient.repair()
    assert after.well, after.problems
    assert patient.messages() == whole
    patient.all_is_well()


def test_damage_outside_of_passages_needs_no_log(patient):
    whole = patient.messages()
    for path in patient.watched.rglob("*.jsonl"):
        path.unlink()
    spoil(patient, 1, "USER: ", "USXX: ")
    assert "text-changed" in names(patient.examine())
    after, work = patient.repair()
    assert after.well
    assert not work.warnings
    assert patient.messages() == whole
    patient.all_is_well()


def test_a_note_comes_back_from_a_backup(patient):
    patient.back_up()
    note = patient.value("SELECT id FROM memories WHERE content = ?", NOTES[0])
    spoil(patient, note, "staging", "stxging")
    after, work = patient.repair()
    assert after.well
    assert not work.warnings
    assert patient.value("SELECT content FROM memories WHERE id = ?", note) == NOTES[0]
    patient.all_is_well()


def test_what_is_nowhere_is_set_aside_and_said(patient):
    whole = patient.messages()
    note = patient.value("SELECT id FROM memories WHERE content = ?", NOTES[0])
    spoil(patient, note, "staging", "stxging")
    log = next(patient.watched.rglob("s2.jsonl"))
    log.unlink()
    spoil(patient, memory_of(patient, "s2"), "number 2 4 of", "number 2 X of")
    after, work = patient.repair()
    assert after.well, after.problems
    assert any("2 passages could not be got back" in words for words in work.warnings)
    rows = (work.quarantine / "rows.jsonl").read_text()
    assert "stxging" in rows
    assert "number 2 X of" in rows
    assert (work.quarantine / "rows.jsonl").stat().st_mode & 0o777 == 0o600
    lost = ("s2", "s2-lantern queue number 2-4")
    assert patient.messages() == {key: text for key, text in whole.items() if key != lost}
    with patient.server() as server:
        assert server.recall("stxging") == []
        assert server.notes() == [NOTES[1]]
    patient.all_is_well()


def test_what_was_forgotten_does_not_come_back_with_the_log(patient):
    with patient.server() as server:
        long = turns(80, session="s9", stem="something that is said about the yellow submarine")
        server.write(lines(*long), name="s9.jsonl")
        server.ingest()
        first, *_, last = server.rows("SELECT id FROM memories WHERE source LIKE 'convo:s9:%'")
        server.forget(last[0])
        left = server.sessions()
    assert 0 < len(left["s9"]) < 80
    spoil(patient, first[0], "submarine 2 of", "submarine X of")
    after, work = patient.repair()
    assert after.well
    assert any("s9.jsonl again" in words for words in work.done)
    with patient.server() as server:
        assert server.sessions() == left


def test_passages_that_moved_or_lie_outside_are_put_right(patient):
    whole = patient.messages()
    for path in patient.watched.rglob("*.jsonl"):
        path.unlink()
    patient.sql(
        "UPDATE passages SET char_end = char_end + 100000 WHERE id = 4",
        "UPDATE passages SET text_hash = 'x' || substr(text_hash, 2) WHERE id = 40",
        "UPDATE passages SET char_start = char_start + 100 WHERE id = 64",
    )
    report = patient.examine()
    assert {"passage-outside", "passage-changed"} <= set(names(report))
    after, work = patient.repair()
    assert after.well, after.problems
    assert not work.warnings
    assert patient.messages() == whole
    patient.all_is_well()


def test_a_memory_without_passages_is_read_again(patient):
    whole = patient.messages()
    patient.sql("DELETE FROM passages WHERE memory_id = 2")
    assert "memory-without-passages" in names(patient.examine())
    after, _ = patient.repair()
    assert after.well, after.problems
    assert patient.messages() == whole
    patient.all_is_well()


def test_unreadable_notes_are_made_anew(patient):
    whole = patient.messages()
    patient.sql(
        "UPDATE memories SET extra = '{\"agent' WHERE id = 1",
        "UPDATE sources SET parser_state = 'x' WHERE id = 2",
    )
    report = patient.examine()
    assert {"unreadable-extra", "unreadable-state"} <= set(names(report))
    after, _ = patient.repair()
    assert after.well, after.problems
    with patient.server() as server:
        server.ingest()
    assert patient.messages() == whole
    patient.all_is_well()


def test_words_that_are_no_text_are_made_readable(patient):
    patient.sql(
        "UPDATE passages SET role = CAST(x'617373697374616eff' AS TEXT) WHERE id = 2",
        "UPDATE sessions SET title = CAST(x'61ff' AS TEXT) WHERE id = 1",
    )
    (problem,) = [p for p in patient.examine().problems if p.name == "unreadable-words"]
    assert problem.count == 2
    after, work = patient.repair()
    assert after.well, after.problems
    assert any("2 damaged values readable" in words for words in work.done)
    assert patient.value("SELECT role FROM passages WHERE id = 2") == "assistant"
    assert not patient.examine().repairable
