"""A small index of words in one file, fed after commit, as it should be."""

import json
import re
from math import sqrt

from sqlalchemy import select

from cloxy_hookspecs import AfterIndexProvider, Found, Hit
from cloxy_hookspecs.tables import memories, passages


class ToyIndex:
    """Cosine of sets of words."""

    def __init__(self, context):
        self.store = context.store
        self.path = context.paths.plugin("toy") / "index.json"
        self.sequence, self.rows = 0, {}
        if self.path.exists():
            saved = json.loads(self.path.read_text())
            self.sequence = saved["sequence"]
            self.rows = {int(number): set(words) for number, words in saved["rows"].items()}

    def search(self, connection, probe, limit):
        asked = words(probe.text)
        allowed = self.allowed(connection, probe.filters)
        hits = [
            Hit(number, len(asked & row) / sqrt(len(asked) * len(row)))
            for number, row in self.rows.items()
            if number in allowed and asked & row
        ]
        return Found(sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))[:limit])

    def allowed(self, connection, filters):
        conditions = self.store.filter_clause(connection, filters)
        statement = select(passages.c.id).join(memories, memories.c.id == passages.c.memory_id)
        return set(connection.execute(statement.where(*conditions)).scalars())

    def count(self, connection):
        return len(self.rows)

    def apply(self, changes, sequence):
        for change in changes:
            self.rows.pop(change.passage_id, None)
            if change.row is not None:
                self.rows[change.passage_id] = words(f"{change.row.header} {change.row.text}")
        self.sequence = max(self.sequence, sequence)
        self.save()

    def checkpoint(self):
        return self.sequence

    def rebuild(self, rows, sequence):
        self.rows = {row.passage_id: words(f"{row.header} {row.text}") for row in rows}
        self.sequence = max(self.sequence, sequence)
        self.save()

    def save(self):
        rows = {str(number): sorted(row) for number, row in self.rows.items()}
        self.path.write_text(json.dumps({"sequence": self.sequence, "rows": rows}))


def words(text):
    return set(re.findall(r"\w+", text.encode("utf-8", "replace").decode().lower()))


def record(create=ToyIndex, **more):
    """The index's record, or one of a variation."""
    fields = {"name": "toy", "summary": "Sets of words", "channel": "toy", "weight": 0.1}
    return AfterIndexProvider(**(fields | {"create": create} | more))
