"""What commands that work on the data directory themselves have in common."""

import os

from cloxy_core import __version__, core_plugin
from cloxy_core.core_settings import PLUGINS_DIR, plugin_choice, record_switches
from cloxy_core.kernel.host import PluginHost, open_plugins
from cloxy_core.kernel.settings import Settings
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.lock import DataDirectoryLock, LockHolder
from cloxy_hookspecs.errors import DataDirectoryInUseError


def plugins_of(settings: Settings) -> PluginHost:
    """The plugins that the settings want; nothing is checked, so that faults can be looked at.

    Raises:
        SettingError: a required plugin is switched off.
    """
    return open_plugins(
        settings,
        plugin_choice(settings),
        core=core_plugin,
        switches=record_switches(settings),
        folder=settings[PLUGINS_DIR],
    )


def take_lock(lock: DataDirectoryLock, hint: str) -> None:
    """Take the lock of the data directory for this command.

    Args:
        lock: the lock.
        hint: what to do when a server has it.

    Raises:
        DataDirectoryInUseError: a server has it; the message names it.
    """
    try:
        lock.acquire(LockHolder(os.getpid(), __version__, "", SystemClock().now_ms()))
    except DataDirectoryInUseError as error:
        raise DataDirectoryInUseError(error.message, hint=hint) from error
