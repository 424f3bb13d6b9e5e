"""A damaged database and a lost key at once: a repair lets nothing forgotten back in."""

import pytest
from doctor_kit import NOTES, names

from cloxy_core.cli.doctor_text import report_lines, work_lines
from cloxy_hookspecs import StoreError

GONE = "convo:s2"


@pytest.fixture
def forgetful(patient):
    """A patient with a backup, whose key was lost after it forgot a session and a note."""
    patient.back_up()
    with patient.server() as server:
        server.forget_source(GONE)
        (hit,) = [h for h in server.recall("blue lantern staging") if "staging" in h.content]
        server.forget(hit.id)
    (patient.data / "tombstones.key").unlink()
    return patient


def is_forgotten(patient):
    """Nothing forgotten is stored, and no log is read."""
    with patient.server() as server:
        server.write(b"", name="new.jsonl")
        with pytest.raises(StoreError, match="forgotten text would come back"):
            server.ingest(force=True)
        assert "s2" not in server.sessions()
        assert NOTES[0] not in server.notes()


@pytest.mark.parametrize("table", ["memories", "passages", "sources", "tombstones"])
def test_a_zeroed_table(forgetful, table):
    forgetful.zero(*forgetful.pages_of(table))
    _, work = forgetful.repair()
    assert (forgetful.data / "ingest.hold").exists()
    assert any("tombstones.key" in words for words in work.warnings)
    is_forgotten(forgetful)


def test_a_garbled_header(forgetful):
    forgetful.harm(lambda data: data.__setitem__(slice(0, 100), bytes(100)))
    assert names(forgetful.examine()) == ["database-unreadable"]
    _, work = forgetful.repair()
    assert (forgetful.data / "ingest.hold").exists()
    assert any("tombstones.key" in words for words in work.warnings)
    is_forgotten(forgetful)


def test_killed_before_the_new_database_is_in_its_place_the_logs_are_held_back(
    forgetful, monkeypatch
):
    from cloxy_core.services.doctor import recovery

    def killed(*_arguments):
        raise KeyboardInterrupt

    forgetful.harm(lambda data: data.__setitem__(slice(0, 100), bytes(100)))
    with monkeypatch.context() as patch:
        patch.setattr(recovery, "_install", killed)
        with pytest.raises(KeyboardInterrupt):
            forgetful.repair()
    assert not (forgetful.data / "tombstones.key").exists()
    assert (forgetful.data / "ingest.hold").exists()
    forgetful.repair()
    is_forgotten(forgetful)


def test_the_key_is_told_beside_the_damage_before_one_is_made(forgetful):
    forgetful.zero(*forgetful.pages_of("memories"))
    assert names(forgetful.examine())[-1] == "forgotten-key"
    assert not (forgetful.data / "tombstones.key").exists()


def test_a_torn_key_is_told_and_not_touched(forgetful):
    key = forgetful.data / "tombstones.key"
    key.write_bytes(b"torn")
    key.chmod(0o600)
    assert names(forgetful.examine()) == ["forgotten-key"]
    assert key.read_bytes() == b"torn"


def test_the_mark_of_the_key_comes_back_with_the_list(forgetful):
    marks = forgetful.rows("SELECT key_hmac, at FROM tombstones WHERE scope = 'key'")
    assert len(marks) == 1
    for backup in (forgetful.data / "backups").iterdir():
        backup.unlink()
    forgetful.zero(*forgetful.pages_of("tombstones"))
    forgetful.repair()
    assert forgetful.rows("SELECT key_hmac, at FROM tombstones WHERE scope = 'key'") == marks


def test_a_mark_whose_kind_is_no_text_any_more_is_still_one(forgetful):
    forgetful.sql(
        "UPDATE tombstones SET scope = CAST(x'f5' || CAST(scope AS BLOB) AS TEXT)"
        " WHERE scope = 'key'"
    )
    after, _ = forgetful.repair()
    assert names(after) == ["forgotten-key"]
    is_forgotten(forgetful)


def test_a_backup_is_passed_over_where_it_could_bring_back_what_was_forgotten(forgetful):
    for path in forgetful.watched.rglob("*.jsonl"):
        path.unlink()
    forgetful.zero(*forgetful.pages_of("memories"))
    _, work = forgetful.repair()
    assert any("without the key" in words for words in work.warnings)
    assert forgetful.rows("SELECT id FROM memories WHERE content LIKE '%blue lantern%'") == []


def test_after_a_loss_the_verdict_does_not_say_that_nothing_is_damaged(patient):
    with patient.server() as server:
        server.forget_source(GONE)
    patient.zero(*patient.pages_of("tombstones"), *patient.pages_of("sources"))
    report, work = patient.repair()
    assert report.well
    assert any("LOST or open" in line for line in work_lines(work))
    shown = list(report_lines(report, work))
    assert not any("Nothing is damaged" in line or "All is well" in line for line in shown)
    assert "was lost or is open" in shown[-1]
    report, work = patient.repair()
    assert not work.warnings
    assert list(report_lines(report, work))[-1].startswith("Nothing is damaged; ")
