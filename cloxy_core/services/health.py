"""How the server is: checks that run behind it, and what `/health` says."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from logging import Logger

from cloxy_core import __version__
from cloxy_core.runtime.memory import give_back_memory
from cloxy_core.services.embedding.service import EmbeddingService
from cloxy_core.services.embedding.status import EmbeddingStatus
from cloxy_core.services.indexing import Indexing
from cloxy_core.store.engine import Store
from cloxy_core.store.facts import StoreFacts
from cloxy_core.store.legacy.report import UpgradeReport, read_report
from cloxy_hookspecs import (
    BackendStatus,
    Check,
    Clock,
    CloxyError,
    Finding,
    Ingestor,
    IntegrityError,
    MemoryReader,
)

FIRST_CHECK_SECONDS = 120.0
CHECK_SECONDS = 6 * 3600.0
UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What does not change while the server runs; an engine without one has no port.

    Attributes:
        host: address that it listens on.
        port: port that it listens on.
        has_key: whether it wants a key.
        pid: its process.
        logs: folder of its logs.
        watches: whether its watcher is meant to run.
    """

    host: str = ""
    port: int = 0
    has_key: bool = False
    pid: int = 0
    logs: str = ""
    watches: bool = False


class Checks:
    """Runs checks now and then, and keeps what they found."""

    def __init__(self, checks: Mapping[str, Check], log: Logger) -> None:
        self._checks = dict(checks)
        self._found: dict[str, Sequence[Finding]] = {}
        self._log = log

    async def run_forever(self) -> None:
        """Run all checks soon after start, then every few hours; cancel to stop."""
        await asyncio.sleep(FIRST_CHECK_SECONDS)
        while True:
            await self.run()
            await asyncio.sleep(CHECK_SECONDS)

    async def run(self) -> None:
        """Run all checks once; one that cannot finish says so."""
        for name, check in self._checks.items():
            try:
                found = await check.run()
            except IntegrityError as error:
                found = [Finding("error", str(error))]
            except CloxyError as error:
                # The store was busy or away: nothing is known, which is not the same as damage.
                found = [Finding("warning", f"the check did not finish: {error}")]
            for finding in found:
                if finding.severity != "ok":
                    self._log.warning("check %s: %s", name, finding.message)
            self._found[name] = found
        # A look at every page of a great database leaves much behind.
        give_back_memory()

    def results(self) -> list[dict[str, str]]:
        """All findings; what has not been looked at yet says so."""
        return [
            {"name": name, "severity": severity, "message": message}
            for name in self._checks
            for severity, message in self._of(name)
        ]

    def healthy(self) -> bool:
        """Whether no check found an error."""
        return not any(f.severity == "error" for found in self._found.values() for f in found)

    def _of(self, name: str) -> Sequence[tuple[str, str]]:
        if name not in self._found:
            return [(UNCHECKED, "has not run yet")]
        return [(finding.severity, finding.message) for finding in self._found[name]]


class HealthService:
    """The body of `/health`; implements `HealthReader`.

    Attributes:
        server: the server around it, which sets this.
    """

    def __init__(
        self,
        store: Store,
        memories: MemoryReader,
        ingest: Ingestor,
        embedding: EmbeddingService,
        indexing: Indexing,
        checks: Checks,
        clock: Clock,
        server: ServerFacts,
        notes: Callable[[], Sequence[str]],
        sources: Callable[[], Sequence[Mapping[str, object]]],
        llm: Callable[[], BackendStatus | None] = lambda: None,
    ) -> None:
        self._store = store
        self._memories = memories
        self._ingest = ingest
        self._embedding = embedding
        self._indexing = indexing
        self._checks = checks
        self._clock = clock
        self.server = server
        self._notes = notes
        self._sources = sources
        self._llm = llm
        self._began = clock.now_ms()

    async def report(self) -> Mapping[str, object]:
        """How the server is; `status` is OK unless something is broken."""
        cause: str | None = None
        total: int | None = None
        embedding: EmbeddingStatus | None = None
        vectors = 0
        upgrade: UpgradeReport | None = None
        try:
            total = await self._memories.total()
            embedding = await self._embedding.status()
            vectors = await self._indexing.vectors()
            upgrade = await self._store.read(read_report)
        except CloxyError as error:
            cause = str(error)
        watch = await self._ingest.status()
        llm = self._llm()
        facts = self._store.facts()
        if cause is None and not self._checks.healthy():
            cause = "a check found damage; see checks, and run `cloxy doctor`"
        if cause is None and self.server.watches and not watch.running:
            cause = "the watcher has stopped, so nothing new is read; restart the server"
        return {
            "status": "OK" if cause is None else "ERROR",
            "cause": cause,
            "ready": cause is None,
            "service": "cloxy",
            "version": __version__,
            # A clock that was set back must not show a server from the future.
            "uptime": max(0, self._clock.now_ms() - self._began) // 1000,
            "cache_size": 0,
            "memories": total,
            "vector_index_size": vectors,
            "embed_model": self._embedding.model,
            "embedding": None if embedding is None else asdict(embedding),
            "llm": None if llm is None else asdict(llm),
            "auth": "enabled" if self.server.has_key else "disabled",
            "host": self.server.host,
            "port": self.server.port,
            "pid": self.server.pid,
            "logs": self.server.logs,
            "watcher": {
                "running": watch.running,
                "dirs": list(watch.dirs),
                "scans": watch.scans,
                "last_scan_at": _iso(watch.last_scan_at),
            },
            "sources": self._sources(),
            "store": _store(facts, upgrade),
            "checks": self._checks.results(),
            "warnings": [
                *self._notes(),
                *facts.warnings,
                *watch.warnings,
                *_embedding_warnings(embedding),
                *_llm_warnings(llm),
                *self._indexing.failures(),
            ],
            "timestamp": self._clock.now().isoformat(),
        }


def _embedding_warnings(status: EmbeddingStatus | None) -> Sequence[str]:
    """What somebody should do something about; a pause or a model that loads passes by itself."""
    if status is None or status.reason is None:
        return ()
    told = status.state in ("failed", "ready") or (status.state == "off" and status.provider)
    return (f"meaning: {status.reason}",) if told else ()


def _llm_warnings(status: BackendStatus | None) -> Sequence[str]:
    """That conversations leave this machine, and why the language model cannot answer."""
    if status is None:
        return ()
    words = [] if status.trouble is None else [f"language model: {status.trouble}"]
    if status.remote:
        words.insert(
            0,
            f"conversations leave this machine: {status.name} asks {status.place}"
            f" ({status.sent_away:,} did since the start)",
        )
    return words


def _store(facts: StoreFacts, upgrade: UpgradeReport | None) -> dict[str, object]:
    backups = facts.path.with_name("backups")
    return {
        "path": str(facts.path),
        "bytes": facts.size,
        "log_bytes": facts.log_size,
        "sqlite": facts.library.version_text,
        "safe_mode": facts.safe_mode,
        "free_bytes": facts.free,
        "waiting_writes": facts.waiting_writes,
        **({} if upgrade is None else {"upgraded": upgrade.words(backups)}),
    }


def _iso(at: int | None) -> str | None:
    if at is None:
        return None
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)).isoformat()
