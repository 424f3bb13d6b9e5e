"""The pluggy manager, and the checks that a plugin passes before it takes part."""

import inspect
from types import ModuleType

import pluggy

from cloxy_hookspecs.errors import PluginContractError, PluginLoadError
from cloxy_hookspecs.markers import API_VERSION, PROJECT
from cloxy_hookspecs.specs import ALL_SPECS

VERSION_CONSTANT = "CLOXY_API_VERSION"


class IncompatiblePluginError(PluginLoadError):
    """A plugin was written for another version of the contract."""


def create_manager() -> pluggy.PluginManager:
    """A manager that knows every hook and no plugin."""
    manager = pluggy.PluginManager(PROJECT)
    for specs in ALL_SPECS:
        manager.add_hookspecs(specs)
    return manager


def register_plugin(manager: pluggy.PluginManager, name: str, plugin: object) -> None:
    """Let a plugin take part, all of it or nothing.

    Args:
        manager: gets the plugin.
        name: the plugin's name.
        plugin: a module, or an object with hook methods.

    Raises:
        IncompatiblePluginError: it was written for another version of the contract.
        PluginContractError: a hook is unknown, unmarked, a wrapper or takes a parameter that it
            is not given; nothing is registered.
    """
    if inspect.isclass(plugin):
        raise PluginContractError(
            f"{name} names a class", hint="name a module, or an object with hook methods"
        )
    _check_version(name, plugin)
    _check_hooks(manager, name, plugin)
    try:
        manager.register(plugin, name=name)
    except (pluggy.PluginValidationError, ValueError) as error:
        # Older versions of pluggy leave the hooks before the wrong one registered.
        if manager.get_plugin(name) is plugin:
            manager.unregister(name=name)
        words = " ".join(str(error).split("\n{", maxsplit=1)[0].split())
        raise PluginContractError(f"{name} does not fit the contract: {words}") from error


def _check_version(name: str, plugin: object) -> None:
    version: object = getattr(plugin, VERSION_CONSTANT, API_VERSION)
    if version != API_VERSION:
        raise IncompatiblePluginError(
            f"{name} was written for version {version!r} of the plugin contract; "
            f"this Cloxy has version {API_VERSION}"
        )


def _check_hooks(manager: pluggy.PluginManager, name: str, plugin: object) -> None:
    known = {attribute for specs in ALL_SPECS for attribute in vars(specs) if attribute[0] != "_"}
    for attribute in dir(plugin):
        options = manager.parse_hookimpl_opts(plugin, attribute)
        if options is None:
            if attribute in known and _is_own_function(plugin, attribute):
                raise PluginContractError(
                    f"{name}: {attribute} is not marked", hint="put @hookimpl above it"
                )
            continue
        hook = options.get("specname") or attribute
        if hook not in known and not options.get("optionalhook"):
            raise PluginContractError(
                f"{name}: there is no hook {hook!r}", hint="known: " + ", ".join(sorted(known))
            )
        if options.get("wrapper") or options.get("hookwrapper"):
            raise PluginContractError(f"{name}: {hook} must not be a wrapper; yield records")


def _is_own_function(plugin: object, attribute: str) -> bool:
    function: object = inspect.getattr_static(plugin, attribute, None)
    if not inspect.isfunction(function):
        return False
    return not isinstance(plugin, ModuleType) or function.__module__ == plugin.__name__
