"""The store through its port: transactions, snapshots, settings, errors in words."""

import asyncio
import os
import stat
import threading

import pytest
import sqlalchemy.exc
from sqlalchemy import insert, select, text
from store_kit import (
    add_memories,
    memory_row,
    open_store,
    opened,
    query,
    sound,
    with_store,
)

from cloxy_core.store import connections
from cloxy_core.store.connections import driver_connection
from cloxy_core.store.core_migrations import CORE_MIGRATIONS
from cloxy_core.store.facts import StoreLimits
from cloxy_core.store.failures import QueryTimeLimit
from cloxy_core.store.library import driver
from cloxy_core.store.reads import limited
from cloxy_hookspecs.errors import (
    DataDirectoryInUseError,
    IntegrityError,
    StoreBusyError,
    StoreError,
)
from cloxy_hookspecs.tables import memories, passages, projects

ENDLESS = text(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"
)


def count(connection):
    return connection.execute(text("SELECT count(*) FROM memories")).scalar()


def test_what_is_written_is_read_and_is_there_after_a_restart(tmp_path):
    async def write(store):
        assert await store.write(add_memories(memory_row(1, "zuerst 🐙"))) == 1
        return await store.read(lambda c: c.execute(select(memories.c.content)).scalars().all())

    assert with_store(tmp_path / "d", write) == ["zuerst 🐙"]
    assert with_store(tmp_path / "d", lambda store: store.read(count)) == 1


def test_a_failed_write_changes_nothing_and_raises_what_the_work_raised(tmp_path):
    class Own(Exception):
        pass

    def fail(connection):
        add_memories(memory_row(1))(connection)
        raise Own

    async def work(store):
        with pytest.raises(Own):
            await store.write(fail)
        with pytest.raises(sqlalchemy.exc.IntegrityError):
            await store.write(add_memories(memory_row(1), memory_row(1)))
        with pytest.raises(sqlalchemy.exc.IntegrityError):
            await store.write(add_memories(memory_row(1, project_id=99)))
        assert await store.read(count) == 0
        await store.write(add_memories(memory_row(1)))
        return await store.read(count)

    assert with_store(tmp_path / "d", work) == 1


def test_a_read_is_one_snapshot_and_cannot_write(tmp_path):
    began, go_on = threading.Event(), threading.Event()

    def slow(connection):
        before = count(connection)
        began.set()
        assert go_on.wait(60)
        return before, count(connection)

    async def work(store):
        reading = asyncio.ensure_future(store.read(slow))
        await asyncio.to_thread(began.wait, 60)
        await store.write(add_memories(memory_row(1)))
        assert store.facts().oldest_read.name.endswith("slow")
        go_on.set()
        assert await reading == (0, 0)
        assert store.facts().oldest_read is None
        with pytest.raises(StoreError, match="read-only"):
            await store.read(add_memories(memory_row(2)))
        return await store.read(count)

    assert with_store(tmp_path / "d", work) == 1


def test_every_connection_has_the_settings(tmp_path):
    def settings(connection):
        names = [
            *("journal_mode", "synchronous", "busy_timeout", "foreign_keys", "secure_delete"),
            *("trusted_schema", "cell_size_check", "journal_size_limit", "wal_autocheckpoint"),
            *("mmap_size", "query_only", "application_id", "user_version"),
        ]
        return {n: connection.exec_driver_sql(f"PRAGMA {n}").scalar() for n in names}

    async def work(store):
        return (
            await store.write(settings),
            await store.write(settings, durable=True),
            await store.write(settings),
            await store.read(settings),
        )

    writer, durable, after, reader = with_store(tmp_path / "d", work)
    both = {
        "journal_mode": "wal",
        "busy_timeout": 5000,
        "foreign_keys": 1,
        "trusted_schema": 0,
        "cell_size_check": 1,
        "application_id": connections.APPLICATION_ID,
        "user_version": len(CORE_MIGRATIONS),
    }
    assert both.items() <= writer.items()
    assert both.items() <= reader.items()
    assert writer["mmap_size"] in {0, None}
    assert writer["secure_delete"] == 1
    assert writer["journal_size_limit"] == 16 * 2**20
    assert writer["wal_autocheckpoint"] == 1000
    assert writer["query_only"] == 0
    assert reader["query_only"] == 1
    assert [seen["synchronous"] for seen in (writer, durable, after)] == [1, 2, 1]


def test_durable_writes_go_before_the_others(tmp_path):
    began, go_on, order = threading.Event(), threading.Event(), []

    def block(connection):
        began.set()
        assert go_on.wait(60)

    async def work(store):
        first = asyncio.ensure_future(store.write(block))
        await asyncio.to_thread(began.wait, 60)
        rest = [
            asyncio.ensure_future(store.write(lambda c: order.append("ingest"))),
            asyncio.ensure_future(store.write(lambda c: order.append("forget"), durable=True)),
        ]
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(first, *rest)

    with_store(tmp_path / "d", work)
    assert order == ["forget", "ingest"]


