"""Exports of other memory systems that are one JSON file, and what comes of them."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from exchange import test_foreign_claude_mem as claude_mem
from exchange.exchange_kit import SECRET, Here, Place
from exchange.foreign_documents_kit import (
    claude_mem_export,
    exocortex_export,
    mcp_export,
    notes,
    read,
)
from exchange.foreign_memories_kit import ExocortexDatabase
from exchange.foreign_readers_kit import Read, insert
from exchange.test_foreign_mcp_memory_service import TELLING, full, hashed

from cloxy_core.services.exchange.foreign_limits import LIMITS

UID = f"mcp-memory-service:{hashed(TELLING)}"
OF_THE_DATABASE = ("parent_id", "version", "confidence", "last_accessed", "memory_graph")


def as_in(value, *absent):
    """A note without what only the database has."""
    metadata = {name: each for name, each in value["metadata"].items() if name not in absent}
    return {**value, "metadata": metadata}


def test_a_memory_of_an_export_is_the_one_of_the_database(tmp_path):
    database = full(tmp_path)
    found = notes(mcp_export(database))
    there = {note["uid"]: note for note in Read(database, tmp_path / "t").notes}
    assert found.keys() == there.keys()
    assert len(found) == 3
    for uid, note in found.items():
        wanted = as_in(there[uid], *OF_THE_DATABASE, "updated_at")
        assert as_in(note, "updated_at") == wanted
    assert found[UID]["time"] == "2025-10-09T08:53:20.123Z"
    assert found[UID]["metadata"]["updated_at"] == 1_760_000_060.123


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_is_the_same_however_it_is_written(tmp_path, indent):
    value = mcp_export(full(tmp_path))
    data = b"\xef\xbb\xbf \n" + json.dumps(value, indent=indent, ensure_ascii=False).encode()
    lines, report = read(data)
    assert (report.trouble, report.agent) == (None, "mcp-memory-service")
    assert [line["kind"] for line in lines] == ["header", "note", "note", "note", "end"]
    assert lines[-1]["notes"] == 3


def test_memories_without_a_hash_are_known_by_their_words(tmp_path):
    value = mcp_export(full(tmp_path))
    for memory in value["memories"]:
        del memory["content_hash"]
    first = notes(value)
    value["memories"].reverse()
    assert notes(value).keys() == first.keys()
    assert len(first) == 3


def test_notes_and_summaries_of_claude_mem_are_those_of_its_database(tmp_path):
    database = claude_mem.full(tmp_path)
    lines, report = read(claude_mem_export(database))
    assert report.trouble is None
    there = Read(database, tmp_path / "t")
    # Rules for all sessions, and prompts that stand with a session alone, are in no export.
    absent = ("claude-mem:directive:", "claude-mem:session:")
    wanted = [note for note in there.notes if not note["uid"].startswith(absent)]
    assert len(wanted) < len(there.notes)
    found = [line for line in lines if line["kind"] == "note"]
    assert {note["uid"]: note["text"] for note in found} == {n["uid"]: n["text"] for n in wanted}
    assert {n["uid"]: n["project"] for n in found} == {n["uid"]: n["project"] for n in wanted}
    assert [line for line in lines if line["kind"] == "message"] == there.messages


def test_prompts_of_sessions_without_observations_keep_their_project(tmp_path):
    database = claude_mem.full(tmp_path)
    with closing(sqlite3.connect(database)) as connection, connection:
        insert(connection, "sdk_sessions", [claude_mem.watched(9, "k-9", project="pier")])
        insert(connection, "user_prompts", [claude_mem.asked(1, "Who fishes there?", 9, "k-9")])
    found = notes(claude_mem_export(database))
    assert [n["project"] for n in found.values() if n["text"] == "Who fishes there?"] == ["pier"]


def test_a_partial_export_of_claude_mem_is_refused(tmp_path):
    value = claude_mem_export(claude_mem.full(tmp_path))
    value |= {"sessions": [], "metadata": {"partial": True, "importable": False}}
    lines, report = read(value)
    assert lines == []
    assert "partial" in report.trouble
    assert "export it there again" in report.hint


def test_memories_of_exocortex_come_with_tags_and_entities_and_without_their_parts(tmp_path):
    base = ExocortexDatabase(tmp_path / "e.db")
    base.memory("m-1", "The tide table hangs by the door. The lamp is lit at six.", is_active=1)
    base.memory("m-2", "The lamp is lit at six.", is_active=1, parent_id="m-1", chunk_index=0)
    base.memory("m-3", "A piece of a page.", is_active=1, parent_id="m-1")
    base.memory("m-4", "In the trash.", is_active=0)
    base.add("memory_tags", memory_id="m-1", tag="harbour")
    base.add("entities", id="e-1", name="Door", type="thing", created_at="2026-03-01 08:00:00")
    base.add("memory_entities", memory_id="m-1", entity_id="e-1", relevance=0.5)
    value = exocortex_export(base.file)
    found = notes(value)
    assert set(found) == {"exocortex:m-1", "exocortex:m-3"}
    assert found["exocortex:m-1"]["metadata"]["tags"] == ["harbour"]
    assert found["exocortex:m-1"]["metadata"]["entities"][0]["name"] == "Door"
    assert found["exocortex:m-3"]["metadata"]["kind"] == "document part"
    _lines, report = read(value)
    assert report.homeless["memories in the trash (not taken)"] == 1
    there = {note["uid"]: note["text"] for note in Read(base.file, tmp_path / "t").notes}
    assert there == {uid: note["text"] for uid, note in found.items()}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "no memory system that is known"),
        ({"memories": []}, "no memory system that is known"),
        ({"memories": {}, "export_metadata": {}}, "no memory system that is known"),
        ({"timestamp": "t", "memories": [{"id": "a", "document": "d"}]}, "no memory system"),
        ({"export_metadata": {}, "memories": [{"content_hash": "a"}]}, "have no content and no"),
        ({"export_metadata": {}, "memories": [{"content": "a"}]}, "have no created_at"),
        (
            {"observations": [{"id": 1}], "sessions": [], "summaries": [], "prompts": []},
            "its observations have no project and no type",
        ),
    ],
)
def test_another_shape_is_refused_with_what_is_known(value, words):
    lines, report = read(value)
    assert lines == []
    assert words in report.trouble
    assert report.hint


def test_an_export_without_memories_is_one():
    lines, report = read({"export_metadata": {}, "memories": []})
    assert [line["kind"] for line in lines] == ["header", "end"]
    assert (report.agent, report.trouble) == ("mcp-memory-service", None)


def test_items_that_are_bad_are_told_and_the_others_come():
    good = {"content": "good", "content_hash": "g", "created_at": 1_760_000_000}
    deep = "[" * 70 + "]" * 70
    items = [
        json.dumps(good),
        '{"content": "no JSON", "created_at": }',
        '"a text"',
        "7, 8",
        "[1]",
        json.dumps({"content": 0}).replace("0", deep),
        json.dumps({**good, "content": " ", "content_hash": "blank"}),
        json.dumps({**good, "content": {"an": "object"}, "content_hash": "o", "tags": 1 << 70}),
        '{"content": "half \\ud800 a character", "created_at": 1, "content_hash": "h"}',
    ]
    data = '{"export_metadata": {"a": [1]}, "memories": [' + ", ".join(items) + "]}"
    lines, report = read(data.encode())
    assert [line["text"] for line in lines if line["kind"] == "note"] == [
        "good",
        '{"an": "object"}',
        "half \ufffd a character",
    ]
    assert lines[-1]["kind"] == "end"
    told = [words for _number, words in report.told]
    assert told[:5] == [
        "memories: item 2: it is not JSON",
        "memories: item 3: it is no object",
        "memories: item 4: it is no object",
        "memories: item 5: it is no object",
        "memories: item 6: it is nested too deep",
    ]
    assert report.bad == 6


@pytest.mark.parametrize("cut", [0.4, 0.7, 0.95])
def test_of_a_file_that_is_cut_what_is_whole_comes(tmp_path, cut):
    value = mcp_export(full(tmp_path))
    value["memories"] += [
        {"content": f"number {n}", "content_hash": f"n{n}", "created_at": 1_760_000_000 + n}
        for n in range(200)
    ]
    data = json.dumps(value).encode()
    lines, report = read(data[: int(len(data) * cut)])
    kinds = [line["kind"] for line in lines]
    assert kinds[0] == "header"
    assert 40 < kinds.count("note") < 203
    assert "end" not in kinds
    assert "cut" in report.trouble


@pytest.mark.parametrize(
    "data",
    [
        b'{"export_metadata": {}, "memories": []',
        b'{"export_metadata": {}, "memories": ["',
        b'{"export_metadata": {}, "memories": [}]',
        b'{"export_metadata": {}, "memories": []} {}',
        b'{"export_metadata": {}, "memories": []} x',
        b"{" * 100_000,
    ],
)
def test_a_damaged_file_is_told(data):
    lines, report = read(data)
    assert not any(line["kind"] == "end" for line in lines)
    assert report.trouble


def test_what_is_too_large_is_not_read():
    value = {
        "export_metadata": {},
        "memories": [
            {"content": "x" * 5000, "created_at": 1, "content_hash": "long"},
            {"content": "short", "created_at": 1, "content_hash": "short"},
        ],
    }
    lines, report = read(value, replace(LIMITS, conversation_bytes=4000))
    assert [line["text"] for line in lines if line["kind"] == "note"] == ["short"]
    assert report.told == [(0, "memories: item 1: it is larger than 4,000 bytes")]
    lines, report = read(value, replace(LIMITS, document_bytes=4000))
    assert lines == []
    assert "larger than 4,000 bytes" in report.trouble


def test_blocks_end_anywhere(tmp_path, monkeypatch):
    value = mcp_export(full(tmp_path))
    value["memories"][0]["content"] = 'a "quoted" \\ back\nslash, {[ and Zürich 東京'
    whole, _report = read(value)
    for size in (1, 2, 3, 7):
        monkeypatch.setattr("cloxy_core.services.exchange.foreign_members._BLOCK", size)
        assert read(value)[0] == whole


def test_an_import_is_dated_redacted_and_once_with_its_database(tmp_path):
    place = Here(tmp_path / "place")
    place.folder.mkdir()
    database = full(tmp_path)
    file = tmp_path / "memories.json"
    file.write_text(json.dumps(mcp_export(database), indent=2), "utf-8")
    trial, said = place.take(file, "--dry-run", code=1)
    assert said.endswith(" holds no text")
    assert not place.data.exists()
    summary, _said = place.take(file, code=1)
    assert summary == trial | {"dry_run": False}
    assert (summary["agent"], summary["notes"]["new"]) == ("mcp-memory-service", 3)
    assert (summary["first"], summary["redactions"]) == ("2025-10-09T08:53:20.123Z", 2)
    for each in place.data.iterdir():
        assert not each.is_file() or SECRET.encode() not in each.read_bytes(), each.name
    before = place.export()
    for again in (file, database):
        known, _said = place.take(again, code=1)
        assert (known["notes"]["new"], known["notes"]["known"], known["changed"]) == (0, 3, 0)
    assert place.export()[1:] == before[1:]


def test_what_its_database_brought_is_known_in_its_export(tmp_path):
    place = Here(tmp_path / "place")
    place.folder.mkdir()
    database = claude_mem.full(tmp_path)
    place.take(database, code=1)
    file = tmp_path / "memories.json"
    file.write_text(json.dumps(claude_mem_export(database)), "utf-8")
    summary, _said = place.take(file, code=1)
    assert (summary["notes"]["new"], summary["messages"]["new"]) == (0, 0)
    assert summary["notes"]["known"] > 3
    assert summary["messages"]["known"] >= 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"some": ["thing"]}', "it is a JSON file of no memory system that is known"),
        ('{\n  "some": 1\n}\n', "it is a JSON file of no memory system that is known"),
        ('{"kind": "header"}', "its first line is no header"),
        ('{"a": 1}\n{"a": 2}\n', "its first line is no header"),
    ],
)
def test_a_file_of_nobody_is_refused_and_nothing_is_made(tmp_path, text, words):
    place = Place(tmp_path / "place")
    place.folder.mkdir()
    file = tmp_path / "in.json"
    file.write_text(text)
    done = place.run("import", file)
    assert done.returncode == 4
    assert words in done.stderr.decode()
    assert not place.data.exists()
