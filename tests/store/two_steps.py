"""The core's first step, then one that changes every row, one of a plugin, and one that fails."""

from sqlalchemy import text

from cloxy_core.store.core_migrations import CORE_MIGRATIONS
from cloxy_hookspecs.providers.platform import Migration


def widen(connection):
    connection.exec_driver_sql("ALTER TABLE projects ADD COLUMN nick VARCHAR")
    connection.exec_driver_sql("UPDATE projects SET nick = 'n' || id")
    connection.exec_driver_sql("CREATE INDEX ix_nick ON projects (nick)")


def log(connection):
    connection.exec_driver_sql("CREATE TABLE greeter_log (id INTEGER PRIMARY KEY, note TEXT)")
    connection.exec_driver_sql("INSERT INTO greeter_log (note) VALUES ('hello')")


STEPS = (
    CORE_MIGRATIONS[0],
    Migration(owner="core", number=2, summary="nicknames", apply=widen),
    Migration(owner="greeter", number=1, summary="the log", apply=log),
)


async def add_project(store):
    """One row for the steps to change."""
    insert = text("INSERT INTO projects (key, path) VALUES ('/a', '/a')")
    await store.write(lambda connection: connection.execute(insert))
