"""Folders of basic-memory, and its index, and what comes of them."""

import os
import sqlite3
import time
from contextlib import closing

import pytest
from exchange.exchange_kit import SECRET, Place
from exchange.foreign_readers_kit import Read, build

from cloxy_core.services.exchange.foreign_front_matter import front_matter
from cloxy_core.services.exchange.foreign_limits import ForeignTrouble

TELLING = "The lantern room is reached by a ladder of ninety rungs."
NOTE = f"""---
title: 'Lantern room: how to reach it'
type: note
permalink: lights/lantern-room
tags:
- light
- "tower, old"
created: '2026-03-01T08:00:00+00:00'
modified: 2026-04-01T08:00:00+00:00
---

# Lantern room

{TELLING} See [[Keeper]] and [[Log of 1923|the log]].

## Observations
- [fact] Ninety rungs #ladder #tower (counted twice)
- [ ] paint the rungs
- [x] oil the hinge
- [00:01:02] a line of a talk
- a plain line with a #tag

```
- [fact] in code, so it is none
- relates_to [[Nobody]]
```

## Relations
- part_of [[Lighthouse]]
- "looked after by" [[Keeper]] (since 1923)
- a sentence about [[Harbour]] with words behind
"""
INDEX = (
    """CREATE TABLE entity (id INTEGER PRIMARY KEY, title TEXT, note_type TEXT, permalink TEXT,
        file_path TEXT, project_id INTEGER)""",
    "CREATE TABLE observation (id INTEGER PRIMARY KEY, entity_id INTEGER, content TEXT)",
    "CREATE TABLE relation (id INTEGER PRIMARY KEY, from_id INTEGER, to_id INTEGER)",
    "CREATE TABLE project (id INTEGER PRIMARY KEY, name TEXT, path TEXT)",
)


