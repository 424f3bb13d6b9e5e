"""The database of memX, built here to its schema."""

import pytest
from exchange.exchange_kit import SECRET, Place
from exchange.foreign_memories_kit import MORNING_ISO, MemxDatabase, notes, read

FEBRUARY = "2026-02-01T00:00:00Z"


@pytest.fixture
def memx(tmp_path):
    return MemxDatabase(tmp_path / "memx.db")


@pytest.fixture
def temporary(tmp_path):
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


def entities(memx, *names):
    for name in names:
        memx.add("entities", id=f"e-{name}", name=name, type="person", canonical_name=name)


def observation(memx, uid, content, **more):
    values = {"id": uid, "entity_id": "e-Ada", "content": content, "recorded_at": MORNING_ISO}
    memx.add("observations", **values | more)


def test_a_memory_comes_with_all_that_is_known_of_it(memx, temporary):
    memx.memory(
        "m1",
        "Ada lives in Bergen.",
        category="personal",
        tier="core",
        importance=0.9,
        confidence=0.7,
        access_count=4,
        updated_at=MORNING_ISO,
        source="talk-1",
        metadata={"lang": "en"},
    )
    entities(memx, "Ada", "Bergen")
    observation(
        memx, "o1", "lives in Bergen", source_memory_id="m1", valid_from=FEBRUARY, confidence=1
    )
    memx.add(
        "relations",
        id="r1",
        from_entity="e-Ada",
        relation_type="lives_in",
        to_entity="e-Bergen",
        source_memory_id="m1",
        strength=0.8,
    )
    lines, report = read(memx.file, temporary)
    (note,) = [line for line in lines if line["kind"] == "note"]
    assert (note["uid"], note["text"]) == ("memx:m1", "Ada lives in Bergen.")
    assert (note["time"], note["tier"], note["memory_kind"]) == (MORNING_ISO, "core", None)
    assert note["metadata"] == {
        "source": "talk-1",
        "agent_id": "default",
        "category": "personal",
        "tier": "core",
        "updated_at": MORNING_ISO,
        "importance": 0.9,
        "confidence": 0.7,
        "access_count": 4,
        "metadata": {"lang": "en"},
        "observations": [{"entity": "Ada", "content": "lives in Bergen", "valid_from": FEBRUARY}],
        "relations": [{"from": "Ada", "type": "lives_in", "to": "Bergen", "strength": 0.8}],
    }
    assert report.homeless == {
        "observations in their memories": 1,
        "entities": 2,
        "relations of entities": 1,
    }


def test_only_what_is_active_comes_and_the_rest_is_told(memx, temporary):
    memx.memory("m1", "Ada lives in Bergen.")
    memx.memory("m2", "Ada lives in Oslo.", status="superseded", superseded_by="m1")
    memx.memory("m3", "Ada lives in Rome.", status="deleted")
    memx.memory("m4", "Ada lives in Turin.", status="parked")
    entities(memx, "Ada", "Rome", "Nobody")
    observation(memx, "o3", "lives in Rome", source_memory_id="m3")
    observation(memx, "o4", "lived in Turin", retracted_at=MORNING_ISO)
    observation(memx, "o5", "lived in Bonn", retracted_at=MORNING_ISO, source_memory_id="m1")
    for uid, memory in (("r1", "m3"), ("r2", "m1")):
        memx.add(
            "relations",
            id=uid,
            from_entity="e-Ada",
            relation_type="lives_in",
            to_entity="e-lost",
            source_memory_id=memory,
        )
    memx.add("memory_history", id="h1", memory_id="m1", action="UPDATE", old_content="earlier")
    memx.add("search_logs", id="s1", query="where")
    memx.add("feedback_log", id="f1", memory_id="m1")
    lines, report = read(memx.file, temporary)
    (note,) = [line for line in lines if line["kind"] == "note"]
    assert note["text"] == "Ada lives in Bergen."
    assert "observations" not in note["metadata"]
    rest = "(of no memory that came, not taken)"
    assert report.homeless == {
        "superseded memories (not taken)": 1,
        "deleted memories (not taken)": 1,
        "memories of another status (not taken)": 1,
        "retracted observations (not taken)": 2,
        f"observations {rest}": 1,
        "relations of entities": 1,
        f"relations of entities {rest}": 1,
        "entities": 1,
        f"entities {rest}": 2,
        "earlier versions (not taken)": 1,
        "records of use (not taken)": 2,
    }


