"""Databases of other memory systems that are damaged, cut, or made to do harm."""

import random
import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from exchange.exchange_kit import Place
from exchange.foreign_memories_kit import ExocortexDatabase, MemxDatabase, read

from cloxy_core.services.exchange.foreign_limits import ForeignTrouble
from cloxy_core.services.exchange.foreign_memories import Told
from cloxy_core.services.exchange.foreign_related import Related
from cloxy_core.services.exchange.foreign_rows import count_rows, table_rows
from cloxy_core.services.exchange.foreign_tables import opened_tables

PAGE = 4096
ROWS = 600
TIMES = 60


def fill(database, rows=ROWS):
    """Memories of about half a page each, and what belongs to them."""
    text = "The harbour of the island has two moles, and a light on each of them. "
    with closing(sqlite3.connect(database.file)) as connection:
        for n in range(rows):
            connection.execute(
                "INSERT INTO memories (id, content, created_at, {}) VALUES (?, ?, ?, ?)".format(
                    "status" if isinstance(database, MemxDatabase) else "is_active"
                ),
                (
                    f"m{n:04}",
                    f"{n} {text * 30}",
                    "2026-03-01T08:00:00Z",
                    "active" if isinstance(database, MemxDatabase) else 1,
                ),
            )
            if isinstance(database, ExocortexDatabase):
                connection.execute("INSERT INTO memory_tags VALUES (?, ?)", (f"m{n:04}", "sea"))
        connection.commit()
    return database


@pytest.fixture
def exocortex(tmp_path):
    return fill(ExocortexDatabase(tmp_path / "exocortex.db"))


def leaves(file, table):
    """Numbers of the pages that hold rows of a table, in their order."""
    with closing(sqlite3.connect(file)) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
    data = file.read_bytes()

    def below(number):
        start = (number - 1) * PAGE
        header = start + (100 if number == 1 else 0)
        if data[header] == 13:
            return [number]
        assert data[header] == 5, "an inner page of a table"
        cells = int.from_bytes(data[header + 3 : header + 5])
        pointers = [
            int.from_bytes(data[header + 12 + 2 * n : header + 14 + 2 * n]) for n in range(cells)
        ]
        children = [int.from_bytes(data[start + p : start + p + 4]) for p in pointers]
        children.append(int.from_bytes(data[header + 8 : header + 12]))
        return [leaf for child in children for leaf in below(child)]

    return below(root)


def spoil(file, page, data=b"\xff" * PAGE):
    with file.open("r+b") as target:
        target.seek((page - 1) * PAGE)
        target.write(data)


def test_rows_on_both_sides_of_a_damaged_page_come(exocortex, tmp_path):
    pages = leaves(exocortex.file, "memories")
    spoil(exocortex.file, pages[len(pages) // 2])
    lines, report = read(exocortex.file, tmp_path)
    found = [line["uid"] for line in lines if line["kind"] == "note"]
    assert report.trouble is None
    assert ROWS - 4 <= len(found) < ROWS
    assert len(set(found)) == len(found)
    assert {"exocortex:m0000", f"exocortex:m{ROWS - 1:04}"} <= set(found)
    assert ("memories: a part of it is damaged") in report.told[-1][1]
    assert lines[-1]["kind"] == "end"
    assert all(line["metadata"]["tags"] == ["sea"] for line in lines if line["kind"] == "note")


def test_a_damaged_page_is_told_by_the_program(exocortex, tmp_path):
    pages = leaves(exocortex.file, "memories")
    spoil(exocortex.file, pages[3])
    place = Place(tmp_path)
    summary, said = place.take(exocortex.file, code=1)
    assert ROWS - 4 <= summary["notes"]["new"] < ROWS
    assert summary["bad"] == 1
    assert "a part of it is damaged, and the rows in it could not be read" in said
    assert summary["cut"] is None


def test_a_row_that_is_too_large_is_passed_over_alone(tmp_path):
    exocortex = fill(ExocortexDatabase(tmp_path / "exocortex.db"), rows=20)
    text = "replace(hex(zeroblob(5000000)), '0', 'x')"
    exocortex.run(f"INSERT INTO memories (id, content, is_indexed) VALUES ('huge', {text}, 0)")
    exocortex.memory("after", "This one stands behind it.")
    lines, report = read(exocortex.file, tmp_path)
    assert sum(line["kind"] == "note" for line in lines) == 21
    words = "memory huge: it is longer than 8,388,608 characters"
    assert report.told == [(0, words)]
    assert (report.trouble, lines[-1]["kind"]) == (None, "end")


def test_without_the_table_of_tags_the_memories_still_come(exocortex, tmp_path):
    with closing(sqlite3.connect(exocortex.file)) as connection:
        ((root,),) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name LIKE 'sqlite_autoindex_memory_tags%'"
        )
    spoil(exocortex.file, root)
    lines, report = read(exocortex.file, tmp_path)
    notes = [line for line in lines if line["kind"] == "note"]
    assert len(notes) == ROWS
    assert not any("tags" in note["metadata"] for note in notes)
    assert Counter(words for _number, words in report.told)[
        "memory_tags: it is damaged, and a part of it is missing"
    ] == 1  # fmt: skip


@pytest.mark.parametrize("share", [0.02, 0.6, 0.999])
def test_a_cut_file_is_refused_or_told(exocortex, tmp_path, share):
    data = exocortex.file.read_bytes()
    exocortex.file.write_bytes(data[: int(len(data) * share)])
    place = Place(tmp_path)
    done = place.run("import", exocortex.file, "--json")
    said = done.stderr.decode()
    assert done.returncode in (1, 4)
    assert "it is damaged" in said or "the file is cut" in said
    assert "Traceback" not in said


def test_a_last_page_that_is_not_whole_is_told(exocortex, tmp_path):
    _lines, report = read(exocortex.file, tmp_path)
    assert report.told == []
    exocortex.file.write_bytes(exocortex.file.read_bytes()[:-100])
    _lines, report = read(exocortex.file, tmp_path)
    assert report.told[0] == (0, "the file is cut: it is shorter than it says itself")


@pytest.mark.parametrize("kind", [ExocortexDatabase, MemxDatabase])
def test_random_damage_is_told_and_raises_nothing_else(tmp_path, kind):
    database = fill(kind(tmp_path / "their.db"), rows=40)
    whole = database.file.read_bytes()
    chance = random.Random(11)
    came = told = 0
    for _ in range(TIMES):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 1, 20, 400])):
            at = chance.randrange(16, len(data))
            how = chance.randrange(3)
            if how == 0:
                data[at] = chance.randrange(256)
            elif how == 1:
                length = chance.randrange(1, 200)
                data[at : at + length] = bytes(length)
            else:
                other = chance.randrange(len(data))
                data[at : at + 60] = data[other : other + 60]
        database.file.write_bytes(data)
        lines, report = read(database.file, tmp_path)
        notes = sum(line["kind"] == "note" for line in lines)
        came += notes > 0
        told += bool(report.trouble or report.bad)
        assert report.trouble is not None or lines[-1]["kind"] == "end"
    assert came > TIMES / 4
    assert told > TIMES / 20


