"""The database of exocortex, built here to its schema."""

import pytest
from exchange.exchange_kit import SECRET, Place
from exchange.foreign_memories_kit import MORNING, MORNING_ISO, ExocortexDatabase, notes, read

LONG = "\n\n".join(f"Paragraph {n}: the harbour of the island has two moles." for n in range(80))


@pytest.fixture
def exocortex(tmp_path):
    return ExocortexDatabase(tmp_path / "exocortex.db")


@pytest.fixture
def temporary(tmp_path):
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


def metadata(exocortex, temporary, uid):
    return notes(exocortex.file, temporary)[uid]["metadata"]


def test_a_memory_comes_with_all_that_is_known_of_it(exocortex, temporary):
    exocortex.memory(
        "01A",
        "The mast is made of larch.",
        content_type="note",
        source="mcp",
        source_uri="file:///boat.md",
        provider="someone",
        model_id="m-1",
        model_name="Model One",
        agent="helper",
        session_id="s-1",
        conversation_id="c-1",
        embedding=b"\0\0\x80?",
        content_hash="h",
        importance=0.9,
        access_count=3,
        last_accessed_at="2026-03-02 09:00:00",
        tier="semantic",
        metadata={"trust": "high", "deep": {"a": [1, None]}},
        useful_count=2,
        valence=-0.5,
        expires_at="2027-01-01",
        namespace="/srv/demo/boat",
        keywords="mast larch",
        quality_score=0.7,
        updated_at="2026-03-02 10:00:00",
    )
    exocortex.add("memory_tags", memory_id="01A", tag="wood")
    exocortex.add("memory_tags", memory_id="01A", tag="boat")
    exocortex.add("entities", id="e1", name="Larch", type="concept")
    exocortex.add("entities", id="e2", name="Mast", type="technology")
    exocortex.add("memory_entities", memory_id="01A", entity_id="e1")
    exocortex.add("memory_links", source_id="01A", target_id="01B", link_type="supports")
    exocortex.add("facts", id="f1", subject="mast", predicate="is", object="larch", memory_id="01A")
    exocortex.add(
        "entity_relationships",
        id="r1",
        source_entity_id="e2",
        target_entity_id="e1",
        relationship="uses",
        memory_id="01A",
        context="for strength",
    )
    exocortex.add(
        "contradictions",
        id="k1",
        memory_a_id="01B",
        memory_b_id="01A",
        description="spruce or larch",
    )
    exocortex.add("consolidations", id="n1", summary_id="01A", source_ids=["x"], strategy="merge")
    note = notes(exocortex.file, temporary)["01A"]
    assert note["text"] == "The mast is made of larch."
    assert (note["uid"], note["source"]) == ("exocortex:01A", "exocortex:01A")
    assert (note["time"], note["project"]) == (MORNING_ISO, "/srv/demo/boat")
    assert (note["memory_kind"], note["tier"]) == ("semantic", None)
    assert note["metadata"] == {
        "source": "mcp",
        "tier": "semantic",
        "namespace": "/srv/demo/boat",
        "updated_at": "2026-03-02 10:00:00",
        "metadata": {"trust": "high", "deep": {"a": [1, None]}},
        "content_type": "note",
        "source_uri": "file:///boat.md",
        "provider": "someone",
        "model_id": "m-1",
        "model_name": "Model One",
        "agent": "helper",
        "session_id": "s-1",
        "conversation_id": "c-1",
        "last_accessed_at": "2026-03-02 09:00:00",
        "expires_at": "2027-01-01",
        "importance": 0.9,
        "quality_score": 0.7,
        "access_count": 3,
        "useful_count": 2,
        "valence": -0.5,
        "tags": ["boat", "wood"],
        "entities": [{"name": "Larch", "type": "concept"}],
        "links": [{"target_id": "01B", "link_type": "supports", "strength": 0.5}],
        "facts": [{"subject": "mast", "predicate": "is", "object": "larch", "confidence": 0.7}],
        "relations": [
            {
                "source": "Mast",
                "relationship": "uses",
                "target": "Larch",
                "confidence": 0.7,
                "context": "for strength",
            }
        ],
        "contradictions": [{"with": "01B", "description": "spruce or larch", "status": "pending"}],
        "consolidations": [{"source_ids": ["x"], "strategy": "merge"}],
    }


