"""Loads the chosen plugins; what is wrong with one of them costs that one alone."""

from collections.abc import Sequence
from importlib.metadata import EntryPoint

import pluggy
from stevedore.extension import ExtensionManager

from cloxy_core.kernel.containment import Failure, contained, stdout_to_stderr
from cloxy_core.kernel.distributions import GROUP
from cloxy_core.kernel.manager import IncompatiblePluginError, register_plugin
from cloxy_core.kernel.plugin_state import PluginDescription, PluginState
from cloxy_hookspecs.errors import CloxyError, MissingExtraError


def load_plugins(
    manager: pluggy.PluginManager, plugins: Sequence[PluginDescription]
) -> tuple[PluginDescription, ...]:
    """Import and register the plugins that are in the state FOUND, and no other.

    Args:
        manager: gets what could be loaded.
        plugins: as `describe` returns them.

    Returns:
        The same plugins in the same order, none of them FOUND any more.
    """
    extensions = _ChosenExtensions(plugins)
    return tuple(
        _register(manager, plugin, extensions.outcome(plugin))
        if plugin.state is PluginState.FOUND
        else plugin
        for plugin in plugins
    )


class _ContainedEntryPoint(EntryPoint):
    """An entry point that fails with an Exception in every case.

    stevedore lets AssertionError, SystemExit and their like through, which would end all
    loading because of one plugin.
    """

    inner: EntryPoint

    @classmethod
    def around(cls, name: str, inner: EntryPoint) -> "_ContainedEntryPoint":
        """Contain another entry point."""
        contained_entry_point = cls(name, inner.value, inner.group)
        # The base class forbids setting attributes, but keeps its own in the same dictionary.
        vars(contained_entry_point)["inner"] = inner
        return contained_entry_point

    def load(self) -> object:
        """The object that the entry point names.

        Raises:
            _ImportFailedError: the import raised whatever.
        """
        with stdout_to_stderr():
            loaded = contained(self.inner.load)
        if isinstance(loaded, Failure):
            raise _ImportFailedError(loaded)
        return loaded.value


class _ImportFailedError(Exception):
    """Carries what an import raised through stevedore."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.words)
        self.failure = failure


class _ChosenExtensions(ExtensionManager[object]):
    """Loads exactly the entry points it is given, and keeps what they raised."""

    def __init__(self, plugins: Sequence[PluginDescription]) -> None:
        self._chosen = [
            _ContainedEntryPoint.around(plugin.name, plugin.entry_point)
            for plugin in plugins
            if plugin.state is PluginState.FOUND and plugin.entry_point is not None
        ]
        self._failures: dict[str, Failure] = {}
        super().__init__(GROUP, on_load_failure_callback=_keep_failure)
        self._loaded = {extension.name: extension.plugin for extension in self.extensions}

    def list_entry_points(self) -> list[EntryPoint]:
        """The chosen entry points, in place of all that are installed."""
        return list(self._chosen)

    def keep(self, name: str, failure: Failure) -> None:
        """Note that an entry point did not load."""
        self._failures[name] = failure

    def outcome(self, plugin: PluginDescription) -> object:
        """The loaded object, or a Failure."""
        if plugin.name in self._failures:
            return self._failures[plugin.name]
        return self._loaded[plugin.name]


def _keep_failure(
    extensions: ExtensionManager[object], entry_point: EntryPoint, error: BaseException
) -> None:
    if isinstance(extensions, _ChosenExtensions):
        failure = error.failure if isinstance(error, _ImportFailedError) else Failure(error)
        extensions.keep(entry_point.name, failure)


def _register(
    manager: pluggy.PluginManager, plugin: PluginDescription, outcome: object
) -> PluginDescription:
    if isinstance(outcome, Failure):
        return _failed(plugin, outcome, "it could not be imported: ")
    registered = contained(lambda: register_plugin(manager, plugin.name, outcome))
    if isinstance(registered, Failure):
        return _failed(plugin, registered, "")
    return plugin.marked(PluginState.LOADED, "")


def _failed(plugin: PluginDescription, failure: Failure, prefix: str) -> PluginDescription:
    error = failure.error
    if isinstance(error, MissingExtraError):
        return plugin.marked(PluginState.MISSING_EXTRA, str(error))
    if isinstance(error, IncompatiblePluginError):
        return plugin.marked(PluginState.INCOMPATIBLE, str(error))
    words = str(error) if isinstance(error, CloxyError) else failure.words
    return plugin.marked(PluginState.FAILED, prefix + words)
