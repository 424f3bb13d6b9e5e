"""What the tests of the store share: opening it, rows for it, children that are killed."""

import asyncio
import hashlib
import os
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import insert

from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_core.store.core_migrations import CORE_MIGRATIONS
from cloxy_core.store.engine import Store
from cloxy_core.store.library import driver
from cloxy_hookspecs import tables

HERE = Path(__file__).parent


def memory_row(number, content="some text", **more):
    """A row for `memories` that has everything it must have."""
    row = {
        "uid": f"uid-{number}",
        "origin": "note",
        "kind": "episodic",
        "tier": "working",
        "state": "active",
        "immutable": False,
        "content": content,
        "content_hash": hashlib.sha256(content.encode()).hexdigest(),
        "source": "manual",
        "ordinal": number,
        "open": False,
        "created_at": 1,
        "updated_at": 1,
        "version": 1,
        "extra": {},
    }
    return row | more


def passage_row(memory_id, start=0, end=9, **more):
    """A row for `passages` that has everything it must have."""
    row = {
        "memory_id": memory_id,
        "ordinal": 0,
        "part": 0,
        "role": "user",
        "author": "human",
        "char_start": start,
        "char_end": end,
        "text_hash": "0" * 64,
    }
    return row | more


def add_memories(*rows):
    """Work for `store.write`."""
    return lambda connection: connection.execute(insert(tables.memories), list(rows)).rowcount


def open_store(folder, migrations=CORE_MIGRATIONS, **more):
    """A store and its workers."""
    workers = Workers()
    paths = DataDirectory.open(Path(folder))
    try:
        return Store.open(paths, SystemClock(), workers, migrations, **more), workers
    except BaseException:
        workers.close_blocking()
        raise


@asynccontextmanager
async def opened(folder, migrations=CORE_MIGRATIONS, **more):
    """A store for the length of a block."""
    store, workers = open_store(folder, migrations, **more)
    try:
        yield store
    finally:
        await store.close()
        assert await workers.close()


def with_store(folder, work, migrations=CORE_MIGRATIONS, **more):
    """Run an async function of a store and return its value."""

    async def run():
        async with opened(folder, migrations, **more) as store:
            return await work(store)

    return asyncio.run(run())


def query(path, statement, *parameters):
    """Rows of a database that no store has open."""
    connection = driver.connect(str(path), isolation_level=None)
    try:
        return connection.execute(statement, parameters).fetchall()
    finally:
        connection.close()


def sound(path):
    """Whether SQLite finds nothing wrong with a database."""
    return query(path, "PRAGMA integrity_check") == [("ok",)] and not query(
        path, "PRAGMA foreign_key_check"
    )


def hashes(folder):
    """Name, size and hash of every file of a folder."""
    return {
        path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def child(script, *arguments, **more):
    """A Python process that runs one of the scripts beside this file."""
    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, str(HERE / script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        **more,
    )


def wait_until(condition, seconds=120):
    """Wait for something that another thread or process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
