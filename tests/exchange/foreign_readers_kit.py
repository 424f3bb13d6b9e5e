"""What a reader of another memory system makes of a database or a folder."""

import json
import sqlite3
from contextlib import closing

from cloxy_core.services.exchange.foreign_moving import MemoryReader


def build(path, schema, **rows):
    """A database of these statements, with rows for its tables as objects.

    Returns:
        Its path.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode=WAL")
        for statement in schema:
            connection.execute(statement)
        for table, objects in rows.items():
            insert(connection, table, objects)
    return path


def insert(connection, table, objects):
    """Rows of a table; an object names only what it has."""
    for each in objects:
        names, places = ", ".join(each), ", ".join("?" * len(each))
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", list(each.values()))


class Read:
    """The lines that a reader makes, by kind, and what it tells."""

    def __init__(self, place, temporary):
        temporary.mkdir(exist_ok=True)
        sort = "folder" if place.is_dir() else "database"
        reader = MemoryReader({"sort": sort, "path": str(place), "temporary": str(temporary)})
        self.lines = [json.loads(line) for line in reader.lines(None)]
        self.report = reader.report
        self.homeless = reader.report.homeless

    def of(self, kind):
        return [line for line in self.lines if line["kind"] == kind]

    @property
    def notes(self):
        return self.of("note")

    @property
    def messages(self):
        return self.of("message")

    def note(self, words):
        """The one note that holds these words."""
        (found,) = [note for note in self.notes if words in note["text"]]
        return found


def damage(path, words):
    """Overwrite the page of a database on which these words stand, checkpointed before."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    data = bytearray(path.read_bytes())
    start = data.index(words.encode()) // size * size
    assert start > 0
    data[start : start + size] = b"\xff" * size
    path.write_bytes(bytes(data))
