"""Plugins, settings and seats together: a stranger takes part, and a start that is refused."""

import json
import os
import subprocess
import sys

import pytest

from cloxy_core import core_plugin
from cloxy_core.core_settings import load_settings, plugin_choice, record_switches
from cloxy_core.kernel.host import open_plugins
from cloxy_core.kernel.plugin_state import PluginState
from cloxy_core.kernel.source_text import locate
from cloxy_hookspecs import PluginLoadError, SettingError
from cloxy_hookspecs.seats import EXPANDERS, FUSERS, SEATS

STRANGER = """
from cloxy_hookspecs import ExpanderProvider, FuserProvider, Setting, hookimpl

@hookimpl
def cloxy_settings():
    yield Setting(name="stranger.depth", default=1, parse=int, help="How deep.")

@hookimpl
def cloxy_expanders():
    yield ExpanderProvider(name="stranger", summary="", order=-1, create=lambda context: "made")

@hookimpl
def cloxy_fusers():
    yield FuserProvider(name="strange", summary="", create=lambda context: "strange fuser")
"""
TAKES_PART = """
import json, os
from cloxy_core import core_plugin
from cloxy_core.core_settings import *
from cloxy_core.kernel.host import open_plugins
from cloxy_hookspecs.seats import EXPANDERS, FUSERS

settings = load_settings(os.environ)
host = open_plugins(settings, plugin_choice(settings), core=core_plugin)
host.check()
fuser, first = host.registry.one(FUSERS), host.registry.all(EXPANDERS)[0]
print(json.dumps({
    "fuser": [fuser.name, fuser.create(None), host.registry.owner(fuser)],
    "expander": [first.name, first.create(None), host.registry.owner(first)],
    "depth": settings.named("stranger.depth"),
}))
"""


def opened(environment):
    settings = load_settings(environment)
    return open_plugins(
        settings,
        plugin_choice(settings),
        core=core_plugin,
        switches=record_switches(settings),
    )


def test_stranger_from_a_scratch_folder_takes_part(site, tmp_path):
    site.plugin("stranger", STRANGER)
    data = tmp_path / "data"
    data.mkdir()
    (data / "config.toml").write_text('[recall]\nfuser = "strange"\n[stranger]\ndepth = 3\n')
    path = os.pathsep.join([str(site.folder), os.environ["PYTHONPATH"]])
    done = subprocess.run(
        [sys.executable, "-c", TAKES_PART],
        env={**os.environ, "PYTHONPATH": path, "CLOXY_DATA_DIR": str(data)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "fuser": ["strange", "strange fuser", "stranger"],
        "expander": ["stranger", "made", "stranger"],
        "depth": 3,
    }


def test_every_record_of_ours_fits_its_seat():
    host = opened({})
    host.check()
    for seat in SEATS:
        host.registry.all(seat)
    assert host.registry.problems.all() == ()
    assert {plugin.state for plugin in host.plugins} == {PluginState.LOADED}
    assert host.registry.one(FUSERS).name == "weighted"


def test_settings_of_a_plugin_that_is_off_are_not_unknown(tmp_path):
    (tmp_path / "config.toml").write_text("[claude-code]\nanything = 1\n")
    off = {"CLOXY_DATA_DIR": str(tmp_path), "CLOXY_PLUGINS_DISABLED": "claude_code"}
    opened(off).check()
    with pytest.raises(SettingError, match=r"line 2: unknown setting 'claude-code\.anything'"):
        opened({"CLOXY_DATA_DIR": str(tmp_path)}).check()


def test_required_plugin_that_did_not_load_refuses_the_start(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloxy_plugins.fts5.plugin", None)
    host = opened({})
    with pytest.raises(PluginLoadError, match=r"fts5 .it could not be imported"):
        host.check()


def test_record_is_switched_off_by_the_settings():
    names = [record.name for record in opened({}).registry.all(EXPANDERS)]
    switched = opened({"CLOXY_PROVIDERS_DISABLED": f"expanders.{names[0]}"})
    assert [record.name for record in switched.registry.all(EXPANDERS)] == names[1:]


@pytest.mark.parametrize(
    ("target", "end"),
    [
        ("cloxy_plugins.fts5.plugin", "cloxy_plugins/fts5/plugin.py"),
        ("json.decoder:JSONDecoder", "json/decoder.py"),
        ("json", "json/__init__.py"),
        ("/some/file.py", "/some/file.py"),
        ("nothing_of_this_name.at_all", ""),
        ("json.nothing", ""),
        ("json.decoder.deeper", ""),
        ("..", ""),
    ],
)
def test_locating_runs_nothing(target, end):
    before = set(sys.modules)
    assert locate(target).endswith(end)
    assert bool(locate(target)) == bool(end)
    assert set(sys.modules) == before
