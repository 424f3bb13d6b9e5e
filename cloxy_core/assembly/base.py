"""What all services of a server are made from."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from cloxy_core.kernel.context import HostParts
from cloxy_core.kernel.host import PluginHost
from cloxy_core.kernel.lifespan import Lifespan
from cloxy_core.kernel.registry import Registry
from cloxy_core.kernel.services import Services
from cloxy_core.kernel.settings import Settings
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.lock import DataDirectoryLock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.upgrade.helping import upgrade_helpers
from cloxy_core.store.engine import Store
from cloxy_core.store.reserve import room
from cloxy_hookspecs import Clock, HostContext, PluginContractError, SettingsView
from cloxy_hookspecs.seats import MIGRATIONS

T = TypeVar("T")

log = logging.getLogger("cloxy.core")


@dataclass(frozen=True, slots=True)
class Base:
    """Plugins, database, clock, threads and ports of one server.

    Attributes:
        host: plugins and settings.
        paths: the data directory.
        clock: the time.
        workers: threads.
        store: the database.
        services: ports.
        shared: what the contexts of all plugins share.
        lifespan: makes what plugins bring.
    """

    host: PluginHost
    paths: DataDirectory
    clock: Clock
    workers: Workers
    store: Store
    services: Services
    shared: HostParts
    lifespan: Lifespan

    @classmethod
    def open(
        cls,
        host: PluginHost,
        paths: DataDirectory,
        lock: DataDirectoryLock | None,
        clock: Clock | None,
    ) -> "Base":
        """Open the database; nothing of plugins is made yet.

        Args:
            host: plugins and settings.
            paths: the data directory.
            lock: its lock, already held; taken here when None.
            clock: the time; the machine's when None.

        Raises:
            CloxyError: the database cannot be opened.
        """
        clock = clock or SystemClock()
        workers = Workers()
        registry = host.registry
        store = Store.open(
            paths,
            clock,
            workers,
            registry.all(MIGRATIONS),
            lock=lock,
            upgrading=upgrade_helpers(log),
        )
        services = Services()
        shared = HostParts(host.settings, store, clock, paths, workers, services)
        lifespan = Lifespan(registry.owner, shared.context, services, registry.problems)
        return cls(host, paths, clock, workers, store, services, shared, lifespan)

    @property
    def registry(self) -> Registry:
        """What plugins bring to the seats."""
        return self.host.registry

    @property
    def settings(self) -> Settings:
        """Values of settings."""
        return self.host.settings

    def context(self, record: object, settings: SettingsView | None = None) -> HostContext:
        """The context of the plugin of a record; with other settings than the server's if given."""
        shared = self.shared if settings is None else replace(self.shared, settings=settings)
        return shared.context(self.registry.owner(record))

    async def no_room(self) -> str | None:
        """Why no more session logs may be taken in, or None."""
        space = await self.workers.run("io", lambda: room(self.paths.data))
        return None if space.ingest else "; ".join(space.warnings())


def pick(choices: Mapping[str, T], name: str, kind: str) -> T:
    """One of several by name.

    Raises:
        PluginContractError: there is none of that name.
    """
    try:
        return choices[name]
    except KeyError:
        known = ", ".join(sorted(choices)) or "none"
        raise PluginContractError(
            f"no enabled plugin brings the {kind} {name!r}", hint=f"there is: {known}"
        ) from None
