"""The list of what was forgotten, when a disk or a person took something of it."""

from doctor_kit import PAGE, names

GONE = "convo:s2"


def page_of_list(patient):
    """The one page of the list."""
    (page,) = patient.pages_of("tombstones")
    return page


def forget(patient):
    """Forget a session; the page of the list as it was before, and its number."""
    patient.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    page = page_of_list(patient)
    before = patient.database.read_bytes()[(page - 1) * PAGE : page * PAGE]
    with patient.server() as server:
        server.forget_source(GONE)
    return page, before


def listed(patient):
    """What is on the list."""
    return patient.rows(
        "SELECT scope, key_hmac FROM tombstones WHERE scope <> 'key' ORDER BY scope, key_hmac"
    )


def reread(patient):
    """Have every log read again, and tell the sessions."""
    patient.sql("UPDATE sources SET size = -1, byte_offset = 0, head_len = 0, head = ''")
    with patient.server() as server:
        server.ingest(force=True)
        return set(server.sessions())


def test_a_list_whose_page_was_never_written_comes_back_from_its_index(patient):
    page, before = forget(patient)

    def change(data):
        data[(page - 1) * PAGE : page * PAGE] = before

    patient.harm(change)
    assert names(patient.examine()) == ["database-index"]
    after, _ = patient.repair()
    assert after.well
    assert reread(patient) == {"s0", "s1", "s3", "s4"}


def test_a_list_whose_page_was_zeroed_comes_back_from_its_index_too(patient):
    page, _ = forget(patient)
    known = patient.rows(
        "SELECT scope, key_hmac FROM tombstones WHERE scope <> 'key' ORDER BY 1, 2"
    )
    patient.zero(page)
    patient.repair()
    assert known
    assert known == listed(patient)


def test_entries_whose_kind_is_no_text_any_more_still_count(patient):
    forget(patient)
    patient.sql(
        "UPDATE tombstones SET scope = CAST(x'f5' || CAST(scope AS BLOB) AS TEXT)"
        " WHERE scope <> 'key'"
    )
    assert names(patient.examine()) == ["unreadable-words"]
    after, _ = patient.repair()
    assert after.well
    assert reread(patient) == {"s0", "s1", "s3", "s4"}


def test_a_table_that_lost_rows_is_not_covered_up_with_new_indexes(patient):
    whole = patient.messages()
    patient.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    (last,) = patient.pages_of("memory_events")
    before = patient.database.read_bytes()[(last - 1) * PAGE : last * PAGE]
    with patient.server() as server:
        server.remember("the red anchor stands for the third cluster")

    def change(data):
        data[(last - 1) * PAGE : last * PAGE] = before

    patient.harm(change)
    assert "database-index" in names(patient.examine())
    after, work = patient.repair()
    assert after.well
    assert any("lost rows" in words for words in work.warnings)
    assert (work.quarantine / "memory.db").is_file()
    assert patient.messages() == whole


def test_a_lost_key_is_told_and_holds_the_logs_back(patient):
    forget(patient)
    (patient.data / "tombstones.key").unlink()
    assert names(patient.examine()) == ["forgotten-key"]
    assert not (patient.data / "tombstones.key").exists()
    patient.repair()
    assert (patient.data / "ingest.hold").is_file()
    _, work = patient.repair()
    assert not work.done


def test_another_key_is_told_too(patient):
    assert patient.examine().well
    forget(patient)
    assert patient.examine().well
    (patient.data / "tombstones.key").write_bytes(bytes(32))
    assert names(patient.examine()) == ["forgotten-key"]


def test_copies_from_before_the_last_forgetting_are_named(patient):
    copy = patient.back_up()
    assert "forgotten-kept" not in names(patient.examine(), severity="note")
    forget(patient)
    (problem,) = [p for p in patient.examine().problems if p.name == "forgotten-kept"]
    assert problem.details == (str(copy),)
    assert problem.severity == "note"
    copy.unlink()
    assert "forgotten-kept" not in names(patient.examine(), severity="note")
