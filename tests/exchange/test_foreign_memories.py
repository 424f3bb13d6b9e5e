"""Databases and folders of other memory systems, as a person imports them."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from exchange.exchange_kit import SECRET, Place
from exchange.foreign_memories_kit import MORNING, ExocortexDatabase, read
from process.cli_runner import PROGRAM

from cloxy_core.services.exchange.foreign import moving

TELLING = "The lighthouse keeper's spare key hangs behind the third barometer."
LONG = "\n\n".join(f"Paragraph {n}: the harbour of the island has two moles." for n in range(80))

HOLDING = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    connection.execute(statement)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path / "place")
    made.folder.mkdir()
    return made


@pytest.fixture
def theirs(tmp_path):
    """A folder of another program."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    return folder


@contextmanager
def held(file, *statements):
    """Another process that runs statements on a database, and keeps it open for the block."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(file), *statements],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            yield process
        finally:
            process.kill()


def state(folder):
    """Names, bytes and times of all files in a folder."""
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in folder.iterdir()}


def kept(place):
    return sorted(line["text"] for line in place.export() if line["kind"] == "note")


def test_a_database_that_is_in_use_is_read_with_its_log_and_left_as_it_is(place, theirs):
    database = ExocortexDatabase(theirs / "exocortex.db", wal=True)
    add = "INSERT INTO memories (id, content) VALUES ('live', 'Said a moment ago.')"
    with held(database.file, "PRAGMA wal_autocheckpoint=0", add):
        before = state(theirs)
        assert set(before) == {"exocortex.db", "exocortex.db-wal", "exocortex.db-shm"}
        assert b"Said a moment ago." not in before["exocortex.db"][0]
        summary, _said = place.take(database.file)
        assert state(theirs) == before
    assert summary["notes"]["new"] == 1
    assert kept(place) == ["Said a moment ago."]


def test_a_database_whose_log_was_left_is_read_from_a_copy(place, theirs, tmp_path):
    database = ExocortexDatabase(theirs / "exocortex.db", wal=True)
    add = "INSERT INTO memories (id, content) VALUES ('left', 'Said before the crash.')"
    with held(database.file, "PRAGMA wal_autocheckpoint=0", add):
        pass  # it is killed, so that the log stays
    (theirs / "exocortex.db-shm").unlink()
    before = state(theirs)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = place.run("import", database.file, "--json", TMPDIR=str(scratch))
    assert json.loads(done.stdout)["notes"]["new"] == 1
    assert state(theirs) == before
    assert not list(scratch.iterdir())
    assert kept(place) == ["Said before the crash."]


def test_a_change_that_has_not_ended_is_not_seen(place, theirs):
    database = ExocortexDatabase(theirs / "exocortex.db")
    database.memory("old", "This one is stored.")
    begin = ("PRAGMA cache_size=1", "PRAGMA cache_spill=1", "BEGIN IMMEDIATE")
    change = "UPDATE memories SET content = 'This one may never be.'"
    more = "INSERT INTO access_log (query) SELECT hex(randomblob(2000)) FROM (VALUES (1), (2)), "
    more += "(VALUES (1), (2), (3), (4), (5)), (VALUES (1), (2), (3), (4), (5))"
    with held(database.file, *begin, change, more):
        before = state(theirs)
        assert len(before["exocortex.db-journal"][0]) > 0
        place.take(database.file)
        assert state(theirs) == before
    assert kept(place) == ["This one is stored."]


def test_a_link_is_followed_to_the_database_it_leads_to(place, theirs, tmp_path):
    database = ExocortexDatabase(theirs / "exocortex.db").memory("m", TELLING)
    link = tmp_path / "link.db"
    link.symlink_to(database.file)
    assert place.take(link)[0]["notes"]["new"] == 1


def test_a_database_of_nobody_is_refused_with_what_is_known(place, theirs):
    file = theirs / "other.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute('CREATE TABLE "evil \x1b[31m name" (x)')
    done = place.run("import", file)
    said = done.stderr.decode()
    assert done.returncode == 4
    assert "it is a database of no memory system that is known" in said
    assert "exocortex" in said
    assert "memx" in said
    assert "\x1b" not in said
    assert not place.data.exists()


def test_a_folder_of_nobody_is_refused_and_a_database_in_it_named(place, theirs):
    done = place.run("import", theirs)
    assert done.returncode == 4
    assert "it is a folder of no memory system that is known" in done.stderr.decode()
    ExocortexDatabase(theirs / "exocortex.db")
    (theirs / "notes.txt").write_text("nothing")
    done = place.run("import", theirs)
    assert done.returncode == 4
    assert "give a database in it: exocortex.db" in done.stderr.decode()
    assert not place.data.exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (bytes(range(256)) * 32, "is neither an export nor a database that can be read"),
        (b"SQLite format 3\0" + bytes(range(256)) * 64, "it cannot be read: it is"),
        (b"SQLite format 3\0", "it cannot be read: it is no SQLite database"),
    ],
)
def test_what_is_encrypted_or_no_database_is_refused(place, theirs, data, words):
    file = theirs / "exocortex.db"
    file.write_bytes(data)
    done = place.run("import", file)
    assert done.returncode == 4
    assert words in done.stderr.decode()
    assert not place.data.exists()


def test_a_database_on_standard_input_is_refused(place, theirs):
    database = ExocortexDatabase(theirs / "exocortex.db")
    environment = {**os.environ, "CLOXY_DATA_DIR": str(place.data)}
    with database.file.open("rb") as file:
        done = subprocess.run(
            [PROGRAM, "import", "-"],
            stdin=file,
            env=environment,
            capture_output=True,
        )
    assert done.returncode == 4
    assert b"give its path" in done.stderr


def test_the_summary_for_people_says_what_came_and_what_has_no_place(place, theirs):
    database = ExocortexDatabase(theirs / "exocortex.db").memory("m", TELLING)
    database.add("goals", id="g", title="Sail round the island", created_at=MORNING)
    database.add("memory_tags", memory_id="m", tag="key")
    database.memory("bad", b"\xff \x1b[31m")
    done = place.run("import", database.file, "--dry-run")
    assert done.returncode == 1
    assert done.stdout.decode().splitlines() == [
        "from           exocortex, 2026-03-01T08:00:00.500Z to 2026-03-01T08:00:00.500Z",
        "sessions       0 new, 0 known",
        "messages       0 new, 0 known",
        "notes          2 new, 0 known",
        "notes there    memory: 1; goal: 1",
        "no place here  tags: 1",
        "passed over    1",
        "nothing was written",
    ]
    assert done.stderr.decode() == f"{database.file}: memory bad: its text is none\n"


def test_a_text_that_changed_is_followed_and_nothing_else_is_touched(place, theirs):
    database = ExocortexDatabase(theirs / "exocortex.db")
    database.memory("a", LONG).memory("b", "The mast is made of larch.").memory("c", TELLING)
    place.take(database.file)
    before = {line["uid"]: line for line in place.export() if line["kind"] == "note"}
    assert len(before) > 3
    database.run("UPDATE memories SET content = 'Now it is short.' WHERE id = 'a'")
    database.run("UPDATE memories SET content = ? WHERE id = 'b'", LONG[::-1])
    trial, _said = place.take(database.file, "--dry-run")
    done, _said = place.take(database.file)
    assert (done["notes"], done["changed"]) == (trial["notes"], trial["changed"])
    assert done["notes"] == {"new": 0, "known": 3, "forgotten": 0, "empty": 0, "ruled_out": 0}
    assert done["changed"] == 2
    after = [line for line in place.export() if line["kind"] == "note"]
    texts = {}
    for line in after:
        name = line["source"].partition(":chunk")[0]
        texts[name] = texts.get(name, "") + line["text"]
    assert texts == {
        "exocortex:a": "Now it is short.",
        "exocortex:b": LONG[::-1],
        "exocortex:c": TELLING,
    }
    assert before["exocortex:c"] in after
    last, _said = place.take(database.file)
    assert (last["changed"], last["notes"]["known"]) == (0, 3)
    found, gone = place.recall("short", "moles")
    assert found[0]["texts"] == ["Now it is short."]
    assert not any("two moles" in hit["content"] for hit in gone)


def test_an_id_that_continues_another_one_is_not_taken_for_a_part_of_it(place, theirs):
    database = ExocortexDatabase(theirs / "exocortex.db")
    database.memory("a", "First text.").memory("a:chunk1", TELLING)
    place.take(database.file)
    database.run("UPDATE memories SET content = 'Second text.' WHERE id = 'a'")
    database.run("DELETE FROM memories WHERE id = 'a:chunk1'")
    place.take(database.file)
    assert kept(place) == ["Second text.", TELLING]


def test_what_was_forgotten_stays_forgotten(place, theirs):
    database = ExocortexDatabase(theirs / "exocortex.db")
    database.memory("a", TELLING).memory("b", "Short.").memory("c", LONG)
    place.take(database.file)
    (part,) = [line for line in place.export() if line.get("source") == "exocortex:c:chunk1"]
    ((identifier,),) = place.rows(f"SELECT id FROM memories WHERE uid = '{part['uid']}'")
    with place.server() as live:
        for prefix in ("exocortex:a", "exocortex:b"):
            status, said = live.ask("POST", "/forget", {"source_prefix": prefix})
            assert status == 200, said
        status, said = live.ask("DELETE", f"/memory/{identifier}")
        assert status == 200, said
    left = kept(place)
    again, _said = place.take(database.file)
    assert again["notes"] == {"new": 0, "known": 1, "forgotten": 2, "empty": 0, "ruled_out": 0}
    # Also in a newer text of the same things, of which nobody knows what they say.
    database.run("UPDATE memories SET content = content || ' And more.'")
    trial, _said = place.take(database.file, "--dry-run")
    again, _said = place.take(database.file)
    assert (
        trial["notes"]
        == again["notes"]
        == {"new": 0, "known": 0, "forgotten": 3, "empty": 0, "ruled_out": 0}
    )
    assert kept(place) == left
    assert not any(part["text"] in text for text in left)


def test_one_text_under_two_ids_is_stored_once(place, theirs):
    database = ExocortexDatabase(theirs / "exocortex.db")
    database.memory("a", TELLING).memory("b", TELLING).memory("c", TELLING, namespace="/srv/boat")
    trial, _said = place.take(database.file, "--dry-run")
    done, _said = place.take(database.file)
    assert (
        done["notes"]
        == trial["notes"]
        == {"new": 2, "known": 1, "forgotten": 0, "empty": 0, "ruled_out": 0}
    )
    assert place.take(database.file)[0]["notes"]["known"] == 3


def test_ids_that_cannot_be_kept_are_replaced_by_the_same_ones_each_time(place, theirs):
    database = ExocortexDatabase(theirs / "exocortex.db")
    ids = ("x" * 3000, "with \x1b[31m and \u202e", f"key-{SECRET}", "schön")
    for number, uid in enumerate(ids):
        database.memory(uid, f"Text number {number}.")
    place.take(database.file)
    uids = sorted(uid for (uid,) in place.rows("SELECT uid FROM memories"))
    assert len(uids) == 4
    assert sum(uid.startswith("exocortex:~") for uid in uids) == 3
    assert "exocortex:schön" in uids
    assert place.take(database.file)[0]["notes"]["known"] == 4


def test_metadata_that_is_too_large_or_too_deep_is_left_out_alone(theirs, tmp_path):
    database = ExocortexDatabase(theirs / "exocortex.db")
    deep = "[" * 60 + "]" * 60
    database.memory("deep", "One.", metadata=deep, importance=0.25)
    database.memory("large", "Two.", metadata={"x": "y" * 70_000})
    database.memory("endless", "Three.", quality_score=float("inf"))
    lines, report = read(database.file, tmp_path)
    found = {line["uid"]: line["metadata"] for line in lines if line["kind"] == "note"}
    assert found["exocortex:deep"]["importance"] == 0.25
    assert "metadata" not in found["exocortex:deep"]
    assert "metadata" not in found["exocortex:large"]
    assert "quality_score" not in found["exocortex:endless"]
    (told,) = report.homeless.items()
    assert told == ("values of metadata that are too large, too deep or no text (not taken)", 2)


def test_sorts_of_knowledge_and_tiers_go_with_an_export(place, theirs, tmp_path):
    database = ExocortexDatabase(theirs / "exocortex.db")
    database.memory("a", TELLING, tier="procedural")
    place.take(database.file)
    there = Place(tmp_path / "there")
    there.folder.mkdir()
    place.export()
    assert there.take(place.folder / "out.jsonl")[0]["notes"]["new"] == 1
    rows = "SELECT uid, kind, tier, source, extra FROM memories"
    assert there.rows(rows) == place.rows(rows)
    assert there.rows(rows)[0][1:3] == ("procedural", "working")
    # What was moved there is known to an import there, and followed.
    database.run("UPDATE memories SET content = 'The key hangs in the hall.'")
    assert there.take(database.file)[0]["changed"] == 1


def test_nothing_is_left_running_or_lying_when_an_import_ends_early(theirs):
    database = ExocortexDatabase(theirs / "exocortex.db")
    for number in range(5):
        database.memory(f"m{number}", "x" * 1_000_000)
    with moving(database.file, "exocortex.db") as foreign:
        foreign.begin()
        child = foreign._child
        wanted = json.loads(child.args[-1])
        assert Path(wanted["temporary"]).is_dir()
        assert child.poll() is None
    assert child.returncode is not None
    assert not Path(wanted["temporary"]).exists()


def test_a_process_that_dies_is_told_and_what_came_is_kept(theirs):
    database = ExocortexDatabase(theirs / "exocortex.db")
    for number in range(5):
        database.memory(f"m{number}", "x" * 1_000_000)
    with moving(database.file, "exocortex.db") as foreign:
        foreign.begin()
        foreign._child.kill()
        foreign.lines.read()
        foreign.finish(lambda number, words: None)
        assert "the process that reads it ended" in foreign.summary.cut
        assert "what is here is not doubled" in foreign.summary.cut