def test_an_observation_of_no_memory_is_a_note_of_its_own(memx, temporary):
    entities(memx, "Ada")
    observation(memx, "o1", "speaks Norwegian", valid_from=FEBRUARY, valid_until=MORNING_ISO)
    observation(memx, "o2", "plays the cello", recorded_at=None, valid_from=FEBRUARY)
    observation(memx, "o3", "has a dog", entity_id="lost", source_memory_id="lost")
    found = notes(memx.file, temporary)
    assert {uid: (note["text"], note["time"]) for uid, note in found.items()} == {
        "observation:o1": ("speaks Norwegian", MORNING_ISO),
        "observation:o2": ("plays the cello", "2026-02-01T00:00:00.000Z"),
        "observation:o3": ("has a dog", MORNING_ISO),
    }
    assert found["observation:o1"]["metadata"] == {
        "kind": "observation",
        "entity": "Ada",
        "valid_from": FEBRUARY,
        "valid_until": MORNING_ISO,
    }
    assert found["observation:o3"]["metadata"] == {
        "kind": "observation",
        "source_memory_id": "lost",
    }


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("ALTER TABLE memories RENAME COLUMN status TO state", "table memories has no status"),
        (
            "ALTER TABLE observations RENAME COLUMN source_memory_id TO memory_id",
            "table observations has no source_memory_id",
        ),
    ],
)
def test_another_shape_is_refused_with_what_differs(memx, tmp_path, statement, words):
    memx.memory("m1", "Ada lives in Bergen.").run(statement)
    place = Place(tmp_path)
    done = place.run("import", memx.file)
    assert done.returncode == 4
    said = done.stderr.decode()
    assert "it looks like a database of memx, but" in said
    assert words in said
    assert not place.data.exists()


def test_times_may_be_numbers_and_rows_of_wrong_types_are_passed_over_alone(memx, temporary):
    memx.memory("seconds", "Said at some second.", created_at=1_772_352_000)
    memx.memory("milliseconds", "Said at some millisecond.", created_at=1_772_352_000_500)
    memx.memory("blob", b"\xff")
    memx.memory("stateless", "Nobody knows whether it is active.", status=None)
    memx.memory(None, "A row without an id.")
    entities(memx, "Ada")
    observation(memx, "o1", None)
    lines, report = read(memx.file, temporary)
    times = {line["uid"]: line["time"] for line in lines if line["kind"] == "note"}
    assert times == {
        "memx:seconds": "2026-03-01T08:00:00.000Z",
        "memx:milliseconds": "2026-03-01T08:00:00.500Z",
    }
    assert [words for _number, words in report.told] == [
        "memory blob: its text is none",
        "memories: stateless: it has no status",
        "memories: a row without an id",
        "observations: o1: its text is none",
    ]


def test_a_whole_import_is_stored_without_secrets_and_the_second_adds_nothing(memx, tmp_path):
    memx.memory("m1", "Ada lives in Bergen.", tier="core", metadata={"token": SECRET})
    memx.memory("m2", f"Ada's key is {SECRET}.", tier="nowhere")
    entities(memx, "Ada")
    observation(memx, "o1", f"uses {SECRET}", source_memory_id="m1")
    place = Place(tmp_path)
    trial, _said = place.take(memx.file, "--dry-run")
    first, _said = place.take(memx.file)
    assert (
        first["notes"]
        == trial["notes"]
        == {"new": 2, "known": 0, "forgotten": 0, "empty": 0, "ruled_out": 0}
    )
    assert first["redactions"] == trial["redactions"] >= 3
    assert place.take(memx.file)[0]["notes"] == {
        "new": 0,
        "known": 2,
        "forgotten": 0,
        "empty": 0,
        "ruled_out": 0,
    }
    rows = place.rows("SELECT uid, origin, tier FROM memories ORDER BY uid")
    assert rows == [("memx:m1", "note", "core"), ("memx:m2", "note", "working")]
    for each in place.data.rglob("*"):
        assert not each.is_file() or SECRET.encode() not in each.read_bytes(), each.name
