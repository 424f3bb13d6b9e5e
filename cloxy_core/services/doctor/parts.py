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
from cloxy_core.services.ingest.further import take_further, watched_sources
from cloxy_core.services.logs.copies import COPIES
from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs import Check, CommitIndexProvider, LogReader, PluginError
from cloxy_hookspecs.providers.platform import Migration
from cloxy_hookspecs.seats import CHECKS, INDEXES, MIGRATIONS, SOURCES


@dataclass(frozen=True, slots=True)
class Parts:
    """What is needed of plugins.

    Attributes:
        channels: indexes in SQL.
        checks: checks of plugins by name; the core's own are left out, since an examination
            looks closer.
    """

    channels: Sequence[CommitChannel]
    checks: Mapping[str, Check]


def migrations_of(host: PluginHost) -> Sequence[Migration]:
    """Steps of the schema, those of plugins too."""
    return host.registry.all(MIGRATIONS)


def make_parts(host: PluginHost, paths: DataDirectory, store: LookStore, workers: Workers) -> Parts:
    """Make what plugins bring; what needs a running server, or fails, is left out."""
    registry = host.registry
    lifespan, _shared = _lifespan(host, paths, store, workers)
    channels = []
    for record in registry.keyed(INDEXES).values():
        if isinstance(record, CommitIndexProvider):
            try:
                channels.append(CommitChannel(record, lifespan.create(record)))
            except PluginError:
                continue
    checks = [record for record in registry.all(CHECKS) if registry.owner(record) != CORE]
    return Parts(channels, dict(lifespan.create_all(checks)))


def watched_roots(host: PluginHost, paths: DataDirectory, workers: Workers) -> Sequence[Path]:
    """Places that the sources watch, whether they exist or not."""
    store = LookStore(paths.database, private=False)
    lifespan, shared = _lifespan(host, paths, store, workers)
    take_further(host.registry, shared.context)
    records = host.registry.all(SOURCES)
    watched = watched_sources(records, dict(lifespan.create_all(records)), host.settings)
    return list(dict.fromkeys(root for source in watched.values() for root in source.roots()))


def _lifespan(
    host: PluginHost, paths: DataDirectory, store: LookStore, workers: Workers
) -> tuple[Lifespan, HostParts]:
    logs = Logs(paths.data / COPIES)
    services = Services()
    services.offer(LogReader, lambda: logs)
    shared = HostParts(host.settings, store, SystemClock(), paths, workers, services)
    registry = host.registry
    return Lifespan(registry.owner, shared.context, services, registry.problems), shared
