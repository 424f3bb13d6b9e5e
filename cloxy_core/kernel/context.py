"""What factories of plugins are handed: the host, as one plugin may see it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from logging import Logger
from typing import TypeVar

from cloxy_core.kernel.logging import plugin_logger
from cloxy_core.kernel.services import Services
from cloxy_core.runtime.workers import Workers
from cloxy_hookspecs.context import Clock, Paths, SettingsView, StorePort

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HostParts:
    """What all plugins share; makes the context of each.

    Attributes:
        settings: values of settings.
        store: the database.
        clock: the time.
        paths: directories.
        workers: threads; `io` runs what plugins must not run on the loop.
        services: ports.
    """

    settings: SettingsView
    store: StorePort
    clock: Clock
    paths: Paths
    workers: Workers
    services: Services

    def context(self, plugin: str) -> "HostContextImplementation":
        """The context of one plugin."""
        return HostContextImplementation(self, plugin_logger(plugin))


@dataclass(frozen=True, slots=True)
class HostContextImplementation:
    """The host as one plugin sees it; implements `HostContext`.

    Attributes:
        parts: what all plugins share.
        log: the plugin's logger.
    """

    parts: HostParts
    log: Logger

    @property
    def settings(self) -> SettingsView:
        """Values of settings."""
        return self.parts.settings

    @property
    def store(self) -> StorePort:
        """The database."""
        return self.parts.store

    @property
    def clock(self) -> Clock:
        """The time."""
        return self.parts.clock

    @property
    def paths(self) -> Paths:
        """Directories."""
        return self.parts.paths

    def service(self, port: type[T]) -> T:
        """The implementation of a port.

        Raises:
            ServiceMissingError: nobody implements it.
        """
        return self.parts.services.service(port)

    def maybe(self, port: type[T]) -> T | None:
        """The implementation of a port, or None."""
        return self.parts.services.maybe(port)

    def blocking(self, work: Callable[[], T]) -> Awaitable[T]:
        """Run blocking work on an `io` thread."""
        return self.parts.workers.run("io", work)
