"""Doing an operation in the data directory itself, while no server has it."""

import asyncio
import os
from collections.abc import Mapping

from cloxy_core.cli.opening import plugins_of, take_lock
from cloxy_core.core_settings import data_directory, load_settings
from cloxy_core.engine import Engine
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.lock import DataDirectoryLock
from cloxy_core.runtime.paths import DataDirectory, private_umask
from cloxy_hookspecs import PluginError


def run_stopped(operation: str, values: Mapping[str, object]) -> Mapping[str, object]:
    """The output of an operation.

    Args:
        operation: its name.
        values: fields of its input.

    Raises:
        DataDirectoryInUseError: a server has the directory, and does not answer where it should.
        PluginError: no enabled plugin brings the operation.
        CloxyError: it refuses, or the database cannot be opened.
    """
    private_umask()
    settings = load_settings(os.environ)
    host = plugins_of(settings)
    host.check()
    paths = DataDirectory.open(data_directory(settings))
    lock = DataDirectoryLock(paths.lock)
    take_lock(lock, "set CLOXY_URL to that server, or stop it; nothing was changed")
    with lock:
        engine = Engine(host, paths, lock, SystemClock())
        return asyncio.run(_run(engine, operation, values))


async def _run(
    engine: Engine, operation: str, values: Mapping[str, object]
) -> Mapping[str, object]:
    try:
        found = next((o for o in engine.operations if o.record.name == operation), None)
        if found is None:
            raise PluginError(
                f"no enabled plugin brings {operation}", hint="run `cloxy plugins` to see them"
            )
        output = await found.run(values)
        return output.model_dump(mode="json")
    finally:
        await engine.close()
