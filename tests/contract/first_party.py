"""Every record that Cloxy itself brings, by seat."""

import functools
import importlib
from importlib.metadata import entry_points

import pytest

from cloxy_core import core_plugin
from cloxy_core.kernel.records import record_name, short_name
from cloxy_hookspecs.seats import SEATS


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
    """Parameters for a fixture `provider`: the records of a seat that are of a kind."""
    return [
        pytest.param(record, id=key)
        for key, (of, record) in all_records().items()
        if of is seat and isinstance(record, kind)
    ]
