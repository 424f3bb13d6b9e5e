"""A recall service over a real store, filled through the real writer."""

import asyncio
import itertools
import logging

import pytest

from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.indexing import CommitChannel, Indexing
from cloxy_core.services.recall.meaning import Asking
from cloxy_core.services.recall.ranking import ActiveSignal
from cloxy_core.services.recall.reranking import Reranking
from cloxy_core.services.recall.service import RecallService
from cloxy_core.services.write.batch import Cursor, Feed, FileBatch
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_core.services.write.transcripts import TranscriptWriter
from cloxy_core.store.core_migrations import CORE_MIGRATIONS
from cloxy_core.store.engine import Store
from cloxy_hookspecs import Message, OriginPolicy, Query, SessionFacts
from cloxy_plugins.chunking.messages import MessageChunker
from cloxy_plugins.expansion.plugin import cloxy_expanders
from cloxy_plugins.fts5.index import KeywordIndex
from cloxy_plugins.fts5.plugin import cloxy_indexes, cloxy_migrations
from cloxy_plugins.ranking.plugin import cloxy_fusers, cloxy_signals

NOW = 1_790_000_000_000
DAY = 86_400_000
POLICY = OriginPolicy(
    name="transcript", kind="episodic", tier="working", immutable=True, deduplicates=False
)


class NoMeaning:
    """No embedder, by choice."""

    info = None
    wanted = False

    async def query_vector(self, text):
        raise AssertionError("nobody embeds without an embedder")

    def trouble(self):
        return "embed.provider is none"


class World:
    """Says things in sessions and asks about them."""

    def __init__(self, folder):
        self._numbers = itertools.count(1)
        self._runner = asyncio.Runner()
        self.workers = Workers()
        self.index_failures = []
        self._runner.run(self._open(folder))

    async def _open(self, folder):
        clock = SystemClock()
        migrations = [*CORE_MIGRATIONS, *cloxy_migrations()]
        self.store = Store.open(
            DataDirectory.open(folder / "data"), clock, self.workers, migrations
        )
        record = next(iter(cloxy_indexes()))
        self.channels = [CommitChannel(record, KeywordIndex(self.store, 5.0))]
        indexing = Indexing(self.channels, self.store, clock)
        self._writer = TranscriptWriter(indexing, Tombstones(folder / "key"), clock)
        self.use()

    def use(
        self, fuser="weighted", channels=None, meaning=None, index_trouble=None, reranking=None
    ):
        self.service = RecallService(
            self.store,
            [record.create(None) for record in cloxy_expanders()],
            self.channels if channels is None else channels,
            next(record.create(None) for record in cloxy_fusers() if record.name == fuser),
            [ActiveSignal(record, record.create(None)) for record in cloxy_signals()],
            Asking(
                meaning or NoMeaning(),
                lambda _channel: index_trouble,
                lambda channel, error: self.index_failures.append((channel, error)),
            ),
            reranking or self.reranking(None),
        )

    def reranking(self, make, *, always=False, **more):
        return Reranking(make, self.workers, logging.getLogger("test"), always=always, **more)

    def say(
        self, *texts, session="s1", project="/src/app", parent=None, title=None, at=NOW, **more
    ):
        """Messages of one session, a second apart; `uids` names them."""
        uids = more.pop("uids", None) or [f"m{next(self._numbers)}" for _ in texts]
        messages = [
            Message(
                uid=uid,
                session=session,
                role=more.get("role", "user"),
                author=more.get("author", "human"),
                text=text,
                at=None if at is None else at + 1000 * place,
                start=place,
                end=place + 1,
            )
            for place, (uid, text) in enumerate(zip(uids, texts, strict=True))
        ]
        batch = FileBatch(
            Feed("test", "test", "test", POLICY, MessageChunker()),
            Cursor(f"/logs/{session}/{next(self._numbers)}", session, 0, 0, 0),
            messages,
            {session: SessionFacts(key=session, parent=parent, title=title)},
            {session: project} if project else {},
        )
        self.write(lambda connection: self._writer.apply(connection, [batch]))

    def write(self, work):
        return self._runner.run(self.store.write(work))

    def read(self, work):
        return self._runner.run(self.store.read(work))

    def write_from_a_thread(self, work):
        """While a recall runs, from a thread that it waits for."""
        loop = self._runner.get_loop()
        asyncio.run_coroutine_threadsafe(self.store.write(work), loop).result()

    def recall(self, text, **more):
        return self.do(self.service.recall(self.question(text, **more)))

    def question(self, text, **more):
        return Query(text=text, **({"top_k": 5, "now": NOW} | more))

    def do(self, work):
        return self._runner.run(work)

    def texts(self, text, **more):
        answer = self.recall(text, **{"group": "passage"} | more)
        return [hit.passages[0].text for hit in answer.hits]

    def close(self):
        self._runner.run(self.store.close())
        self.workers.close_blocking()
        self._runner.close()


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    yield made
    made.close()
