"""Databases of mcp-memory-service, and what comes of them."""

import hashlib

import pytest
from exchange.exchange_kit import SECRET, Place
from exchange.foreign_readers_kit import Read, build, damage

from cloxy_core.services.exchange.foreign_limits import ForeignTrouble

AT = 1_760_000_000.123
TELLING = "The ferry to the island leaves from the third pier at low tide only."

FIRST = (
    """CREATE TABLE memories (
        id INTEGER PRIMARY KEY AUTOINCREMENT, content_hash TEXT UNIQUE NOT NULL,
        content TEXT NOT NULL, tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL,
        updated_at REAL, created_at_iso TEXT, updated_at_iso TEXT)""",
    "CREATE TABLE memory_embeddings_chunks (chunk_id INTEGER PRIMARY KEY, size INTEGER)",
    "CREATE TABLE metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
)
LATER = (
    *FIRST,
    "ALTER TABLE memories ADD COLUMN deleted_at REAL DEFAULT NULL",
    "ALTER TABLE memories ADD COLUMN parent_id TEXT",
    "ALTER TABLE memories ADD COLUMN version INTEGER DEFAULT 1",
    "ALTER TABLE memories ADD COLUMN confidence REAL DEFAULT 1.0",
    "ALTER TABLE memories ADD COLUMN last_accessed INTEGER",
    "ALTER TABLE memories ADD COLUMN superseded_by TEXT",
    "CREATE VIRTUAL TABLE memory_content_fts USING fts5("
    "content, content='memories', content_rowid='id', tokenize='trigram')",
    """CREATE TABLE memory_graph (
        source_hash TEXT NOT NULL, target_hash TEXT NOT NULL, similarity REAL NOT NULL,
        connection_types TEXT NOT NULL, metadata TEXT, created_at REAL NOT NULL,
        relationship_type TEXT DEFAULT 'related', PRIMARY KEY (source_hash, target_hash))""",
)


def hashed(text):
    return hashlib.sha256(text.encode()).hexdigest()


def stored(content, seconds=0, **more):
    return {
        "content": content,
        "content_hash": hashed(content),
        "created_at": AT + seconds,
        "updated_at": AT + seconds + 60,
        "created_at_iso": "2025-10-09T08:53:20.123000Z",
        "updated_at_iso": "2025-10-09T08:54:20.123000Z",
        **more,
    }


def link(target, **more):
    return {
        "source_hash": hashed(TELLING),
        "target_hash": target,
        "similarity": 0.5,
        "connection_types": '["semantic", "temporal"]',
        "created_at": AT,
        **more,
    }


def full(folder):
    return build(
        folder / "sqlite_vec.db",
        LATER,
        metadata=[{"key": "distance_metric", "value": "cosine"}],
        memories=[
            stored(
                TELLING,
                tags="ferry, tides,ferry/island",
                memory_type="decision",
                metadata='{"quality_score": 0.75, "author": {"name": "Ada"}}',
                version=2,
                parent_id="p-1",
                confidence=0.5,
                last_accessed=1_760_000_100,
            ),
            stored("It was deleted.", 1, deleted_at=AT + 9),
            stored("It was replaced.", 2, superseded_by=hashed(TELLING)),
            stored(f"The pier opens with {SECRET}.", 3, tags="", metadata=f'{{"a": "{SECRET}"}}'),
            stored("   ", 4),
            stored("Bare.", 5, metadata="{}", confidence=None, version=None),
        ],
        memory_graph=[link("t-1", relationship_type="causes", metadata='{"n": 1}'), link("t-2")],
    )


def test_a_memory_is_a_note_with_all_that_is_known_of_it(tmp_path):
    note = Read(full(tmp_path), tmp_path / "t").note(TELLING)
    assert note["uid"] == f"mcp-memory-service:{hashed(TELLING)}"
    assert (note["text"], note["time"]) == (TELLING, "2025-10-09T08:53:20.123Z")
    assert note["project"] is None
    assert note["metadata"] == {
        "tags": ["ferry", "tides", "ferry/island"],
        "memory_type": "decision",
        "metadata": {"quality_score": 0.75, "author": {"name": "Ada"}},
        "content_hash": hashed(TELLING),
        "updated_at": "2025-10-09T08:54:20.123000Z",
        "parent_id": "p-1",
        "version": 2,
        "confidence": 0.5,
        "last_accessed": 1_760_000_100,
        "memory_graph": [
            {
                "target_hash": "t-1",
                "relationship_type": "causes",
                "similarity": 0.5,
                "connection_types": ["semantic", "temporal"],
                "metadata": {"n": 1},
            },
            {
                "target_hash": "t-2",
                "relationship_type": "related",
                "similarity": 0.5,
                "connection_types": ["semantic", "temporal"],
            },
        ],
    }


