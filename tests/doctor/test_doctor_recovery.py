"""A damaged database file is moved aside and made anew; backups and logs fill the gaps."""

import random

import pytest
from doctor_kit import NOTES, PAGE, names
from ingest.session_lines import lines, turns

from cloxy_hookspecs import StoreError


def reread(patient):
    """What the next start reads again."""
    with patient.server() as server:
        server.ingest()


def recovered(patient, *, whole):
    """Repair; the sessions are whole again at the latest after the next start."""
    report = patient.examine()
    assert not report.well
    after, work = patient.repair()
    assert after.well, [problem.message for problem in after.problems]
    assert (work.quarantine / "memory.db").is_file()
    assert work.quarantine.stat().st_mode & 0o777 == 0o700
    reread(patient)
    assert patient.messages() == whole
    patient.all_is_well()
    return work


@pytest.mark.parametrize("table", ["memories", "passages", "sessions", "sources", "projects"])
def test_zeroed_leaf_pages(patient, table):
    whole = patient.messages()
    pages = patient.pages_of(table)
    patient.zero(pages[-1])
    work = recovered(patient, whole=whole)
    assert any("new database" in words for words in work.done) or table == "memories"


def test_a_zeroed_inner_page_with_all_its_rows_below(patient):
    whole = patient.messages()
    root, *leaves = patient.pages_of("passages")
    assert leaves
    patient.zero(root)
    recovered(patient, whole=whole)


def test_a_damaged_index_of_a_table_loses_nothing(patient):
    whole = patient.messages()
    patient.zero(*patient.pages_of("ix_passages_hash"))
    work = recovered(patient, whole=whole)
    assert work.warnings == []


