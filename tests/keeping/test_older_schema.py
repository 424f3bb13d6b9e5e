"""A backup of an older schema is brought up to date before it takes its place."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from keeping_kit import LATER, NOTES, dump

from cloxy_core.app import open_host
from cloxy_core.core_settings import load_settings
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.services.keeping import restoring
from cloxy_hookspecs import MigrationError
from cloxy_hookspecs.providers.platform import Migration


def restore(keeper, monkeypatch, apply):
    """Restore with one more step of the schema than the backup has."""

    def migrations(host):
        step = Migration(owner="later", number=1, summary="a table of later days", apply=apply)
        return [*known(host), step]

    known = restoring.migrations_of
    monkeypatch.setattr(restoring, "migrations_of", migrations)
    host = open_host(load_settings(keeper.environment))
    paths = DataDirectory.open(keeper.data)

    async def run():
        return restoring.restore(host, paths, keeper.kept, SystemClock(), lambda _text: None)

    return asyncio.run(run())


def test_it_is_migrated(forgetful, monkeypatch):
    done = restore(
        forgetful, monkeypatch, lambda c: c.exec_driver_sql("CREATE TABLE later (a INTEGER)")
    )
    assert done.forgotten >= 13
    with closing(sqlite3.connect(forgetful.database)) as connection:
        assert connection.execute("SELECT count(*) FROM later").fetchone() == (0,)
        owners = [row[0] for row in connection.execute("SELECT owner FROM schema_migrations")]
    assert "later" in owners
    assert LATER not in forgetful.contents()
    assert not any(NOTES[0] in content for content in forgetful.contents())


def test_a_step_that_fails_changes_nothing(forgetful, monkeypatch):
    before = dump(forgetful.database)
    with pytest.raises(MigrationError, match="failed"):
        restore(forgetful, monkeypatch, lambda c: c.exec_driver_sql("SELECT nothing FROM none"))
    assert dump(forgetful.database) == before
    assert LATER in forgetful.contents()
    assert not list(forgetful.data.glob("doctor-*"))
