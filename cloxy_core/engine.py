"""Everything of one running server but its HTTP surface, put together from the seats."""

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from cloxy_core.core_settings import (
    FETCH_DEADLINE,
    RERANK,
    ROBOTS,
    USER_AGENT,
    WATCH,
    WATCH_EVENTS,
    WATCH_INTERVAL,
    WATCH_SWEEP,
)
from cloxy_core.kernel.context import HostParts
from cloxy_core.kernel.host import PluginHost
from cloxy_core.kernel.lifespan import Lifespan
from cloxy_core.kernel.plugin_state import PluginState
from cloxy_core.kernel.services import Services
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.lock import DataDirectoryLock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.dates import Dates
from cloxy_core.services.embedding.choosing import choose_embedder
from cloxy_core.services.embedding.making import Embedders
from cloxy_core.services.embedding.reembedding import Reembedding
from cloxy_core.services.embedding.service import EmbeddingService
from cloxy_core.services.fencing import DataFence
from cloxy_core.services.health import Checks, HealthService, ServerFacts
from cloxy_core.services.holding import IngestHold
from cloxy_core.services.indexing import AfterChannel, Channel, CommitChannel, Indexing
from cloxy_core.services.ingest.reading import Reader
from cloxy_core.services.ingest.service import IngestService
from cloxy_core.services.ingest.watcher import Watcher
from cloxy_core.services.keeping.cleaning import FileCleaner
from cloxy_core.services.project_finder import StoredProjects
from cloxy_core.services.projects import ProjectResolver
from cloxy_core.services.reading import Archive
from cloxy_core.services.recall.meaning import Asking
from cloxy_core.services.recall.ranking import ActiveSignal
from cloxy_core.services.recall.reranking import Reranking
from cloxy_core.services.recall.service import RecallService
from cloxy_core.services.retention.service import RuleService
from cloxy_core.services.upgrade.covering import Covering
from cloxy_core.services.upgrade.helping import upgrade_helpers
from cloxy_core.services.upgrade.words import WordFilling
from cloxy_core.services.vector_check import VectorIdsCheck
from cloxy_core.services.vector_feed import VectorChannel
from cloxy_core.services.web.extraction import Extraction
from cloxy_core.services.web.network import SystemNetwork
from cloxy_core.services.web.reader import Rules, WebReader
from cloxy_core.services.write.batch import Feed
from cloxy_core.services.write.erasing import Eraser
from cloxy_core.services.write.forgetting import Forgetter
from cloxy_core.services.write.notes import NoteWriter
from cloxy_core.services.write.service import MemoryService
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_core.services.write.transcripts import TranscriptWriter
from cloxy_core.store.engine import Store
from cloxy_core.store.reserve import room
from cloxy_core.surfaces.caller import DoorCaller
from cloxy_core.surfaces.operations import Operation
from cloxy_core.surfaces.progress import DoorProgress
from cloxy_core.surfaces.work import Gates
from cloxy_hookspecs import (
    ArchiveReader,
    Caller,
    Clock,
    CloxyError,
    CommitIndexProvider,
    DateReader,
    EmbedderProvider,
    Fence,
    HealthReader,
    HostContext,
    IndexProvider,
    Ingestor,
    MemoryReader,
    MemoryWriter,
    Network,
    OriginPolicy,
    PageReader,
    PluginContractError,
    PluginError,
    Progress,
    ProjectFinder,
    ProjectRules,
    Recaller,
    Reembedder,
    SettingsView,
    Similarity,
    VectorIndexProvider,
)
from cloxy_hookspecs.seats import (
    CHECKS,
    CHUNKERS,
    EXPANDERS,
    EXTRACTORS,
    FETCHERS,
    FUSERS,
    GUARDS,
    INDEXES,
    MIGRATIONS,
    OPERATIONS,
    ORIGINS,
    PARSERS,
    RERANKERS,
    SANITIZERS,
    SEATS,
    SIGNALS,
    SOURCES,
)

T = TypeVar("T")

