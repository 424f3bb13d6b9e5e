"""Everything of one running server but its HTTP surface, put together from the seats."""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence

from cloxy_core.assembly.base import Base, log
from cloxy_core.assembly.doors import make_endpoints, make_operations
from cloxy_core.assembly.indexes import make_channels, make_embedding
from cloxy_core.assembly.log_reading import make_catalogue, make_conversations, make_ingest
from cloxy_core.assembly.recalling import make_recaller, make_reranking
from cloxy_core.assembly.web import make_reader
from cloxy_core.assembly.writing import TOMBSTONE_KEY, Choices, make_memories
from cloxy_core.core_settings import (
    LLM_CONFIG,
    MODEL_FILE,
    WATCH,
    WATCH_EVENTS,
    WATCH_INTERVAL,
    WATCH_SWEEP,
)
from cloxy_core.kernel.host import PluginHost
from cloxy_core.kernel.plugin_state import PluginState
from cloxy_core.runtime.lock import DataDirectoryLock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.services.dates import Dates
from cloxy_core.services.embedding.making import Embedders
from cloxy_core.services.embedding.reembedding import Reembedding
from cloxy_core.services.embedding.texts import TextVectors
from cloxy_core.services.fencing import DataFence
from cloxy_core.services.health import Checks, HealthService, ServerFacts
from cloxy_core.services.holding import IngestHold
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.ingest.watcher import Watcher
from cloxy_core.services.llm.choosing import ChoiceFile
from cloxy_core.services.llm.making import make_router
from cloxy_core.services.logs.copies import COPIES, remove_copies
from cloxy_core.services.logs.reader import Logs
from cloxy_core.services.project_finder import StoredProjects
from cloxy_core.services.projects import ProjectResolver
from cloxy_core.services.reading import Archive
from cloxy_core.services.retention.service import RuleService
from cloxy_core.services.upgrade.words import WordFilling
from cloxy_core.services.vector_check import VectorIdsCheck
from cloxy_core.services.web.network import SystemNetwork
from cloxy_core.services.write.forgetting import Forgetter
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_core.surfaces.caller import DoorCaller
from cloxy_core.surfaces.progress import DoorProgress
from cloxy_hookspecs import (
    ArchiveReader,
    Caller,
    Clock,
    CloxyError,
    DateReader,
    Fence,
    HealthReader,
    Ingestor,
    LLMRouter,
    LogReader,
    MemoryReader,
    MemoryWriter,
    ModelChoices,
    Network,
    PageReader,
    Progress,
    ProjectFinder,
    ProjectRules,
    Recaller,
    Reembedder,
    Similarity,
    SourceCatalogue,
    TextEmbedder,
    TranscriptKeeper,
)
from cloxy_hookspecs.seats import CHECKS, LLMS, SEATS