def test_what_it_would_not_find_itself_is_left_out_and_told(tmp_path):
    read = Read(full(tmp_path), tmp_path / "t")
    assert len(read.notes) == 3
    assert read.homeless == {
        "tags": 1,
        "types of memories": 1,
        "links between memories": 2,
        "deleted memories (left out)": 1,
        "versions that a newer one replaced (left out)": 1,
    }
    assert [words for _number, words in read.report.told] == ["memories: row 5 holds no text"]
    assert read.note("Bare.")["metadata"].keys() == {"content_hash", "updated_at"}


def test_the_first_shape_has_neither_links_nor_deleted_ones(tmp_path):
    path = build(tmp_path / "m.db", FIRST, memories=[stored(TELLING, tags='["a", "b c"]')])
    note = Read(path, tmp_path / "t").note(TELLING)
    assert note["metadata"]["tags"] == ["a", "b c"]


def test_times_are_numbers_or_text_whichever_there_is(tmp_path):
    rows = [
        stored("a", created_at=None),
        stored("b", created_at=1_760_000_000_000),
        stored("c", created_at="never", created_at_iso="2025-10-09T10:53:20+02:00"),
        stored("d", created_at=None, created_at_iso=None),
    ]
    read = Read(build(tmp_path / "m.db", LATER, memories=rows), tmp_path / "t")
    assert [note["time"] for note in read.notes] == [
        "2025-10-09T08:53:20.123Z",
        "2025-10-09T08:53:20.000Z",
        "2025-10-09T08:53:20.000Z",
        None,
    ]


def test_one_memory_with_very_many_links_keeps_some(tmp_path):
    links = [link(f"t-{number:04}") for number in range(500)]
    path = build(tmp_path / "m.db", LATER, memories=[stored(TELLING)], memory_graph=links)
    read = Read(path, tmp_path / "t")
    assert len(read.note(TELLING)["metadata"]["memory_graph"]) == 100
    assert read.homeless["links of memories with more than 100 (left out)"] == 1


def test_cells_that_hold_anything_break_nothing(tmp_path):
    rows = [
        stored("odd", tags=b"\xff", metadata="not json", memory_type=b"\x03", version="v"),
        stored("list", tags='["a", 1, null]', metadata="[1]", confidence=float("inf")),
        stored("deep", metadata="[" * 5000),
    ]
    path = build(tmp_path / "m.db", LATER, memories=rows)
    read = Read(path, tmp_path / "t")
    odd, listed = read.note("odd"), read.note("list")
    assert odd["metadata"]["metadata"] == "not json"
    assert "memory_type" not in odd["metadata"]
    assert listed["metadata"]["tags"] == ["a"]
    assert "confidence" not in listed["metadata"]
    assert read.note("deep")


@pytest.mark.parametrize(
    "foreign",
    [
        (
            "CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, content_hash TEXT)",
            "CREATE TABLE metadata (key TEXT, value TEXT)",
        ),
        FIRST[:1],
    ],
)
def test_a_table_of_memories_of_another_kind_is_not_taken_for_its_own(tmp_path, foreign):
    with pytest.raises(ForeignTrouble, match="no memory system that is known"):
        Read(build(tmp_path / "m.db", foreign), tmp_path / "t")


def test_without_times_it_is_refused(tmp_path):
    changes = [f"ALTER TABLE memories DROP COLUMN created_at{more}" for more in ("", "_iso")]
    with pytest.raises(ForeignTrouble, match="its table memories holds no times"):
        Read(build(tmp_path / "m.db", [*LATER, *changes]), tmp_path / "t")


def test_what_lies_on_a_damaged_page_is_passed_over_and_told(tmp_path):
    rows = [stored(f"number {number} {'x' * 3000}") for number in range(40)]
    path = build(tmp_path / "m.db", LATER, memories=rows)
    damage(path, "number 20 ")
    read = Read(path, tmp_path / "t")
    assert 30 <= len(read.notes) < 40
    assert read.report.bad >= 1
    assert all("number 20 " not in note["text"] for note in read.notes)
    assert read.note("number 39 ")


def test_an_import_is_dated_redacted_found_and_never_doubled(tmp_path):
    place = Place(tmp_path / "place")
    place.folder.mkdir()
    path = full(tmp_path)
    summary, _said = place.take(path, code=1)
    assert (summary["agent"], summary["notes"]["new"]) == ("mcp-memory-service", 3)
    assert summary["redactions"] == 2
    for each in place.data.iterdir():
        assert not each.is_file() or SECRET.encode() not in each.read_bytes(), each.name
    again, _said = place.take(path, code=1)
    assert (again["notes"]["new"], again["notes"]["known"]) == (0, 3)
    (hits,) = place.recall("ferry third pier")
    hit = next(hit for hit in hits if TELLING in hit["content"])
    assert hit["metadata"]["memory_type"] == "decision"
    assert hit["ts_start"].startswith("2025-10-09T08:53:20")