def test_goals_predictions_tasks_and_the_diary_are_notes_of_their_kind(exocortex, temporary):
    exocortex.add(
        "goals",
        id="g1",
        title="Sail round the island",
        description="In one day.",
        deadline="2026-06-01",
        metadata={"milestones": [{"title": "harbour"}]},
        created_at=MORNING,
    )
    exocortex.add(
        "predictions",
        id="p1",
        claim="It will rain on Sunday.",
        confidence=0.8,
        domain="general",
        resolution="true",
        resolution_notes="It poured.",
        created_at=MORNING,
    )
    exocortex.add(
        "agent_tasks",
        id="t1",
        title="Oil the mast",
        description="Twice.",
        result="Done on Friday.",
        status="completed",
        dependencies=["t0"],
        created_at=MORNING,
    )
    exocortex.add("agent_diary", id="d1", agent="helper", entry="A calm day.", created_at=MORNING)
    found = notes(exocortex.file, temporary)
    assert {uid: (note["text"], note["time"]) for uid, note in found.items()} == {
        "goal:g1": ("Sail round the island\n\nIn one day.", MORNING_ISO),
        "prediction:p1": ("It will rain on Sunday.", MORNING_ISO),
        "task:t1": ("Oil the mast\n\nTwice.\n\nDone on Friday.", MORNING_ISO),
        "diary-entry:d1": ("A calm day.", MORNING_ISO),
    }
    assert found["goal:g1"]["metadata"] == {
        "kind": "goal",
        "metadata": {"milestones": [{"title": "harbour"}]},
        "status": "active",
        "priority": "medium",
        "deadline": "2026-06-01",
    }
    assert found["prediction:p1"]["metadata"] == {
        "kind": "prediction",
        "domain": "general",
        "status": "open",
        "resolution": "true",
        "resolution_notes": "It poured.",
        "confidence": 0.8,
    }
    assert found["task:t1"]["metadata"]["dependencies"] == '["t0"]'
    assert found["diary-entry:d1"]["metadata"] == {
        "kind": "diary entry",
        "agent": "helper",
        "topic": "general",
    }


def test_what_the_system_shows_no_more_stays_there_and_is_told(exocortex, temporary):
    exocortex.memory("here", "This one is here.")
    exocortex.memory("old", "This one was corrected.", is_active=0, superseded_by="here")
    exocortex.memory("gone", "This one was thrown away.", is_active=0, is_indexed=0)
    exocortex.memory("shown", "This one is shown still.", superseded_by="here")
    lines, report = read(exocortex.file, temporary)
    assert [line["text"] for line in lines if line["kind"] == "note"] == [
        "This one is here.",
        "This one is shown still.",
    ]
    assert report.homeless == {
        "superseded memories (not taken)": 1,
        "memories in the trash (not taken)": 1,
    }


def test_a_long_memory_comes_whole_and_a_document_in_its_pieces(exocortex, temporary):
    exocortex.memory("long", LONG)
    exocortex.memory("long-0", LONG[:500], parent_id="long", chunk_index=0)
    exocortex.memory("long-1", LONG[500:1000], parent_id="long", chunk_index=1)
    exocortex.memory("trash", LONG[:-1], is_active=0)
    exocortex.memory("trash-0", LONG[:400], parent_id="trash", chunk_index=0)
    exocortex.memory("orphan-0", "A part whose whole is lost.", parent_id="lost", chunk_index=0)
    exocortex.memory("page", "# Tides\n\nThe first words of the page...", source_uri="http://x/y")
    exocortex.memory("page-a", "Everything on the page.", parent_id="page", source="import")
    exocortex.memory("dumped", "# Thrown away", is_active=0)
    exocortex.memory("dumped-a", "Everything on that page.", parent_id="dumped")
    lines, report = read(exocortex.file, temporary)
    found = {line["uid"].partition(":")[2]: line for line in lines if line["kind"] == "note"}
    assert set(found) == {"long", "orphan-0", "page", "page-a"}
    assert found["long"]["text"] == LONG
    assert found["page-a"]["metadata"]["kind"] == "document part"
    assert found["page-a"]["metadata"]["parent_id"] == "page"
    assert report.kinds == {"memory": 3, "document part": 1}
    assert report.homeless["parts of longer memories (whole in them)"] == 3
    assert report.homeless["memories in the trash (not taken)"] == 3


