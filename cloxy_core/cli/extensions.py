"""Commands that plugins bring, found by name in package metadata; nothing of them is imported."""

import os
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points

from cloxy_core.client_config import data_directory, read_config
from cloxy_core.kernel.plugin_state import REQUIRED, PluginChoice, plugin_name

GROUP = "cloxy.commands"
PLUGINS = "cloxy.plugins"


def plugin_commands(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Commands of installed plugins that are not disabled: name to `module:function`.

    Raises:
        ClientError: config.toml cannot be read.
    """
    choice = _choice(os.environ if environ is None else environ)
    owners = [
        (_package(point.module), plugin_name(point.name)) for point in entry_points(group=PLUGINS)
    ]
    return {
        point.name: point.value
        for point in entry_points(group=GROUP)
        if _wanted(_owner(point, owners), choice)
    }


def _package(module: str) -> str:
    """The package whose modules belong to a plugin: that of its `plugin.py`, or the module."""
    return module.rpartition(".")[0] or module


def _owner(point: EntryPoint, owners: list[tuple[str, str]]) -> str | None:
    """Name of the plugin that a command belongs to; None when there is none."""
    inside = [
        (len(package), name)
        for package, name in owners
        if point.module == package or point.module.startswith(package + ".")
    ]
    return max(inside)[1] if inside else None


def _choice(environ: Mapping[str, str]) -> PluginChoice:
    section = read_config(data_directory(environ)).get("plugins")
    table: Mapping[str, object] = section if isinstance(section, dict) else {}
    return PluginChoice.of(
        disabled=_names(environ.get("CLOXY_PLUGINS_DISABLED"), table.get("disabled")),
        only=_names(environ.get("CLOXY_PLUGINS"), table.get("only")),
        pins={},
    )


def _names(variable: str | None, entry: object) -> list[str]:
    if variable:
        return [name for name in variable.split(",") if name.strip()]
    return [str(name) for name in entry] if isinstance(entry, list) else []


def _wanted(plugin: str | None, choice: PluginChoice) -> bool:
    if plugin is None or plugin in REQUIRED:
        return True
    return plugin not in choice.disabled and (not choice.only or plugin in choice.only)
