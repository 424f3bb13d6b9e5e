"""Checks say what is so, also while other connections have just changed the keyword index."""

import asyncio

from cloxy_core.app import open_host
from cloxy_core.core_settings import load_settings
from cloxy_core.engine import Engine
from cloxy_core.runtime.paths import DataDirectory
from cloxy_hookspecs import Draft, Query

READERS = 4


def test_a_reader_with_an_old_picture_of_the_index_reports_no_damage(tmp_path):
    settings = load_settings({"CLOXY_DATA_DIR": str(tmp_path / "data"), "CLOXY_WATCH": "0"})

    async def run():
        engine = Engine(open_host(settings), DataDirectory.open(tmp_path / "data"))
        try:
            found = []
            for round_number in range(6):
                # Every reader gets a picture of the index, and then the writer changes it.
                query = Query(text="words", top_k=1, now=engine.clock.now_ms())
                await asyncio.gather(*(engine.recaller.recall(query) for _ in range(READERS)))
                for number in range(20):
                    text = f"other words {round_number} {number}"
                    await engine.memories.remember(Draft(text, "note", "test"))
                await engine.checks.run()
                found += engine.checks.results()
            return found
        finally:
            await engine.close()

    results = asyncio.run(run())
    assert {result["name"] for result in results} >= {"database-file", "fts5"}
    assert [result for result in results if result["severity"] != "ok"] == []
