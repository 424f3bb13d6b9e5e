"""Plugins made of plain objects, and the registry over them."""

from types import SimpleNamespace

import pytest

from cloxy_core.core_settings import CORE_SETTINGS
from cloxy_core.kernel.manager import create_manager, register_plugin
from cloxy_core.kernel.registry import Registry
from cloxy_core.kernel.settings import Settings
from cloxy_hookspecs import hookimpl


def _plugin(hooks):
    """An object whose hooks yield the given records, or are the given functions."""
    plugin = SimpleNamespace()
    for hook, answer in hooks.items():
        function = answer if callable(answer) else lambda records=answer: list(records)

        def call(function=function):
            return function()

        call.__name__ = f"cloxy_{hook}"
        setattr(plugin, call.__name__, hookimpl(call))
    return plugin


@pytest.fixture
def registry_of():
    """Build a registry from `plugin name: {seat: records or function}`."""

    def build(plugins, *, first_party=(), settings=None, switches=None):
        manager = create_manager()
        for name, hooks in plugins.items():
            register_plugin(manager, name, _plugin(hooks))
        return Registry(
            manager,
            settings or Settings(CORE_SETTINGS),
            first_party=first_party,
            switches=switches,
        )

    return build