def test_a_second_store_on_one_folder_is_refused_until_the_first_closes(tmp_path):
    async def work(store):
        with pytest.raises(DataDirectoryInUseError, match=f"process {os.getpid()}"):
            open_store(tmp_path / "d")
        await store.write(add_memories(memory_row(1)))

    with_store(tmp_path / "d", work)
    assert with_store(tmp_path / "d", lambda store: store.read(count)) == 1


def test_a_failed_opening_leaves_the_folder_free(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "memory.db").write_bytes(b"no database at all" * 100)
    for _ in range(2):
        with pytest.raises(IntegrityError, match="not an SQLite database"):
            open_store(tmp_path / "d")
    (tmp_path / "d" / "memory.db").unlink()
    assert with_store(tmp_path / "d", lambda store: store.read(count)) == 0


def test_no_database_where_there_must_be_one(tmp_path):
    with pytest.raises(StoreError, match="there is no database"):
        open_store(tmp_path / "d", fresh_ok=False)
    assert not (tmp_path / "d" / "memory.db").exists()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_files_are_private_under_an_open_umask(tmp_path):
    before = os.umask(0)
    try:

        async def work(store):
            await store.write(add_memories(memory_row(1)))
            await store.back_up()
            return [path for path in (tmp_path / "d").rglob("*") if path.is_file()]

        async def modes(store):
            return {path.name: stat.S_IMODE(path.stat().st_mode) for path in await work(store)}

        found = with_store(tmp_path / "d", modes)
    finally:
        os.umask(before)
    assert {"memory.db", "memory.db-wal", "memory.db-shm", "server.lock"} <= found.keys()
    assert any(name.startswith("memory-") for name in found)
    assert set(found.values()) == {0o600}


def test_closing_empties_the_log_and_refuses_further_work(tmp_path):
    async def work(store):
        await store.write(add_memories(*(memory_row(n) for n in range(50))))
        await store.close()
        await store.close()
        for call in (store.read(count), store.write(count), store.checkpoint()):
            with pytest.raises(StoreBusyError, match="closed"):
                await call

    with_store(tmp_path / "d", work)
    assert sorted(path.name for path in (tmp_path / "d").iterdir()) == [
        "memory.db",
        "reserve.bin",
        "server.lock",
    ]


def test_waiting_writes_are_done_before_closing(tmp_path):
    async def work(store):
        writes = [
            asyncio.ensure_future(store.write(add_memories(memory_row(n)))) for n in range(100)
        ]
        await asyncio.sleep(0)
        await store.close()
        return await asyncio.gather(*writes)

    assert with_store(tmp_path / "d", work) == [1] * 100
    assert query(tmp_path / "d" / "memory.db", "SELECT count(*) FROM memories") == [(100,)]


def test_closing_after_the_workers_have_ended_still_closes(tmp_path):
    async def run():
        store, workers = open_store(tmp_path / "d")
        await workers.close()
        await store.close()

    asyncio.run(run())
    assert not (tmp_path / "d" / "memory.db-wal").exists()


def test_closing_ends_reads_that_still_go_on(tmp_path):
    async def work(store):
        reading = asyncio.ensure_future(store.read(lambda c: c.execute(ENDLESS)))
        while store.facts().oldest_read is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        await store.close()
        with pytest.raises(QueryTimeLimit):
            await reading

    with_store(tmp_path / "d", work)


def test_an_endless_query_is_stopped_and_the_connection_serves_on(tmp_path):
    def bounded(connection):
        with limited(connection, 0.05):
            return connection.execute(ENDLESS).scalar()

    def recovering(connection):
        with limited(connection, 30):
            with pytest.raises(QueryTimeLimit), limited(connection, 0.05):
                connection.execute(ENDLESS)
            return connection.execute(text("SELECT 7")).scalar()

    async def work(store):
        with pytest.raises(QueryTimeLimit, match=r"longer than 0\.05 s"):
            await store.read(bounded)
        results = [await store.read(recovering) for _ in range(8)]
        return results, await store.read(count)

    assert with_store(tmp_path / "d", work) == ([7] * 8, 0)


def test_an_inner_limit_cannot_outlast_an_outer_one(tmp_path):
    def nested(connection):
        with limited(connection, 0.05), limited(connection, 60):
            connection.execute(ENDLESS)

    async def work(store):
        with pytest.raises(QueryTimeLimit):
            await store.read(nested)

    with_store(tmp_path / "d", work)


def test_a_handler_left_on_the_driver_does_not_reach_the_next_read(tmp_path):
    def careless(connection):
        driver_connection(connection).set_progress_handler(lambda: 1, 1)

    def heavy(connection):
        return connection.execute(
            text(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) "
                "SELECT count(*) FROM n"
            )
        ).scalar()

    async def work(store):
        for _ in range(8):
            await store.read(careless)
        return [await store.read(heavy) for _ in range(8)]

    assert with_store(tmp_path / "d", work) == [5000] * 8


