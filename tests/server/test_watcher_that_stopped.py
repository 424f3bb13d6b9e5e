"""A server whose watcher has died says that it is not well."""

import asyncio
from dataclasses import replace

import pytest

from cloxy_core.app import open_host
from cloxy_core.core_settings import load_settings
from cloxy_core.engine import Engine
from cloxy_core.runtime.paths import DataDirectory


@pytest.mark.parametrize("watch", ["1", "0"])
def test_it_is_told_only_where_a_watcher_was_wanted(tmp_path, watch):
    environment = {
        "CLOXY_DATA_DIR": str(tmp_path / "data"),
        "CLOXY_WATCH_DIRS": str(tmp_path),
        "CLOXY_WATCH": watch,
    }

    async def reports():
        engine = Engine(
            open_host(load_settings(environment)), DataDirectory.open(tmp_path / "data")
        )
        await engine.start()
        try:
            wanted = watch == "1"
            engine.health.server = replace(engine.health.server, watches=wanted)
            async with asyncio.timeout(60):
                while engine.ingest.running is not wanted:
                    await asyncio.sleep(0.01)
            well = await engine.health.report()
            for task in engine._tasks:
                if task.get_name() == "watcher":
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
            return well, await engine.health.report()
        finally:
            await engine.close()

    well, later = asyncio.run(reports())
    assert (well["status"], well["cause"]) == ("OK", None)
    if watch == "1":
        assert later["status"] == "ERROR"
        assert "watcher has stopped" in later["cause"]
    else:
        assert later["status"] == "OK"
