"""Every record that Cloxy itself brings, by seat."""

import functools
import importlib
import importlib.util
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from cloxy_core import core_plugin
from cloxy_core.kernel.records import record_name, short_name
from cloxy_core.testing.conformance import (
    ParserConformance,
    RewrittenSourceConformance,
    SourceConformance,
)
from cloxy_hookspecs.seats import PARSERS, SEATS, SOURCES

AGENTS = Path(__file__).parents[1] / "agents"
_BASES = {
    SOURCES: (SourceConformance, RewrittenSourceConformance),
    PARSERS: (ParserConformance,),
}


@functools.cache
def all_records():
    """Id -> (seat, record), where an id is `seat:plugin:name`."""
    modules = {"core": core_plugin}
    for point in entry_points(group="cloxy.plugins"):
        if point.value.startswith("cloxy_plugins."):
            modules[point.name] = importlib.import_module(point.value)
    return {
        f"{short_name(seat)}:{plugin}:{record_name(record)}": (seat, record)
        for seat in SEATS
        for plugin, module in sorted(modules.items())
        for record in getattr(module, seat.hook, tuple)()
    }


def records(seat, kind=object):
    """Parameters for a fixture `provider`: the records of a seat that are of a kind.

    Those of agents that have tests of their own are tried there, with logs of that agent.
    """
    return [
        pytest.param(record, id=key)
        for key, (of, record) in all_records().items()
        if of is seat and isinstance(record, kind) and key not in tried_by_agents()
    ]


@functools.cache
def tried_by_agents():
    """Ids of sources and parsers that a class of `tests/agents/PLUGIN/test_*_contract.py` tries."""
    found = set()
    for plugin, modules in _contracts().items():
        for seat, bases in _BASES.items():
            classes = [
                each
                for module in modules
                for each in vars(module).values()
                if isinstance(each, type) and issubclass(each, bases) and each not in bases
            ]
            keys = [
                key
                for key, (of, record) in all_records().items()
                if of is seat and key.split(":")[1] == plugin
            ]
            assert len(classes) >= len(keys), f"{plugin}: a class for each of {keys} is wanted"
            found.update(keys)
    return found


def _contracts():
    modules = {}
    for path in sorted(AGENTS.glob("*/test_*_contract.py")):
        name = f"agents.{path.parent.name}.{path.stem}"
        modules.setdefault(path.parent.name, []).append(_loaded(name, path))
    return modules


def _loaded(name, path):
    """A module of tests by its path; its own folder is looked in for what it imports."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module