def test_index_entries_that_are_missing_need_no_new_file(patient):
    whole = patient.messages()
    patient.sql(
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_schema SET sql = replace(sql, 'passages (text_hash)',"
        " 'passages (text_hash) WHERE id > 20') WHERE name = 'ix_passages_hash'",
    )
    patient.sql("REINDEX ix_passages_hash")
    patient.sql(
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX ix_passages_hash ON passages (text_hash)'"
        " WHERE name = 'ix_passages_hash'",
    )
    assert names(patient.examine()) == ["database-index"]
    after, work = patient.repair()
    assert after.well
    assert (work.quarantine / "memory.db").is_file()
    assert work.done == ["made the ordinary indexes anew"]
    assert patient.messages() == whole
    patient.all_is_well()


def test_the_full_text_index_is_made_anew(patient):
    whole = patient.messages()
    patient.zero(*patient.pages_of("passages_fts_data"))
    recovered(patient, whole=whole)
    with patient.server() as server:
        assert server.recall("blue lantern staging")


def test_a_truncated_file(patient):
    whole = patient.messages()
    patient.harm(lambda data: data.__delitem__(slice(len(data) * 2 // 3, None)))
    recovered(patient, whole=whole)


def test_a_garbled_header(patient):
    whole = patient.messages()
    patient.harm(lambda data: data.__setitem__(slice(0, 100), random.Random(1).randbytes(100)))
    assert names(patient.examine()) == ["database-unreadable"]
    work = recovered(patient, whole=whole)
    assert work.warnings == []


def test_the_first_page_is_gone_and_there_is_no_backup(patient):
    patient.zero(1)
    after, work = patient.repair()
    assert after.well
    assert any("nothing could be read" in words for words in work.warnings)
    assert any("forgotten" in words for words in work.warnings)
    hold = patient.data / "ingest.hold"
    assert hold.stat().st_mode & 0o777 == 0o600
    assert patient.value("SELECT count(*) FROM memories") == 0
    assert after.has("logs-held-back")
    with patient.server() as server:
        with pytest.raises(StoreError, match="forgotten text would come back") as refused:
            server.ingest()
        assert str(hold) in refused.value.hint
        assert server.sessions() == {}
        assert server.remember("a note can still be stored")
        hold.unlink()
        server.ingest()
        assert len(server.sessions()) == 5


def test_the_first_page_is_gone_and_a_backup_holds_the_rest(patient):
    whole = patient.messages()
    patient.back_up()
    patient.zero(1)
    after, work = patient.repair()
    assert after.well, after.problems
    assert any("filled gaps from memory-" in words for words in work.done)
    assert patient.messages() == whole
    with patient.server() as server:
        assert server.notes() == list(NOTES)


def test_rows_that_a_backup_has_come_from_there_with_their_ids(patient):
    patient.back_up()
    before = patient.rows("SELECT id, uid, content FROM memories ORDER BY id")
    for path in patient.watched.rglob("*.jsonl"):
        path.unlink()
    patient.zero(*patient.pages_of("memories")[-1:])
    after, work = patient.repair()
    assert after.well, after.problems
    assert any("filled gaps" in words for words in work.done)
    assert patient.rows("SELECT id, uid, content FROM memories ORDER BY id") == before
    patient.all_is_well()


def test_what_was_forgotten_after_the_backup_stays_forgotten(patient):
    patient.back_up()
    with patient.server() as server:
        (hit,) = [h for h in server.recall("blue lantern staging") if "staging" in h.content]
        server.forget(hit.id)
        server.forget_source("convo:s2")
    patient.zero(*patient.pages_of("memories"))
    after, _ = patient.repair()
    assert after.well, after.problems
    reread(patient)
    with patient.server() as server:
        assert server.notes() == [NOTES[1]]
        assert "s2" not in server.sessions()
        assert set(server.sessions()) == {"s0", "s1", "s3", "s4"}
    assert not (patient.data / "ingest.hold").exists()


def test_a_lost_list_of_what_was_forgotten_holds_the_logs_back(patient):
    with patient.server() as server:
        server.forget_source("convo:s2")
    patient.zero(*patient.pages_of("tombstones"), *patient.pages_of("sources"))
    _, work = patient.repair()
    assert any("ingest.hold" in words for words in work.warnings)
    assert (patient.data / "ingest.hold").exists()


def test_a_lost_list_on_which_nothing_can_have_been_holds_nothing_back(patient):
    whole = patient.messages()
    patient.zero(*patient.pages_of("tombstones"))
    after, work = patient.repair()
    assert after.well
    assert not (patient.data / "ingest.hold").exists()
    assert not any("ingest.hold" in words for words in work.warnings)
    reread(patient)
    assert patient.messages() == whole


def test_a_lost_list_that_a_backup_has_whole_holds_nothing_back(patient):
    with patient.server() as server:
        server.forget_source("convo:s2")
    patient.back_up()
    bounds = patient.value("SELECT max(rowid) FROM tombstones")
    assert bounds > 1
    patient.zero(*patient.pages_of("memories")[-1:])
    after, _ = patient.repair()
    assert after.well
    assert not (patient.data / "ingest.hold").exists()
    reread(patient)
    with patient.server() as server:
        assert "s2" not in server.sessions()


def test_killed_between_the_new_file_and_its_place_the_next_repair_goes_on(patient, monkeypatch):
    from cloxy_core.services.doctor import recovery

    whole = patient.messages()
    patient.zero(patient.pages_of("passages")[-1])

    def killed(*_arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(recovery, "_install", killed)
        with pytest.raises(KeyboardInterrupt):
            patient.repair()
    assert (patient.data / "memory.db.recovered").exists()
    assert not patient.examine().well
    after, work = patient.repair()
    assert after.well
    assert any("earlier repair" in words for words in work.done)
    reread(patient)
    assert patient.messages() == whole
    patient.all_is_well()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_any_damage_ends_well(patient, seed):
    """Bits, pages, sectors and the end of the file, as they rot; nothing wrong is ever shown."""
    chance = random.Random(seed)
    with patient.server() as server:
        server.write(lines(*turns(200, session="long", stem="kettle")), name="long.jsonl")
        server.ingest()
    if seed % 2:
        patient.back_up()
    whole = patient.messages()

    def rot(data):
        for _ in range(4):
            kind = chance.randrange(3)
            if kind == 0:
                data[chance.randrange(100, len(data))] ^= 1 << chance.randrange(8)
            elif kind == 1:
                start = chance.randrange(1, len(data) // PAGE) * PAGE
                data[start : start + PAGE] = bytes(PAGE)
            else:
                at, other = (chance.randrange(1, len(data) // 512) * 512 for _ in range(2))
                data[at : at + 512] = data[other : other + 512]
        if seed == 3:
            del data[chance.randrange(len(data) // 2, len(data)) :]

    patient.harm(rot)
    after, _ = patient.repair()
    assert after.well, [problem.message for problem in after.problems]
    if not (patient.data / "ingest.hold").exists():
        reread(patient)
    found = patient.messages()
    # Text without its passage gets a new one, which knows no message; its session's log may
    # then bring the message itself back, too.
    texts = unplaced = "".join(found.pop(key) for key in list(found) if key[1] is None)
    for text in whole.values():
        unplaced = unplaced.replace(text, "")
    assert unplaced == ""
    # No hash covers the id of a message, so one that is damaged there may come a second time.
    assert set(found.values()) <= set(whole.values())
    if not (patient.data / "ingest.hold").exists():
        assert set(found.values()) | set(texts.splitlines()) >= set(whole.values())
    patient.all_is_well(in_order=not texts)


def test_a_damaged_list_of_free_pages_is_found_and_made_anew(patient):
    with patient.server() as server:
        server.forget_source("convo:s2")
    whole = patient.messages()
    patient.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    first = int.from_bytes(patient.database.read_bytes()[32:36], "big")
    assert first

    def change(data):
        data[(first - 1) * PAGE : first * PAGE] = b"\xff" * PAGE

    patient.harm(change)
    report = patient.examine()
    assert names(report) == ["database-damaged"]
    assert any("free" in words for p in report.problems for words in p.details)
    recovered(patient, whole=whole)
