"""One space in use: its embedder behind its thread, and what gives its passages their vectors."""

from logging import Logger

from cloxy_core.runtime.memory import give_back_memory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.embedding.choosing import Chosen
from cloxy_core.services.embedding.filling import Filling
from cloxy_core.services.embedding.making import close_embedder
from cloxy_core.services.embedding.model import THREAD, Model
from cloxy_core.services.indexing import Indexing
from cloxy_hookspecs import EmbedderInfo, StorePort


class Side:
    """A space of this database, and the model that embeds for it.

    Attributes:
        chosen: the embedder.
        provider: name of its record.
        info: what the embedder is.
        model: the embedder behind its thread.
        filling: fills the space.
        space_id: the space in the store.
        loaded: whether the model has been loaded.
    """

    def __init__(
        self,
        space_id: int,
        chosen: Chosen,
        store: StorePort,
        indexing: Indexing,
        workers: Workers,
        log: Logger,
        *,
        beside: bool = False,
    ) -> None:
        """Load nothing.

        Args:
            space_id: the space.
            chosen: an embedder that was made.
            store: the database.
            indexing: is told of vectors.
            workers: `model` runs the embedder.
            log: for what is not told elsewhere.
            beside: whether another space is the active one.
        """
        assert chosen.embedder is not None
        assert chosen.info is not None
        self.chosen = chosen
        self.provider = chosen.provider
        self.info: EmbedderInfo = chosen.info
        self.space_id = space_id
        self.model = Model(chosen.embedder, chosen.info, workers)
        self.filling = Filling(
            space_id, chosen.info.characters, self.model, store, indexing, log, told=not beside
        )
        self.loaded = False
        self._embedder = chosen.embedder
        self._workers = workers

    async def load(self, thread: str = THREAD) -> None:
        """Load the model if need be.

        Args:
            thread: where; a model that may be downloaded must not hold questions up.

        Raises:
            CloxyError: it cannot be used.
        """
        if not self.loaded:
            await self.model.load(thread)
            self.loaded = True

    async def let_go(self) -> None:
        """Give the model's memory back, once no call is under way."""
        self.loaded = False
        await self._workers.run(THREAD, self._let_go, urgent=True)

    def _let_go(self) -> None:
        close_embedder(self._embedder)
        give_back_memory()
