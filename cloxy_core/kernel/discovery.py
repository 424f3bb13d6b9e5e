"""Which plugins there are and which of them are to be loaded; imports none of them."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from packaging.utils import canonicalize_name

from cloxy_core import __version__
from cloxy_core.kernel.distributions import host_fits, installed_plugins
from cloxy_core.kernel.one_file import one_file_plugins
from cloxy_core.kernel.plugin_state import (
    CORE,
    REQUIRED,
    PluginChoice,
    PluginDescription,
    PluginState,
)
from cloxy_hookspecs.errors import PluginLoadError, SettingError

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def describe(
    choice: PluginChoice | None = None,
    *,
    folder: Path | None = None,
    path: Sequence[str] | None = None,
    host_version: str = __version__,
) -> tuple[PluginDescription, ...]:
    """Describe every plugin and decide which ones load, without importing any.

    Those to load are in the state FOUND; every other one says why not. A required plugin is
    never described as disabled; see `refuse_disabled_required`.

    Args:
        choice: what is wanted; by default everything.
        folder: folder of one-file plugins; None for no such folder.
        path: folders with installed packages; None for `sys.path`.
        host_version: version of Cloxy that packages are compared with.

    Returns:
        By name, then distribution.
    """
    choice = choice or PluginChoice()
    files = one_file_plugins(folder) if folder else ()
    plugins = [
        _judge(plugin, choice, host_version) for plugin in (*installed_plugins(path), *files)
    ]
    plugins.sort(key=lambda plugin: (plugin.name, plugin.distribution, plugin.target))
    return tuple(
        judged
        for name, group in groupby(plugins, key=lambda plugin: plugin.name)
        for judged in _settle_name(name, tuple(group), choice.pins.get(name))
    )


def refuse_disabled_required(choice: PluginChoice) -> None:
    """Refuse a choice that switches a required plugin off.

    Raises:
        SettingError: names the plugin and says why it is required.
    """
    for name in sorted(choice.disabled & REQUIRED.keys()):
        raise SettingError(
            f"the plugin {name!r} cannot be disabled: {REQUIRED[name]}",
            hint=f"take {name!r} out of plugins.disabled and of CLOXY_PLUGINS_DISABLED",
        )


def refuse_missing_required(plugins: Iterable[PluginDescription]) -> None:
    """Refuse to go on without a required plugin, once everything is loaded.

    Raises:
        PluginLoadError: names the plugins and says what became of them.
    """
    state = {plugin.name: plugin for plugin in plugins if plugin.first_party}
    missing = [
        f"{name} ({state[name].reason if name in state else 'not installed'})"
        for name in sorted(REQUIRED)
        if name not in state or state[name].state is not PluginState.LOADED
    ]
    if missing:
        raise PluginLoadError(
            "required plugins are missing: " + ", ".join(missing), hint="install cloxy again"
        )


def unknown_choices(choice: PluginChoice, plugins: Iterable[PluginDescription]) -> tuple[str, ...]:
    """Sentences about names in a choice that no plugin has, for a warning."""
    known = {plugin.name for plugin in plugins}
    wanted = (
        ("plugins.disabled", choice.disabled),
        ("plugins.only", choice.only),
        ("plugins.pin", choice.pins.keys()),
    )
    return tuple(
        f"{setting} names {name!r}, but no such plugin is installed"
        for setting, names in wanted
        for name in sorted(names - known)
    )


def _judge(plugin: PluginDescription, choice: PluginChoice, host_version: str) -> PluginDescription:
    """The state of one plugin seen alone."""
    if plugin.state is not PluginState.FOUND:
        return plugin
    if not _NAME.fullmatch(plugin.name) or plugin.name == CORE:
        return plugin.marked(
            PluginState.FAILED,
            f"{plugin.name!r} cannot be a plugin's name: wants small letters, digits and _"
            f", and not {CORE!r}",
        )
    if not plugin.required:
        if plugin.name in choice.disabled:
            return plugin.marked(PluginState.DISABLED, "switched off by plugins.disabled")
        if choice.only and plugin.name not in choice.only:
            return plugin.marked(PluginState.DISABLED, "not among plugins.only (CLOXY_PLUGINS)")
    if not plugin.first_party and not host_fits(plugin.wants, host_version):
        return plugin.marked(
            PluginState.INCOMPATIBLE, f"wants cloxy {plugin.wants}; this is {host_version}"
        )
    return plugin


def _package(text: str) -> str:
    """A package's name in the one form in which names are compared; a file stays what it is."""
    return text if Path(text).is_absolute() else canonicalize_name(text)


def _settle_name(
    name: str, plugins: tuple[PluginDescription, ...], pin: str | None
) -> tuple[PluginDescription, ...]:
    """The states of all plugins of one name: at most one of them stays FOUND."""
    if any(plugin.first_party for plugin in plugins):
        reason = f"the name {name!r} belongs to Cloxy's own plugin"
        losers = [plugin for plugin in plugins if not plugin.first_party]
    elif pin is not None:
        losers = [plugin for plugin in plugins if _package(plugin.origin) != _package(pin)]
        reason = f"plugins.pin takes {name!r} from {pin!r}"
    elif len(plugins) > 1:
        losers = list(plugins)
        origins = ", ".join(plugin.origin for plugin in plugins)
        reason = (
            f"several packages offer {name!r}: {origins}; choose one with "
            f'plugins.pin = ["{name}={plugins[0].origin}"]'
        )
    else:
        return plugins
    return tuple(
        plugin.marked(PluginState.DUPLICATE, reason)
        if plugin in losers and plugin.state in (PluginState.FOUND, PluginState.INCOMPATIBLE)
        else plugin
        for plugin in plugins
    )