IDLE_SECONDS = 60.0


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
        base = Base.open(host, paths, lock, clock)
        self.base = base
        self.host = host
        self.paths = paths
        self.clock = base.clock
        self.workers = base.workers
        self.store = base.store
        self.services = base.services
        self.lifespan = base.lifespan
        choices = Choices.of(base)
        self.chunkers = choices.chunkers
        self.policies = choices.policies
        self.indexing = Indexing(make_channels(base), self.store, self.clock)
        embedders = Embedders(base.registry, base.settings, base.context)
        self.embedding = make_embedding(base, self.indexing, embedders)
        self.reembedding = Reembedding(self.embedding, embedders, self.store, base.settings.reread)
        self.tombstones = Tombstones(paths.data / TOMBSTONE_KEY)
        self.forgetter = Forgetter(self.indexing, self.tombstones, self.clock)
        self.memories = make_memories(base, choices, self.indexing, self.forgetter)
        self.reranking = make_reranking(base)
        self.recaller = make_recaller(base, self.indexing, self.embedding, self.reranking)
        self.hold = IngestHold(paths.data, self.store, self.tombstones)
        projects = ProjectResolver()
        self.logs = Logs(paths.data / COPIES)
        remove_copies(paths.data / COPIES)
        self.services.offer(LogReader, lambda: self.logs)
        self.ingest = make_ingest(base, choices, self.indexing, self.tombstones, projects)
        self.ingest.eraser = self.memories.eraser
        self.ingest.look_round = self._look_round
        self.ingest.has_room = self._may_read
        self.ingest.held = self.hold.warnings
        self.catalogue = make_catalogue(base, self.ingest)
        self.conversations = make_conversations(
            base, choices, self.indexing, self.tombstones, projects, self._may_read
        )
        self.rules = RuleService(
            self.store, self.ingest, self.memories, self.forgetter, self.clock, log
        )
        self.models = ChoiceFile(base.settings[LLM_CONFIG] or paths.data / MODEL_FILE)
        self.llm = make_router(
            base.registry.all(LLMS), base.settings, self.models, self.lifespan.create
        )
        self.network = network or SystemNetwork()
        self._offer_ports(projects)
        self.reader = make_reader(base, self.network)
        checks = dict(self.lifespan.create_all(base.registry.all(CHECKS)))
        vectors = VectorIdsCheck(self.store, self.indexing.feeds, self.indexing.drain)
        self.checks = Checks({**checks, "vector-ids": vectors}, log)
        self.health = self._health()
        self.operations = make_operations(base)
        self.endpoints = make_endpoints(base)
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
        self._run("language model", self.llm.warm)
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
        await self.llm.aclose()
        await self.embedding.close()
        await self.reader.aclose()
        await self.lifespan.aclose()
        await self.store.close()
        await self.workers.close()

    def problems(self) -> list[str]:
        """What does not work of the plugins, in words for `status`."""
        misnamed = [
            f"providers.disabled names {name!r}, but no enabled plugin brings such a part"
            for name in self.host.registry.unused_switches(SEATS)
        ]
        skipped = [
            f"plugin {plugin.name} ({plugin.state.value}): {plugin.reason}"
            for plugin in self.host.plugins
            if plugin.state not in (PluginState.LOADED, PluginState.DISABLED)
        ]
        problems = [
            f"plugin {problem.plugin}, {problem.where}: {problem.message}"
            for problem in self.host.registry.problems.all()
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

    async def _look_round(self) -> None:
        await self.store.read(self.logs.look_round)

    async def _may_read(self) -> str | None:
        """Why no session log may be read, or None.

        Raises:
            StoreError: they are held back, or it cannot be told whether they are.
        """
        await self.hold.require()
        return await self.base.no_room()

    def _offer_ports(self, projects: ProjectResolver) -> None:
        self.services.offer(Recaller, lambda: self.recaller)
        self.services.offer(MemoryReader, lambda: self.memories)
        self.services.offer(MemoryWriter, lambda: self.memories)
        self.services.offer(Ingestor, lambda: self.ingest)
        self.services.offer(SourceCatalogue, lambda: self.catalogue)
        self.services.offer(ProjectRules, lambda: self.rules)
        self.services.offer(Reembedder, lambda: self.reembedding)
        self.services.offer(DateReader, Dates)
        self.services.offer(Progress, DoorProgress)
        self.services.offer(HealthReader, lambda: self.health)
        self.services.offer(ArchiveReader, lambda: Archive(self.store))
        self.services.offer(Fence, DataFence)
        finder = StoredProjects(self.store, projects.resolve)
        self.services.offer(ProjectFinder, lambda: finder)
        self.services.offer(Caller, DoorCaller)
        self.services.offer(Network, lambda: self.network)
        self.services.offer(Similarity, lambda: self.embedding)
        self.services.offer(PageReader, lambda: self.reader)
        self.services.offer(ModelChoices, lambda: self.models)
        self.services.offer(LLMRouter, lambda: self.llm)
        texts = TextVectors(self.embedding)
        self.services.offer(TextEmbedder, lambda: texts)
        if self.conversations is not None:
            keeper = self.conversations
            self.services.offer(TranscriptKeeper, lambda: keeper)

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
            self.catalogue.section,
            self.llm.status,
        )