def written(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(path, (1_770_000_000.5, 1_770_000_000.5))
    return folder


def read(folder, files, tmp_path):
    return Read(written(folder, files), tmp_path / "t")


def test_a_file_is_a_note_with_what_stands_at_its_head(tmp_path):
    found = read(tmp_path / "sea", {"lights/Lantern room.md": NOTE}, tmp_path)
    (note,) = found.notes
    assert note["text"] == "Lantern room: how to reach it\n\n" + NOTE.split("---\n")[2].strip()
    assert (note["project"], note["time"]) == ("sea", "2026-03-01T08:00:00.000Z")
    metadata = note["metadata"]
    assert metadata["observations"] == [
        {
            "category": "fact",
            "content": "Ninety rungs #ladder #tower",
            "tags": ["ladder", "tower"],
            "context": "counted twice",
        }
    ]
    assert metadata["relations"] == [
        {"type": "links_to", "target": "Keeper"},
        {"type": "links_to", "target": "Log of 1923|the log"},
        {"type": "part_of", "target": "Lighthouse"},
        {"type": "looked after by", "target": "Keeper", "context": "since 1923"},
        {"type": "links_to", "target": "Harbour"},
    ]
    del metadata["observations"], metadata["relations"]
    assert metadata == {
        "kind": "note",
        "source": "basic-memory:lights/Lantern room.md",
        "title": "Lantern room: how to reach it",
        "type": "note",
        "permalink": "lights/lantern-room",
        "tags": ["light", "tower, old"],
        "created": "2026-03-01T08:00:00+00:00",
        "modified": "2026-04-01T08:00:00+00:00",
        "file_path": "lights/Lantern room.md",
    }
    assert found.homeless == {
        "categories of observations": 1,
        "relations between notes": 5,
        "tags of notes": 1,
    }


def test_all_markdown_comes_and_the_rest_is_told(tmp_path):
    files = {
        "a.md": NOTE,
        "no head.md": "Just words.",
        "crlf.MD": NOTE.replace("\n", "\r\n").encode(),
        "marked.md": b"\xef\xbb\xbf" + NOTE.encode(),
        "bytes.md": b"caf\xe9 \x00and more",
        "open.md": "---\ntitle: never closed\nwords go on",
        "empty.md": "---\ntitle: Nothing\ntype: note\npermalink: nothing\n---\n\n",
        "large.md": b"x" * (16 * 1024 * 1024 + 1),
        "board.canvas": "{}",
        ".hidden/b.md": NOTE,
        ".obsidian.md": NOTE,
        "node_modules/c.md": NOTE,
    }
    folder = written(tmp_path / "basic-memory", files)
    outside = written(tmp_path / "outside", {"secret.md": "not of this folder"})
    (folder / "linked").symlink_to(outside, target_is_directory=True)
    (folder / "linked.md").symlink_to(outside / "secret.md")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.md")
    found = Read(folder, tmp_path / "t")
    by_place = {note["metadata"]["file_path"]: note for note in found.notes}
    assert list(by_place) == ["a.md", "bytes.md", "crlf.MD", "marked.md", "no head.md", "open.md"]
    assert by_place["no head.md"]["text"] == "no head\n\nJust words."
    # Without a time of its own it is as old as its file.
    assert by_place["no head.md"]["time"] == "2026-02-02T02:40:00.500Z"
    assert by_place["bytes.md"]["text"] == "bytes\n\ncaf\ufffd and more"
    assert by_place["open.md"]["text"].startswith("open\n\n---\ntitle: never closed")
    for same in ("crlf.MD", "marked.md"):
        assert by_place[same]["metadata"]["permalink"] == "lights/lantern-room"
        assert len(by_place[same]["metadata"]["relations"]) == 5
    assert by_place["a.md"]["project"] is None
    assert found.homeless["files that are no Markdown (left out)"] == 1
    assert found.homeless["links to files and folders (left out)"] == 2
    assert found.homeless["notes without text (left out)"] == 1
    assert [words for _n, words in found.report.told] == ["large.md: it is larger than 16 MiB"]


def test_a_name_that_is_no_text_can_be_told(tmp_path):
    folder = written(tmp_path / "sea", {"a.md": NOTE})
    try:
        (folder / os.fsdecode(b"caf\xe9.md")).write_text("Coffee is kept in the galley.")
    except OSError:
        pytest.skip("this file system takes no such names")
    found = Read(folder, tmp_path / "t")
    assert found.note("Coffee")["metadata"]["file_path"] == "caf\ufffd.md"


@pytest.mark.parametrize(
    "text",
    [
        "Just words.",
        "---\ntitle: A post\nlayout: post\n---\nwords",
        "---\ntitle: A page\ntype: page\npermalink: /about/\n---\nwords",
        "---\npermalink: bare\n---\nwords",
    ],
)
def test_another_folder_of_markdown_is_not_taken_for_one(tmp_path, text):
    with pytest.raises(ForeignTrouble, match="a folder of no memory system that is known"):
        read(tmp_path / "other", {"a.md": text, "b.txt": NOTE}, tmp_path)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone cannot be changed here")
def test_times_without_an_offset_are_local(tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        head = "---\ntitle: T\ntype: note\npermalink: t\n{}\n---\nT is here."
        texts = {
            "a.md": head.format("created: 2026-03-01 09:00:00"),
            "b.md": head.format("created: 2026-03-01"),
            "c.md": head.format("created: some day\nmodified: '2026-03-02T00:00:00Z'"),
            "d.md": head.format("created: 0001-01-01"),
        }
        times = [note["time"] for note in read(tmp_path / "sea", texts, tmp_path).notes]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert times == [
        "2026-03-01T00:00:00.000Z",
        "2026-02-28T15:00:00.000Z",
        "2026-03-02T00:00:00.000Z",
        "2026-02-02T02:40:00.500Z",
    ]


@pytest.mark.parametrize(
    ("block", "fields"),
    [
        ("a: 1\nb:\nc: ''", {"a": "1", "b": "", "c": ""}),
        ("tags: [x, 'y, z', \"w\"]", {"tags": ["x", "y, z", "w"]}),
        ("tags:\n  - x # why\n  - 'it''s'", {"tags": ["x", "it's"]}),
        ('t: "caf\\u00e9 \\"x\\""', {"t": 'café "x"'}),
        ("t: a long text\n  that goes on\nu: v", {"t": "a long text that goes on", "u": "v"}),
        ("t: |\n  one\n  two", {"t": "one\ntwo"}),
        ("n:\n  deep: 1\n  more: 2", {"n": "deep: 1\n  more: 2"}),
        ("url: https://example.org/a#b", {"url": "https://example.org/a#b"}),
        ("# remark\n- stray\nt: v  # remark", {"t": "v"}),
        ("!!python/object: x\n? y\n: z\n{", {}),
    ],
)
def test_the_head_of_a_file(block, fields):
    found = front_matter(f"\n---  \n{block}\n---\nbody\n---\nmore\n")
    assert found.fields == fields
    assert found.body == "body\n---\nmore\n"


def test_a_line_that_only_begins_like_a_fence_is_none():
    text = "--- title: x ---\nwords"
    assert (front_matter(text).body, front_matter(text).fields) == (text, {})


def test_its_index_is_refused_with_the_folders(tmp_path):
    path = build(tmp_path / "memory.db", INDEX, project=[{"name": "main", "path": "/srv/notes"}])
    with pytest.raises(ForeignTrouble, match="only the index of basic-memory") as caught:
        Read(path, tmp_path / "t")
    assert caught.value.hint == "import the folder with the notes instead: /srv/notes"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE project")
    with pytest.raises(ForeignTrouble) as caught:
        Read(path, tmp_path / "t")
    assert caught.value.hint == "import the folder with the notes instead"


def test_an_import_is_dated_redacted_found_and_never_doubled(tmp_path):
    place = Place(tmp_path / "place")
    place.folder.mkdir()
    folder = written(
        tmp_path / "sea",
        {
            "light.md": NOTE,
            "key.md": f"---\ntitle: Key\ntype: note\npermalink: key\nopens: {SECRET}\n---\nKey.",
        },
    )
    summary, _said = place.take(folder)
    assert (summary["agent"], summary["notes"]["new"]) == ("basic-memory", 2)
    assert summary["redactions"] == 1
    for each in place.data.iterdir():
        assert not each.is_file() or SECRET.encode() not in each.read_bytes(), each.name
    again, _said = place.take(folder)
    assert (again["notes"]["new"], again["notes"]["known"]) == (0, 2)
    (hits,) = place.recall("lantern room ladder rungs")
    hit = next(hit for hit in hits if TELLING in hit["content"])
    assert hit["project"] == "sea"
    assert hit["ts_start"].startswith("2026-03-01T08:00:00")
    written(folder, {"light.md": NOTE.replace("ninety", "eighty-eight")})
    place.take(folder)
    texts = [line["text"] for line in place.export() if line["kind"] == "note"]
    assert any("eighty-eight rungs" in text for text in texts)
    assert not any("ninety rungs" in text for text in texts)
