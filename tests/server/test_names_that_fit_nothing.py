"""A name in the settings that fits nothing is told, not passed over."""

import asyncio

from cloxy_core.app import open_host
from cloxy_core.core_settings import load_settings
from cloxy_core.engine import Engine
from cloxy_core.runtime.paths import DataDirectory


def problems(tmp_path, **variables):
    settings = load_settings({"CLOXY_DATA_DIR": str(tmp_path / "data"), **variables})

    async def run():
        engine = Engine(open_host(settings), DataDirectory.open(tmp_path / "data"))
        try:
            return engine.problems()
        finally:
            await engine.close()

    return asyncio.run(run())


def test_a_switched_off_part_that_no_plugin_brings_is_named(tmp_path):
    (problem,) = problems(tmp_path, CLOXY_PROVIDERS_DISABLED="signals.recency,nope")
    assert "providers.disabled names 'nope'" in problem


def test_a_folder_of_plugins_that_is_not_there_is_named(tmp_path):
    folder = tmp_path / "absent"
    (problem,) = problems(tmp_path, CLOXY_PLUGINS_DIR=str(folder))
    assert f"plugins.dir names {str(folder)!r}" in problem


def test_names_that_fit_are_no_problem(tmp_path):
    folder = tmp_path / "plugins"
    folder.mkdir()
    given = {"CLOXY_PROVIDERS_DISABLED": "signals.recency", "CLOXY_PLUGINS_DIR": str(folder)}
    assert problems(tmp_path, **given) == []
