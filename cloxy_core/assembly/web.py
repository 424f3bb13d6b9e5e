"""The web reader."""

from cloxy_core.assembly.base import Base, log
from cloxy_core.core_settings import FETCH_DEADLINE, ROBOTS, USER_AGENT
from cloxy_core.services.web.extraction import Extraction
from cloxy_core.services.web.reader import Rules, WebReader
from cloxy_hookspecs import Network
from cloxy_hookspecs.seats import EXTRACTORS, FETCHERS, GUARDS, SANITIZERS

HTTP = "http"
HTTPS = "https"


def make_reader(base: Base, network: Network) -> WebReader:
    """A reader behind all guards, with every fetcher and extractor."""
    registry, settings = base.registry, base.settings
    guards = base.lifespan.create_all(registry.all(GUARDS))
    fetchers = {
        scheme: base.lifespan.create(record)
        for record in registry.keyed(FETCHERS).values()
        for scheme in ((HTTP, HTTPS) if record.scheme == HTTP else (record.scheme,))
    }
    return WebReader(
        network,
        [guard for _name, guard in guards],
        fetchers,
        Extraction(registry.all(SANITIZERS), registry.all(EXTRACTORS), log),
        Rules(settings[USER_AGENT], settings[FETCH_DEADLINE], follows_robots=settings[ROBOTS]),
        base.clock,
    )