def test_each_kind_without_a_place_is_told_with_its_number(exocortex, temporary):
    exocortex.memory("01A", "The mast is made of larch.").memory("01B", "Gone.", is_active=0)
    for tag in ("a", "b"):
        exocortex.add("memory_tags", memory_id="01A", tag=tag)
        exocortex.add("memory_tags", memory_id="01B", tag=tag)
    for number in range(3):
        exocortex.add("entities", id=f"e{number}", name=f"Thing {number}")
    exocortex.add("memory_entities", memory_id="01A", entity_id="e1")
    exocortex.add("memory_links", source_id="01A", target_id="01B")
    exocortex.add("memory_links", source_id="01B", target_id="01A")
    exocortex.add("facts", id="f1", subject="s", predicate="p", object="o", memory_id="01A")
    exocortex.add("facts", id="f2", subject="s", predicate="p", object="o", memory_id=None)
    exocortex.add("contradictions", id="k1", memory_a_id="01A", memory_b_id="01B", description="x")
    exocortex.add("access_log", memory_id="01A", query="mast", accessed_at=MORNING)
    exocortex.add("search_misses", query="keel")
    _lines, report = read(exocortex.file, temporary)
    rest = "(of no memory that came, not taken)"
    assert report.homeless == {
        "memories in the trash (not taken)": 1,
        "tags": 2,
        f"tags {rest}": 2,
        "entities": 1,
        f"entities {rest}": 2,
        "links between memories": 1,
        f"links between memories {rest}": 1,
        "facts": 1,
        f"facts {rest}": 1,
        "contradictions": 1,
        "records of use (not taken)": 2,
    }


def test_a_database_of_an_older_version_is_read(exocortex, temporary):
    for column in ("tier", "namespace", "metadata", "superseded_by", "quality_score", "keywords"):
        if column == "namespace":
            exocortex.run("DROP INDEX idx_active_hash")
        if column == "keywords":
            exocortex.run("DROP TRIGGER memories_ai").run("DROP TABLE memories_fts")
        exocortex.run(f"ALTER TABLE memories DROP COLUMN {column}")
    for table in ("facts", "goals", "predictions", "agent_diary", "agent_tasks", "memory_links"):
        exocortex.run(f"DROP TABLE {table}")
    exocortex.memory("01A", "The mast is made of larch.")
    note = notes(exocortex.file, temporary)["01A"]
    assert (note["project"], note["memory_kind"]) == (None, None)
    assert note["metadata"] == {"source": "manual", "content_type": "text", "importance": 0.5}


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "ALTER TABLE memories RENAME COLUMN is_active TO state",
            "table memories has no is_active",
        ),
        ("ALTER TABLE memory_tags RENAME COLUMN tag TO label", "table memory_tags has no tag"),
    ],
)
def test_another_shape_is_refused_with_what_differs(exocortex, temporary, statement, words):
    exocortex.memory("01A", "The mast is made of larch.").run(statement)
    lines, report = read(exocortex.file, temporary)
    assert lines == []
    assert report.trouble.startswith("it looks like a database of exocortex, but")
    assert words in report.trouble


