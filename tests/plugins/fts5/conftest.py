"""A keyword index on a real SQLite file, and texts in it."""

import pytest
from sqlalchemy import create_engine

from cloxy_core.store.library import driver
from cloxy_hookspecs import Filters, IndexChange, IndexRow, Probe
from cloxy_plugins.fts5.index import KeywordIndex
from cloxy_plugins.fts5.migrations import create_tables


class NoConditions:
    """The part of the store that the index asks: no filter at all."""

    def filter_clause(self, connection, filters):
        return []


class Shelf:
    """Puts texts into an index and asks for them; passage ids count from 1."""

    def __init__(self, engine):
        self.engine = engine
        self.index = KeywordIndex(NoConditions(), seconds=5.0)
        self.texts = {}

    def put(self, *texts, header="", before="", after=""):
        first = len(self.texts) + 1
        rows = [
            IndexRow(number, header, text, before, after)
            for number, text in enumerate(texts, start=first)
        ]
        self.texts |= {row.passage_id: row.text for row in rows}
        self.apply(*(IndexChange(row.passage_id, row) for row in rows))

    def apply(self, *changes):
        with self.engine.begin() as connection:
            self.index.apply_in(connection, changes)

    def ask(self, text, *literals, limit=10):
        with self.engine.begin() as connection:
            return self.index.search(connection, Probe(text, tuple(literals), Filters()), limit)

    def found(self, text, *literals):
        return [self.texts[hit.passage_id] for hit in self.ask(text, *literals).hits]

    def sql(self, statement, *values):
        with self.engine.begin() as connection:
            result = connection.exec_driver_sql(statement, values)
            return result.fetchall() if result.returns_rows else None


@pytest.fixture
def shelf(tmp_path):
    engine = create_engine(f"sqlite:///{tmp_path / 'index.db'}", module=driver)
    with engine.begin() as connection:
        create_tables(connection)
    yield Shelf(engine)
    engine.dispose()
