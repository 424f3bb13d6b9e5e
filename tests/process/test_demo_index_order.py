"""The demonstration asks only when the index has been told of every vector."""

import asyncio

from cloxy_core.demo.running import demonstrate
from cloxy_core.services.embedding.service import EmbeddingService
from cloxy_core.services.vector_feed import VectorFeed


def test_vectors_made_while_the_index_was_built_are_found(tmp_path, monkeypatch):
    filled = asyncio.Event()
    fill = EmbeddingService.fill

    async def told(service, progress=None):
        await filled_first(service)
        done = await fill(service, progress)
        filled.set()
        return done

    started = asyncio.Event()

    async def filled_first(_service):
        await started.wait()

    async def built_before_there_was_any(feed):
        feed._applied, missing = await feed._store.read(feed._build)
        started.set()
        await filled.wait()
        feed.building = False
        feed.adopt()
        for _ in range(50):  # others have their turn before it is fed
            await asyncio.sleep(0.005)
        return missing

    monkeypatch.setattr(EmbeddingService, "fill", told)
    monkeypatch.setattr(VectorFeed, "build", built_before_there_was_any)
    shown = asyncio.run(demonstrate(tmp_path, {}, lambda _words: None))
    third = shown.answers[2].recall
    assert third.hits, third.notes
    assert shown.embedded == 49