def test_rows_of_wrong_types_are_passed_over_alone(exocortex, temporary):
    exocortex.memory("good", "The mast is made of larch.", created_at="at noon", importance=7e300)
    exocortex.memory(None, "A row without an id.")
    exocortex.memory("blob", b"\xff\xfe bytes")
    exocortex.memory("blank", "  \n ")
    exocortex.memory("state", "Neither here nor there.", is_active="perhaps")
    exocortex.memory("json", "Its metadata is no JSON.", metadata="{'a'", namespace=b"\0")
    exocortex.add("memory_tags", memory_id="good", tag=b"\x01")
    exocortex.add("memory_tags", memory_id="good", tag=5)
    exocortex.add("goals", id="g1", title=b"bytes", created_at=MORNING)
    lines, report = read(exocortex.file, temporary)
    found = {line["uid"].partition(":")[2]: line for line in lines if line["kind"] == "note"}
    assert set(found) == {"good", "json"}
    assert found["good"]["time"] is None
    assert found["good"]["metadata"]["importance"] == 7e300
    assert found["good"]["metadata"]["tags"] == ["5"]
    assert found["json"]["metadata"]["metadata"] == "{'a'"
    assert found["json"]["project"] is None
    assert report.bad == 5
    assert [words for _number, words in report.told] == [
        "memories: a row without an id",
        "memory blob: its text is none",
        "memory blank: its text is none",
        "memory state: it is neither active nor in the trash",
        "goals: g1: its text is none",
    ]


def test_settings_are_never_read_and_secrets_never_stored(exocortex, tmp_path):
    exocortex.add("settings", key="auth.token", value="pass-phrase of the settings")
    exocortex.memory("01A", f"My token is {SECRET}, is that safe?", metadata={"t": SECRET})
    exocortex.memory(SECRET, "Its id is a secret.", namespace=f"/srv/{SECRET}")
    exocortex.add("memory_tags", memory_id="01A", tag=SECRET)
    exocortex.add("entities", id="e1", name=f"Key {SECRET}")
    exocortex.add("memory_entities", memory_id="01A", entity_id="e1")
    exocortex.add("goals", id="g1", title=f"Change {SECRET}", metadata={SECRET: 1})
    exocortex.memory(f"bad {SECRET}", b"\xff")
    place = Place(tmp_path)
    summary, said = place.take(exocortex.file, code=1)
    assert summary["notes"]["new"] == 3
    assert summary["redactions"] >= 5
    assert SECRET not in said
    assert "memory bad [REDACTED" in said
    files = [each for each in place.data.rglob("*") if each.is_file()]
    assert files
    for each in files:
        data = each.read_bytes()
        assert SECRET.encode() not in data, each.name
        assert b"pass-phrase of the settings" not in data, each.name


def test_a_whole_import_is_stored_found_and_the_second_adds_nothing(exocortex, tmp_path):
    exocortex.memory("01A", "The mast is made of larch.", namespace="/srv/demo/boat", tier="core")
    exocortex.memory("01B", LONG, tier="reference")
    exocortex.add("goals", id="g1", title="Sail round the island", created_at=MORNING)
    place = Place(tmp_path)
    trial, _said = place.take(exocortex.file, "--dry-run")
    assert not place.data.exists()
    first, _said = place.take(exocortex.file)
    assert (
        first["notes"]
        == trial["notes"]
        == {"new": 3, "known": 0, "forgotten": 0, "empty": 0, "ruled_out": 0}
    )
    assert first["kinds"] == trial["kinds"] == {"memory": 2, "goal": 1}
    assert (first["agent"], first["first"], first["last"]) == (
        "exocortex",
        MORNING_ISO,
        MORNING_ISO,
    )
    before = place.export()[1:]
    again, _said = place.take(exocortex.file)
    assert again["notes"] == {"new": 0, "known": 3, "forgotten": 0, "empty": 0, "ruled_out": 0}
    assert place.export()[1:] == before
    kinds = place.rows("SELECT DISTINCT source, kind, tier FROM memories WHERE ordinal = 0")
    assert sorted(kinds) == [
        ("exocortex:01A", "episodic", "working"),
        ("exocortex:01B", "reference", "working"),
        ("exocortex:goal:g1", "episodic", "working"),
    ]
    (hits,) = place.recall("mast larch")
    assert hits[0]["texts"] == ["The mast is made of larch."]
    assert hits[0]["project"] == "/srv/demo/boat"
    assert hits[0]["metadata"]["importance"] == 0.5