TOMBSTONE_KEY = "tombstones.key"
IDLE_SECONDS = 60.0
NOTES = "notes"
NOTE = "note"
HTTP = "http"
HTTPS = "https"

log = logging.getLogger("cloxy.core")


class Engine:
    """One server's parts, from opening the database to closing it.

    Attributes:
        warnings: what plugins had to say while they were made.
    """

    def __init__(
        self,
        host: PluginHost,
        paths: DataDirectory,
        lock: DataDirectoryLock | None = None,
        clock: Clock | None = None,
        network: Network | None = None,
    ) -> None:
        """Open the database and put everything together; nothing runs yet.

        Args:
            host: plugins and settings.
            paths: the data directory.
            lock: its lock, already held; taken here when None.
            clock: the time; the machine's when None.
            network: names and addresses; the machine's when None.

        Raises:
            CloxyError: something that cannot be done without does not work.
        """
        self.host = host
        self.paths = paths
        self.clock = clock or SystemClock()
        self.workers = Workers()
        self._registry = host.registry
        self.store = Store.open(
            paths,
            self.clock,
            self.workers,
            self._registry.all(MIGRATIONS),
            lock=lock,
            upgrading=upgrade_helpers(log),
        )
        self.services = Services()
        parts = HostParts(host.settings, self.store, self.clock, paths, self.workers, self.services)
        self._parts = parts
        self.lifespan = Lifespan(
            self._registry.owner, parts.context, self.services, self._registry.problems
        )
        chunkers = self._registry.all(CHUNKERS)
        self.chunkers = dict(self.lifespan.create_all(chunkers))
        self.policies = {policy.name: policy for policy in self._registry.all(ORIGINS)}
        self.indexing = Indexing(self._channels(), self.store, self.clock)
        self.embedding = self._embedding()
        self.reembedding = Reembedding(
            self.embedding, self._embedders, self.store, host.settings.reread
        )
        self.tombstones = Tombstones(paths.data / TOMBSTONE_KEY)
        self.forgetter = Forgetter(self.indexing, self.tombstones, self.clock)
        self.memories = self._memories()
        self.reranking = self._reranking()
        self.recaller = self._recaller()
        self.hold = IngestHold(paths.data, self.store, self.tombstones)
        self._project_paths = ProjectResolver()
        self.ingest = self._ingest()
        self.ingest.eraser = self.memories.eraser
        self.rules = RuleService(
            self.store, self.ingest, self.memories, self.forgetter, self.clock, log
        )
        self.network = network or SystemNetwork()
        self._offer_ports()
        self.reader = self._reader()
        checks = dict(self.lifespan.create_all(self._registry.all(CHECKS)))
        vectors = VectorIdsCheck(self.store, self.indexing.feeds, self.indexing.drain)
        self.checks = Checks({**checks, "vector-ids": vectors}, log)
        self.health = self._health()
        self.operations = self._operations()
        self.warnings: Sequence[str] = ()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Finish what a crash left, then begin to watch, to check and to tidy up."""
        await self.ingest.restore()
        # So that it is told before the first pass, which asks again and is refused if this failed.
        with contextlib.suppress(CloxyError, OSError):
            await self.hold.settle()
        await WordFilling(self.store, self.indexing, log).finish()
        await self.embedding.settle()
        await self.indexing.catch_up()
        settings = self.host.settings
        if settings[WATCH]:
            watcher = Watcher(
                self.ingest,
                interval=settings[WATCH_INTERVAL],
                sweep=settings[WATCH_SWEEP],
                log=log,
                use_events=settings[WATCH_EVENTS],
            )
            self._run("watcher", watcher.run)
        self._run("vector index", self.indexing.run)
        self._run("embedder", self.embedding.run)
        if self.reranking.always:
            self._run("reranker", self.reranking.warm)
        self._run("checks", self.checks.run_forever)
        self._run("erasing", self.memories.eraser.run)
        self._run("retention", self.rules.run)
        self._run("checkpoints", self._checkpoint_when_idle)

    async def close(self) -> None:
        """End every task, close what plugins made, empty the log and release the directory."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self.embedding.close()
        await self.reader.aclose()
        await self.lifespan.aclose()
        await self.store.close()
        await self.workers.close()

    def problems(self) -> list[str]:
        """What does not work of the plugins, in words for `status`."""
        misnamed = [
            f"providers.disabled names {name!r}, but no enabled plugin brings such a part"
            for name in self._registry.unused_switches(SEATS)
        ]
        skipped = [
            f"plugin {plugin.name} ({plugin.state.value}): {plugin.reason}"
            for plugin in self.host.plugins
            if plugin.state not in (PluginState.LOADED, PluginState.DISABLED)
        ]
        problems = [
            f"plugin {problem.plugin}, {problem.where}: {problem.message}"
            for problem in self._registry.problems.all()
        ]
        return [*self.host.notes, *skipped, *misnamed, *problems, *self.warnings]

    def _run(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        async def guarded() -> None:
            try:
                await work()
            except asyncio.CancelledError:
                raise
            except Exception:
                # The server goes on without this part, and `status` and the log say so.
                log.exception("%s stopped", name)
                self.ingest.progress.last_error = f"{name} stopped; see the log, and restart"

        self._tasks.append(asyncio.create_task(guarded(), name=name))

    async def _checkpoint_when_idle(self) -> None:
        while True:
            await asyncio.sleep(IDLE_SECONDS)
            if not self.ingest.progress.scanning:
                # Too much waits to be written, or the disk is away: the next round tries again.
                with contextlib.suppress(CloxyError):
                    await self.store.checkpoint()

    def _channels(self) -> Sequence[Channel]:
        channels: list[Channel] = []
        for record in self._registry.keyed(INDEXES).values():
            # One that cannot be made is noted, and the others answer without it.
            with contextlib.suppress(PluginError):
                channels.append(self._channel(record))
        return channels

    def _channel(self, record: IndexProvider | VectorIndexProvider) -> Channel:
        if isinstance(record, CommitIndexProvider):
            return CommitChannel(record, self.lifespan.create(record))
        if isinstance(record, VectorIndexProvider):
            again = partial(record.create, self._parts.context(self._registry.owner(record)))
            return VectorChannel(record, self.lifespan.create(record), again)
        return AfterChannel(record, self.lifespan.create(record))

    def _embedding(self) -> EmbeddingService:
        settings = self.host.settings
        self._embedders = Embedders(self._registry, settings, self._context_with)
        service = EmbeddingService(
            choose_embedder(self._registry, settings, self.lifespan.create),
            settings,
            self.store,
            self.indexing,
            self.workers,
            self.clock,
            log,
            embedders=self._embedders,
        )
        service.has_room = self._has_room
        self.indexing.needs = service
        return service

    def _context_with(self, record: EmbedderProvider, settings: SettingsView) -> HostContext:
        """The context of the plugin of an embedder, with other settings than the server's."""
        parts = replace(self._parts, settings=settings)
        return parts.context(self._registry.owner(record))

    def _memories(self) -> MemoryService:
        self._policy(NOTE)  # without it nothing could be remembered
        notes = NoteWriter(
            _pick(self.chunkers, NOTES, "chunker"), self.policies, self.indexing, self.clock
        )
        eraser = Eraser(self.store, self.indexing.scrub, log)
        files = FileCleaner(self.host, self.paths, self.clock, self.workers)
        return MemoryService(self.store, self.indexing, notes, self.forgetter, eraser, files)

    def _recaller(self) -> RecallService:
        signals = [
            ActiveSignal(record, signal)
            for record in self._registry.all(SIGNALS)
            for _name, signal in self.lifespan.create_all([record])
        ]
        expanders = self._registry.all(EXPANDERS)
        fuser = self._registry.one(FUSERS)
        return RecallService(
            self.store,
            [expander for _name, expander in self.lifespan.create_all(expanders)],
            self.indexing.channels,
            self.lifespan.create(fuser),
            signals,
            Asking(
                self.embedding, self.indexing.trouble, self.indexing.failed, self.embedding.space
            ),
            self.reranking,
        )

    def _reranking(self) -> Reranking:
        record = self._registry.optional(RERANKERS)
        make = None if record is None else partial(self.lifespan.create, record)
        return Reranking(make, self.workers, log, always=self.host.settings[RERANK])

    def _ingest(self) -> IngestService:
        parser_records = self._registry.all(PARSERS)
        parsers = dict(self.lifespan.create_all(parser_records))
        resolver = self._project_paths
        readers = [
            Reader(
                Feed(
                    plugin=record.name,
                    agent=record.agent,
                    parser=record.parser,
                    policy=self._policy(record.origin),
                    chunker=_pick(self.chunkers, record.chunker, "chunker"),
                ),
                source,
                _pick(parsers, record.parser, "parser"),
                resolver.resolve,
            )
            for record in self._registry.all(SOURCES)
            for _name, source in self.lifespan.create_all([record])
        ]
        service = IngestService(
            readers,
            self.store,
            TranscriptWriter(self.indexing, self.tombstones, self.clock),
            self.indexing,
            self.workers,
            self.clock,
            log,
        )
        service.has_room = self._may_read
        service.held = self.hold.warnings
        service.read_in = Covering(self.store, self.indexing, self.clock).settle
        return service

    async def _may_read(self) -> str | None:
        """Why no session log may be read, or None.

        Raises:
            StoreError: they are held back, or it cannot be told whether they are.
        """
        await self.hold.require()
        return await self._has_room()

    async def _has_room(self) -> str | None:
        """Why no more session logs may be taken in, or None."""
        space = await self.workers.run("io", lambda: room(self.paths.data))
        return None if space.ingest else "; ".join(space.warnings())

    def _policy(self, origin: str) -> OriginPolicy:
        return _pick(self.policies, origin, "origin")

    def _offer_ports(self) -> None:
        self.services.offer(Recaller, lambda: self.recaller)
        self.services.offer(MemoryReader, lambda: self.memories)
        self.services.offer(MemoryWriter, lambda: self.memories)
        self.services.offer(Ingestor, lambda: self.ingest)
        self.services.offer(ProjectRules, lambda: self.rules)
        self.services.offer(Reembedder, lambda: self.reembedding)
        self.services.offer(DateReader, Dates)
        self.services.offer(Progress, DoorProgress)
        self.services.offer(HealthReader, lambda: self.health)
        self.services.offer(ArchiveReader, lambda: Archive(self.store))
        self.services.offer(Fence, DataFence)
        finder = StoredProjects(self.store, self._project_paths.resolve)
        self.services.offer(ProjectFinder, lambda: finder)
        self.services.offer(Caller, DoorCaller)
        self.services.offer(Network, lambda: self.network)
        self.services.offer(Similarity, lambda: self.embedding)
        self.services.offer(PageReader, lambda: self.reader)

    def _reader(self) -> WebReader:
        settings = self.host.settings
        guards = self.lifespan.create_all(self._registry.all(GUARDS))
        fetchers = {
            scheme: self.lifespan.create(record)
            for record in self._registry.keyed(FETCHERS).values()
            for scheme in ((HTTP, HTTPS) if record.scheme == HTTP else (record.scheme,))
        }
        return WebReader(
            self.network,
            [guard for _name, guard in guards],
            fetchers,
            Extraction(self._registry.all(SANITIZERS), self._registry.all(EXTRACTORS), log),
            Rules(settings[USER_AGENT], settings[FETCH_DEADLINE], follows_robots=settings[ROBOTS]),
            self.clock,
        )

    def _health(self) -> HealthService:
        return HealthService(
            self.store,
            self.memories,
            self.ingest,
            self.embedding,
            self.indexing,
            self.checks,
            self.clock,
            ServerFacts(pid=os.getpid()),
            self.problems,
        )

    def _operations(self) -> Sequence[Operation]:
        gates = Gates()
        return [
            Operation(record, call, gates.of(record))
            for record in self._registry.all(OPERATIONS)
            for _name, call in self.lifespan.create_all([record])
        ]


def _pick(choices: Mapping[str, T], name: str, kind: str) -> T:
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
