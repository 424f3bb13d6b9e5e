"""The deeper checks find what is wrong, and call nothing well that they did not look at."""

import asyncio

import pytest
from sqlalchemy import insert, text
from store_kit import add_memories, memory_row, passage_row, query, with_store

from cloxy_core.store.checks import CORE_CHECKS, ContentCheck, FileCheck
from cloxy_hookspecs.errors import StoreBusyError
from cloxy_hookspecs.tables import passages


def run_both(tmp_path, **more):
    async def work(store):
        content = ContentCheck(store, after=0, **more)
        return [*await FileCheck(store).run(), *await content.run()]

    return with_store(tmp_path / "d", work)


def fill(tmp_path, *contents):
    async def work(store):
        rows = [memory_row(n, content) for n, content in enumerate(contents)]
        await store.write(add_memories(*rows))
        spans = [passage_row(n + 1, 0, len(content)) for n, content in enumerate(contents)]
        await store.write(lambda c: c.execute(insert(passages), spans))

    with_store(tmp_path / "d", work)
    return tmp_path / "d" / "memory.db"


def errors(findings):
    return [finding.message for finding in findings if finding.severity == "error"]


def test_a_sound_database(tmp_path):
    fill(tmp_path, "plain", "ünï 🐙", "with\0nul and more", "")
    findings = run_both(tmp_path)
    assert {finding.severity for finding in findings} == {"ok"}
    assert findings[-1].message == "the texts of 4 of 4 memories are what was stored"


def test_an_empty_database(tmp_path):
    assert run_both(tmp_path)[-1].message == "the texts of 0 of 0 memories are what was stored"


def test_changed_texts_are_named(tmp_path):
    path = fill(tmp_path, *(f"text {n}" for n in range(450)))
    query(
        path, "UPDATE memories SET content = replace(content, 'text', 'tixt') WHERE id IN (3, 401)"
    )
    query(path, "UPDATE memories SET content = CAST(x'ff41' AS TEXT) WHERE id = 7")
    query(path, "UPDATE memories SET content = '', state = 'deleted' WHERE id = 9")
    (found,) = errors(run_both(tmp_path))
    assert found.startswith("the text of memories 3, 7, 401 is not what was stored")


def test_passages_outside_of_their_text_are_named(tmp_path):
    path = fill(tmp_path, "12345", "12345", "12345")
    query(path, "UPDATE passages SET char_end = 6 WHERE id = 1")
    query(path, "UPDATE passages SET char_start = 4, char_end = 3 WHERE id = 2")
    (found,) = errors(run_both(tmp_path))
    assert found.startswith("passages 1, 2 lie outside")


def test_orphans_and_broken_references_are_named(tmp_path):
    path = fill(tmp_path, "a", "b")
    query(path, "DELETE FROM memories WHERE id = 2")
    found = errors(run_both(tmp_path))
    assert any(message.startswith("row 2 of passages refers to") for message in found)
    assert any(message.startswith("passages without their memory: 2") for message in found)


def test_damaged_pages_are_found(tmp_path):
    path = fill(tmp_path, *(f"text {n} " * 300 for n in range(60)))
    data = bytearray(path.read_bytes())
    # Not those before, among which are the pages of the schema: without it nothing opens.
    for page in range(56, len(data) // 4096):
        data[page * 4096 : page * 4096 + 4096] = b"\0" * 4096
    path.write_bytes(data)
    findings = run_both(tmp_path)
    assert errors(findings)
    assert all("cloxy doctor" in message for message in errors(findings))


def test_runs_go_on_where_the_last_one_stopped_and_come_round(tmp_path):
    path = fill(tmp_path, *(f"text {n}" for n in range(10)))
    query(path, "UPDATE memories SET content = 'tixt 1' WHERE id = 2")

    async def work(store):
        check = ContentCheck(store, rows=4, after=5)
        return [await check.run() for _ in range(5)]

    runs = with_store(tmp_path / "d", work)
    assert [len(errors(run)) for run in runs] == [0, 1, 0, 0, 1]
    assert runs[0][0].message == "the texts of 4 of 10 memories are what was stored"


def test_a_whole_round_from_anywhere_sees_every_row_once(tmp_path):
    fill(tmp_path, *(f"text {n}" for n in range(10)))

    async def work(store):
        return [(await ContentCheck(store, after=n).run())[0].message for n in range(11)]

    messages = with_store(tmp_path / "d", work)
    assert set(messages) == {"the texts of 10 of 10 memories are what was stored"}


def test_the_first_run_begins_anywhere(tmp_path):
    fill(tmp_path, *(f"text {n}" for n in range(10)))

    async def work(store):
        return await ContentCheck(store).run()

    assert with_store(tmp_path / "d", work)[0].severity == "ok"


def test_what_could_not_be_looked_at_is_not_called_well():
    class Busy:
        async def read(self, work):
            raise StoreBusyError("too much is waiting")

    findings = asyncio.run(FileCheck(Busy()).run()) + list(asyncio.run(ContentCheck(Busy()).run()))
    assert [finding.severity for finding in findings] == ["warning"] * 4
    assert all("did not finish" in finding.message for finding in findings)


@pytest.mark.parametrize("provider", CORE_CHECKS, ids=lambda provider: provider.name)
def test_the_records(tmp_path, provider):
    async def work(store):
        context = type("Context", (), {"store": store})
        return await provider.create(context).run()

    assert {finding.severity for finding in with_store(tmp_path / "d", work)} == {"ok"}


def test_a_check_reads_only(tmp_path):
    path = fill(tmp_path, "a")
    before = query(path, "SELECT * FROM memories")

    async def work(store):
        changes = text("SELECT total_changes()")
        await FileCheck(store).run()
        return await store.read(lambda c: c.execute(changes).scalar())

    assert with_store(tmp_path / "d", work) == 0
    assert query(path, "SELECT * FROM memories") == before
