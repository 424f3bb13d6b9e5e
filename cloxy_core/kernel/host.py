"""Plugins, settings and seats put together, for the server and for the command line alike."""

from dataclasses import dataclass
from pathlib import Path

from cloxy_core.kernel.containment import Failure, contained
from cloxy_core.kernel.discovery import (
    describe,
    refuse_disabled_required,
    refuse_missing_required,
    unknown_choices,
)
from cloxy_core.kernel.loader import load_plugins
from cloxy_core.kernel.manager import create_manager, register_plugin
from cloxy_core.kernel.plugin_state import CORE, PluginChoice, PluginDescription, PluginState
from cloxy_core.kernel.registry import RecordSwitches, Registry
from cloxy_core.kernel.settings import Settings
from cloxy_hookspecs.seats import SETTINGS


@dataclass(frozen=True, slots=True)
class PluginHost:
    """What the rest of the engine builds on.

    Attributes:
        settings: every declared setting, those of plugins included.
        registry: the seats.
        plugins: every plugin, loaded or not, with the reason.
        notes: sentences about names in the settings that fit no plugin and no folder.
    """

    settings: Settings
    registry: Registry
    plugins: tuple[PluginDescription, ...]
    notes: tuple[str, ...]

    def check(self) -> None:
        """Refuse to start a server with what is here.

        Raises:
            PluginLoadError: a required plugin is missing.
            SettingError: a key of the file is unknown, or a value cannot be used.
        """
        refuse_missing_required(self.plugins)
        self.settings.check(tolerated_groups=self._silent_groups())

    def _silent_groups(self) -> frozenset[str]:
        """Groups of settings whose plugin is here but could not declare them."""
        failed = {problem.plugin for problem in self.registry.problems.all()}
        names = {
            plugin.name
            for plugin in self.plugins
            if plugin.state is not PluginState.LOADED or plugin.name in failed
        }
        return frozenset(names | {name.replace("_", "-") for name in names})


def open_plugins(
    settings: Settings,
    choice: PluginChoice,
    *,
    core: object | None = None,
    switches: RecordSwitches | None = None,
    folder: Path | None = None,
) -> PluginHost:
    """Find, load and register the plugins, and declare their settings.

    Args:
        settings: with the core's own records declared; gets those of the plugins.
        choice: which plugins are wanted.
        core: object with the core's own hooks; None for none.
        switches: decisions about single records.
        folder: folder of one-file plugins; None for no such folder.

    Raises:
        SettingError: a required plugin is switched off.
    """
    refuse_disabled_required(choice)
    manager = create_manager()
    if core is not None:
        register_plugin(manager, CORE, core)
    plugins = load_plugins(manager, describe(choice, folder=folder))
    registry = Registry(
        manager,
        settings,
        switches=switches,
        first_party=[plugin.name for plugin in plugins if plugin.first_party],
    )
    settings.declare(registry.all(SETTINGS))
    notes = (*unknown_choices(choice, plugins), *_absent(folder))
    return PluginHost(settings, registry, plugins, notes)


def _absent(folder: Path | None) -> tuple[str, ...]:
    """A sentence about a folder of one-file plugins that is not there, for a warning."""
    if folder is None:
        return ()
    there = contained(folder.is_dir)
    if not isinstance(there, Failure) and there.value:
        return ()
    return (f"plugins.dir names {str(folder)!r}, but there is no such folder",)
