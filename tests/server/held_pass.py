"""A one-file plugin: while a file is there, a pass over the logs stays where it has read some."""

import asyncio
import os
import shutil
from pathlib import Path

from cloxy_core.services.ingest.service import IngestService
from cloxy_hookspecs import hookimpl

VARIABLE = "TEST_HOLD_PASS"
write = IngestService._write


def settings(folder):
    """What a server needs so that its passes can be held, and the file that holds them."""
    plugins, hold = folder / "plugins", folder / "hold"
    plugins.mkdir()
    shutil.copy(__file__, plugins / "held_pass.py")
    return {"CLOXY_PLUGINS_DIR": str(plugins), VARIABLE: str(hold)}, hold


async def held(self, *arguments):
    while self.progress.files_done and Path(os.environ[VARIABLE]).exists():
        await asyncio.sleep(0.01)
    await write(self, *arguments)


if VARIABLE in os.environ:
    IngestService._write = held


@hookimpl
def cloxy_settings():
    return ()