def test_a_lock_of_another_program_gives_a_retryable_error(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0.05)

    async def work(store):
        other = driver.connect(str(tmp_path / "d" / "memory.db"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            with pytest.raises(StoreBusyError, match="another program keeps") as caught:
                await store.write(count)
        finally:
            other.close()
        assert caught.value.retryable
        return await store.write(count)

    assert with_store(tmp_path / "d", work) == 0


def test_reads_go_on_during_a_write_and_see_it_only_afterwards(tmp_path):
    began, go_on = threading.Event(), threading.Event()

    def slow(connection):
        add_memories(memory_row(1))(connection)
        began.set()
        assert go_on.wait(60)

    async def work(store):
        writing = asyncio.ensure_future(store.write(slow))
        await asyncio.to_thread(began.wait, 60)
        during = await store.read(count)
        go_on.set()
        await writing
        return during, await store.read(count)

    assert with_store(tmp_path / "d", work) == (0, 1)


def test_a_reader_that_never_ends_is_named_and_at_last_ended(tmp_path):
    began, go_on = threading.Event(), threading.Event()

    def sits(connection):
        count(connection)
        began.set()
        assert go_on.wait(60)
        return count(connection)

    async def work(store):
        reading = asyncio.ensure_future(store.read(sits))
        await asyncio.to_thread(began.wait, 60)
        number, refused = 0, None
        while refused is None and number < 2000:
            rows = [memory_row(number + n, "x" * 3000) for n in range(20)]
            number += 20
            try:
                await store.write(add_memories(*rows))
            except StoreBusyError as error:
                refused = error
        grown = store.facts().log_size
        assert refused is None, "the read is old enough to be ended"
        go_on.set()
        with pytest.raises(QueryTimeLimit, match="sits was ended"):
            await reading
        return number, grown, await store.read(count)

    limits = StoreLimits(log_bytes=2 * 2**20, read_seconds=0)
    number, grown, stored = with_store(tmp_path / "d", work, limits=limits)
    assert stored == number == 2000
    assert grown < 6 * 2**20
    assert sound(tmp_path / "d" / "memory.db")


def test_a_running_statement_is_interrupted_when_the_log_must_shrink(tmp_path):
    def endless(connection):
        count(connection)
        connection.execute(ENDLESS)

    async def work(store):
        reading = asyncio.ensure_future(store.read(endless))
        while store.facts().oldest_read is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        for number in range(40):
            await store.write(add_memories(memory_row(number, "x" * 60_000)))
        done = await store.checkpoint()
        with pytest.raises(QueryTimeLimit):
            await reading
        return done

    done = with_store(tmp_path / "d", work, limits=StoreLimits(log_bytes=2 * 2**20, read_seconds=0))
    assert done.emptied


def test_a_reader_in_another_program_makes_ingest_wait_but_not_remember(tmp_path):
    async def work(store):
        await store.write(add_memories(memory_row(0)))
        other = driver.connect(str(tmp_path / "d" / "memory.db"), isolation_level=None)
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM memories").fetchall()
        refusal = None
        for number in range(1, 200):
            try:
                await store.write(add_memories(memory_row(number, "x" * 30_000)))
            except StoreBusyError as error:
                refusal = error
                break
        assert "another program" in str(refusal)
        assert "another program" in " ".join(store.facts().warnings)
        await store.write(add_memories(memory_row("durable")), durable=True)
        assert not (await store.checkpoint()).emptied
        other.close()
        assert (await store.checkpoint()).emptied
        assert store.facts().log_size == 0
        return await store.write(add_memories(memory_row("later")))

    assert with_store(tmp_path / "d", work, limits=StoreLimits(log_bytes=2**20)) == 1


def test_facts(tmp_path):
    async def work(store):
        await store.write(add_memories(memory_row(1)))
        return store.facts()

    facts = with_store(tmp_path / "d", work)
    assert facts.path == tmp_path / "d" / "memory.db"
    assert facts.size > 0
    assert facts.log_size > 0
    assert facts.library.version_text == driver.sqlite_version
    assert facts.safe_mode is not facts.library.safe
    assert facts.free > 0
    assert facts.waiting_writes == 0


def test_bulk_insert_takes_lists_of_mappings(tmp_path):
    async def work(store):
        async with asyncio.timeout(60):
            await store.write(add_memories(memory_row(1, "x" * 1000)))
            rows = [
                {
                    "memory_id": 1,
                    "ordinal": n,
                    "part": 0,
                    "role": "user",
                    "author": "human",
                    "char_start": n,
                    "char_end": n + 1,
                    "text_hash": "0",
                }
                for n in range(500)
            ]
            await store.write(lambda c: c.execute(insert(passages), rows))
            return await store.read(
                lambda c: c.execute(text("SELECT count(*) FROM passages")).scalar()
            )

    assert with_store(tmp_path / "d", work) == 500


def test_ids_are_never_reused(tmp_path):
    def add(connection):
        return connection.execute(
            insert(projects), {"key": "/a", "path": "/a"}
        ).inserted_primary_key[0]

    async def work(store):
        first = await store.write(add)
        await store.write(lambda c: c.execute(text("DELETE FROM projects")))
        return first, await store.write(add)

    first, second = with_store(tmp_path / "d", work)
    assert second > first


def test_opened_is_usable_as_a_context(tmp_path):
    async def run():
        async with opened(tmp_path / "d") as store:
            return await store.read(count)

    assert asyncio.run(run()) == 0
