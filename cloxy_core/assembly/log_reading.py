"""Session logs: who reads them, what is known of them, and what keeps conversations."""

from collections.abc import Awaitable, Callable

from cloxy_core.assembly.base import Base, log, pick
from cloxy_core.assembly.writing import MESSAGES, TRANSCRIPT, Choices
from cloxy_core.services.exchange.giving_way import GivingWay
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.ingest.catalogue import Catalogue, Listed
from cloxy_core.services.ingest.conversations import ConversationKeeper
from cloxy_core.services.ingest.further import take_further, watched_sources
from cloxy_core.services.ingest.reading import Reader
from cloxy_core.services.ingest.service import IngestService
from cloxy_core.services.projects import ProjectResolver
from cloxy_core.services.upgrade.covering import Covering
from cloxy_core.services.write.batch import Feed
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_core.services.write.transcripts import TranscriptWriter
from cloxy_hookspecs.seats import PARSERS, SOURCES

CHOSEN = "CLOXY_WATCH_DIRS (watch.dirs) names the folders to read; unset it to read these too"
SWITCHED_OFF = "switched off with providers.disabled"
FAILED = "it could not be made; see the warnings of `cloxy status`"


def make_ingest(
    base: Base,
    choices: Choices,
    indexing: Indexing,
    tombstones: Tombstones,
    projects: ProjectResolver,
) -> IngestService:
    """What reads the logs of all sources, and knows those that are not watched."""
    registry, lifespan = base.registry, base.lifespan
    take_further(registry, base.shared.context)
    parsers = dict(lifespan.create_all(registry.all(PARSERS)))
    records = registry.all(SOURCES)
    made = dict(lifespan.create_all(records))
    readers = [
        Reader(
            Feed(
                plugin=record.name,
                agent=record.agent,
                parser=record.parser,
                policy=choices.policy(record.origin),
                chunker=choices.chunker(record.chunker),
            ),
            made[record.name],
            pick(parsers, record.parser, "parser"),
            projects.resolve,
            record.rewritten,
        )
        for record in records
        if record.name in made
    ]
    wanted = watched_sources(records, made, base.settings)
    service = IngestService(
        [each for each in readers if each.feed.plugin in wanted],
        base.store,
        TranscriptWriter(indexing, tombstones, base.clock),
        indexing,
        base.workers,
        base.clock,
        log,
        [each for each in readers if each.feed.plugin not in wanted],
    )
    service.read_in = Covering(
        base.store, indexing, base.clock, GivingWay(indexing, tombstones)
    ).settle
    return service


def make_catalogue(base: Base, ingest: IngestService) -> Catalogue:
    """All sources that plugins bring, read or not."""
    registry = base.registry
    watched = {reader.feed.plugin: reader for reader in ingest.readers}
    others = {reader.feed.plugin: reader for reader in ingest.others}
    listed = []
    for record in registry.all(SOURCES):
        reader = watched.get(record.name) or others.get(record.name)
        off = "" if record.name in watched else FAILED if reader is None else CHOSEN
        roots = None if reader is None else reader.source.roots
        listed.append(Listed(record, registry.owner(record), roots, off))
    for record, plugin in registry.switched_off(SOURCES):
        listed.append(Listed(record, plugin, None, SWITCHED_OFF))
    return Catalogue(listed, ingest, base.store, base.workers)


def make_conversations(
    base: Base,
    choices: Choices,
    indexing: Indexing,
    tombstones: Tombstones,
    projects: ProjectResolver,
    may_read: Callable[[], Awaitable[str | None]],
) -> ConversationKeeper | None:
    """What keeps conversations; None without the plugins that say how."""
    policy, chunker = choices.policies.get(TRANSCRIPT), choices.chunkers.get(MESSAGES)
    if policy is None or chunker is None:
        return None
    return ConversationKeeper(
        base.store,
        TranscriptWriter(indexing, tombstones, base.clock),
        indexing,
        base.workers,
        base.clock,
        policy,
        chunker,
        projects.resolve,
        may_read,
    )