def test_a_table_is_read_from_the_other_end_only_to_the_damage(exocortex, tmp_path):
    pages = leaves(exocortex.file, "memories")
    for page in (pages[2], pages[-3]):
        spoil(exocortex.file, page)
    told = Told()
    with opened_tables(exocortex.file, tmp_path) as database:
        found = [row[0] for row in table_rows(database, told, "memories", ("id",))]
        assert count_rows(database, told, "memory_tags") == ROWS
        assert count_rows(database, told, "nothing") == 0
    assert len(found) == len(set(found)) > 0
    ups = [uid for uid in found if uid < f"m{ROWS // 2:04}"]
    downs = [uid for uid in found if uid > f"m{ROWS // 2:04}"]
    assert ups == sorted(ups)
    assert downs == sorted(downs, reverse=True)
    assert told.bad_count == 1


def test_a_schema_that_would_run_for_ever_or_reach_outside_is_not_run(tmp_path):
    file = tmp_path / "evil.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            """
            CREATE VIEW memories AS SELECT load_extension('/tmp/evil') AS id, 'x' AS content,
              1 AS is_active, 1 AS created_at;
            CREATE TABLE memory_tags (memory_id, tag);
            CREATE TABLE memory_entities (memory_id, entity_id);
            CREATE TABLE entities (id, name);
            """
        )
    lines, report = read(file, tmp_path)
    assert not any(line["kind"] == "note" for line in lines)
    assert report.trouble is not None


def test_a_database_that_changes_while_it_is_read_is_told(exocortex, tmp_path):
    def read_slowly():
        with opened_tables(exocortex.file, tmp_path) as database:
            assert len(list(database.rows("SELECT id FROM memories LIMIT 1"))) == 1
            exocortex.memory("late", "Said meanwhile.")

    with pytest.raises(ForeignTrouble, match="it changed while it was read") as caught:
        read_slowly()
    assert "import again" in caught.value.hint


class Circling:
    """A database whose pages lead back to earlier ones, so that rows never end."""

    def columns(self, table):
        return frozenset({"id"})

    def rows(self, statement, parameters=()):
        if "min(" in statement or "max(" in statement:
            yield (2,)
            return
        while True:
            yield from ((1, "a"), (2, "b"), (3, "c"))


def test_rows_that_never_end_are_told_and_left():
    told = Told()
    found = [row[0] for row in table_rows(Circling(), told, "memories", ("id",))]
    assert found == ["a", "b", "c"]
    assert [words for words in told.bad if "a part of it is damaged" in words]
    related = Related(Circling(), told)
    assert related.by_id("memory_tags", "id", ["m1"], ("tag",), "memory_tags") == {}
    assert told.bad[-1] == "memory_tags: it is damaged, and a part of it is missing"
    assert related.by_id("memory_tags", "id", ["m1"], ("tag",), "memory_tags") == {}
    assert told.bad_count == 2
