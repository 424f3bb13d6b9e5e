"""What plugins bring to an examination, made over a database that is only looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cloxy_core.kernel.context import HostParts
from cloxy_core.kernel.host import PluginHost
from cloxy_core.kernel.lifespan import Lifespan
from cloxy_core.kernel.plugin_state import CORE
from cloxy_core.kernel.services import Services
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.doctor.looking import LookStore
from cloxy_core.services.indexing import CommitChannel
from cloxy_hookspecs import Check, CommitIndexProvider, PluginError
from cloxy_hookspecs.providers.platform import Migration
from cloxy_hookspecs.seats import CHECKS, INDEXES, MIGRATIONS, SOURCES


@dataclass(frozen=True, slots=True)
class Parts:
    """What is needed of plugins.

    Attributes:
        channels: indexes in SQL.
        checks: checks of plugins by name; the core's own are left out, since an examination
            looks closer.
        roots: watched folders.
    """

    channels: Sequence[CommitChannel]
    checks: Mapping[str, Check]
    roots: Sequence[Path]


def migrations_of(host: PluginHost) -> Sequence[Migration]:
    """Steps of the schema, those of plugins too."""
    return host.registry.all(MIGRATIONS)


def make_parts(host: PluginHost, paths: DataDirectory, store: LookStore, workers: Workers) -> Parts:
    """Make what plugins bring; what needs a running server, or fails, is left out."""
    registry = host.registry
    services = Services()
    shared = HostParts(host.settings, store, SystemClock(), paths, workers, services)
    lifespan = Lifespan(registry.owner, shared.context, services, registry.problems)
    channels = []
    for record in registry.keyed(INDEXES).values():
        if isinstance(record, CommitIndexProvider):
            try:
                channels.append(CommitChannel(record, lifespan.create(record)))
            except PluginError:
                continue
    checks = [record for record in registry.all(CHECKS) if registry.owner(record) != CORE]
    sources = lifespan.create_all(registry.all(SOURCES))
    roots = dict.fromkeys(root for _name, source in sources for root in source.roots())
    return Parts(channels, dict(lifespan.create_all(checks)), list(roots))
