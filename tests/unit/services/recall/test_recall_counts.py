"""How long a count of memories is good."""

import pytest
from sqlalchemy import create_engine, text

from cloxy_core.services.recall.counting import DEAR, KEPT_FOR, Counts
from cloxy_core.store.core_migrations import CORE_MIGRATIONS
from cloxy_core.store.library import driver
from cloxy_hookspecs import Filters


class SlowCounting:
    """Stands for the store; making conditions takes time by its own clock."""

    def __init__(self, seconds):
        self.now = 100.0
        self._seconds = seconds

    def monotonic(self):
        return self.now

    def filter_clause(self, connection, filters):
        self.now += self._seconds
        return [text("passages.ordinal < 9")] if filters.project else []


@pytest.fixture
def writer(tmp_path):
    writer = create_engine(f"sqlite:///{tmp_path / 'memory.db'}", module=driver)
    with writer.begin() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        for migration in CORE_MIGRATIONS:
            migration.apply(connection)
    yield writer
    writer.dispose()


@pytest.fixture
def engine(writer):
    engine = create_engine(writer.url, module=driver)
    yield engine
    engine.dispose()


def add_memory(writer, number):
    memory = (
        "INSERT INTO memories VALUES(?, ?, 'o', 'k', 't', 'active', 1, 'c', 'h', 's', NULL, NULL,"
        " NULL, 0, 0, NULL, NULL, 0, 0, 1, '{}')"
    )
    passage = "INSERT INTO passages VALUES(NULL, ?, NULL, 0, 0, 'user', 'human', 0, 1, ?, NULL, '')"
    with writer.begin() as connection:
        connection.exec_driver_sql(memory, (number, f"m{number}"))
        connection.exec_driver_sql(passage, (number, f"u{number}"))


def ask(engine, counts, store, filters=Filters()):  # noqa: B008 - frozen
    with engine.connect() as connection:
        return counts.within(connection, store, filters)


def test_a_cheap_count_is_made_again_after_every_write(engine, writer):
    store = SlowCounting(DEAR / 2)
    counts = Counts(store.monotonic)
    add_memory(writer, 1)
    assert ask(engine, counts, store) == 1
    add_memory(writer, 2)
    assert ask(engine, counts, store) == 2


def test_a_dear_count_is_good_for_a_while_on_every_connection(engine, writer):
    store = SlowCounting(1.0)
    counts = Counts(store.monotonic)
    add_memory(writer, 1)
    assert ask(engine, counts, store) == 1
    add_memory(writer, 2)
    store.now += KEPT_FOR - 1
    assert ask(engine, counts, store) == 1
    with engine.connect(), engine.connect() as other:
        assert counts.within(other, store, Filters()) == 1
    store.now += 2
    assert ask(engine, counts, store) == 2


def test_a_dear_count_is_that_of_its_filters(engine, writer):
    store = SlowCounting(1.0)
    counts = Counts(store.monotonic)
    add_memory(writer, 1)
    assert ask(engine, counts, store) == 1
    add_memory(writer, 2)
    assert ask(engine, counts, store, Filters(project="shop")) == 2
