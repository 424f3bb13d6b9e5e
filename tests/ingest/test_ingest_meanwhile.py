"""What a person decides while a pass goes on holds at once, for all that the pass still reads."""

import asyncio

import pytest
from ingest_support import append
from session_lines import lines, now, said, turns

from cloxy_core.services.ingest.service import IngestService

SECRET = "/srv/demo/secret"
PATIENCE = 120
MANY = 2000


def between_writes(monkeypatch, server, decide, *, force=False):
    """Run a pass, and await `decide` after its first write, while it is still going on."""
    write, decided = IngestService._write, []

    async def then(self, *arguments):
        await write(self, *arguments)
        if not decided:
            decided.append(None)
            task = asyncio.ensure_future(decide())
            decided[0] = await asyncio.wait_for(task, PATIENCE)

    monkeypatch.setattr(IngestService, "_write", then)
    server.ingest(force=force)
    monkeypatch.undo()
    return decided[0]


def stored(server, session):
    return server.value(
        "SELECT count(*) FROM passages JOIN sessions ON sessions.id = session_id WHERE key = ?",
        session,
    )


def test_a_project_is_ignored_at_once(server, monkeypatch):
    talk = [record | {"cwd": SECRET} for record in turns(MANY, session="s1")]
    server.write(lines(*talk), "s1.jsonl")
    rules = server.engine.rules
    before = []

    async def decide():
        await rules.ignore(SECRET)
        before.append(await server.engine.memories.total())

    between_writes(monkeypatch, server, decide)
    assert before[0] > 0
    assert server.do(server.engine.memories.total()) == before[0]
    assert 0 < stored(server, "s1") < MANY
    server.ingest(force=True)
    assert server.do(server.engine.memories.total()) == before[0]
    # And without the rule what was passed over is read.
    server.do(rules.stop_ignoring(SECRET))
    server.ingest()
    assert stored(server, "s1") == MANY
    server.check()


@pytest.mark.parametrize("whole", ["session", "source", "project"])
def test_what_was_not_read_yet_of_a_session_is_forgotten_too(server, monkeypatch, whole):
    talk = turns(MANY, session="s1")
    path = server.write(lines(*talk), "s1.jsonl")
    memories = server.engine.memories

    async def decide():
        if whole == "session":
            return await memories.forget_session("s1")
        if whole == "source":
            return await memories.forget_source("convo:s1")
        return await memories.forget_project(talk[0]["cwd"])

    done = between_writes(monkeypatch, server, decide)
    assert 0 < done.messages < MANY
    assert server.rows("SELECT content FROM memories") == []
    server.ingest(force=True)
    server.restart()
    server.ingest(force=True)
    assert server.rows("SELECT content FROM memories") == []
    append(path, lines(said("said later on", "later", at=now(1))))
    server.ingest()
    assert [text for _uid, text in server.messages("s1")] == ["said later on"]
    server.check()


def test_one_memory_takes_nothing_along_that_was_not_read_yet(server, monkeypatch):
    server.write(lines(*turns(MANY, session="s1")), "s1.jsonl")
    memories = server.engine.memories

    async def decide():
        gone = 0
        for (identifier,) in await server.engine.store.read(
            lambda c: c.exec_driver_sql("SELECT id FROM memories").all()
        ):
            gone += (await memories.forget(identifier)).messages
        return gone

    gone = between_writes(monkeypatch, server, decide)
    assert 0 < gone < MANY
    assert stored(server, "s1") == MANY - gone
    server.check()
