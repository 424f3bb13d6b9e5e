"""The embedding: passages get their vectors behind everything else, questions at once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from logging import Logger

from cloxy_core.kernel.settings import Settings
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.embedding.checking import cosine
from cloxy_core.services.embedding.choosing import Chosen
from cloxy_core.services.embedding.filling import Filling
from cloxy_core.services.embedding.making import Embedders
from cloxy_core.services.embedding.moving import Moving, Tell
from cloxy_core.services.embedding.power import Pauses
from cloxy_core.services.embedding.settling import Spaces
from cloxy_core.services.embedding.side import Side
from cloxy_core.services.embedding.spaces import (
    DORMANT,
    LEAVING,
    StoredSpace,
    has_leaving,
    remove_leaving,
)
from cloxy_core.services.embedding.status import EmbeddingStatus, State, read_spaces
from cloxy_core.services.indexing import Indexing
from cloxy_hookspecs import (
    Clock,
    CloxyError,
    EmbeddingSpace,
    Float32Vector,
    ModelMissingError,
    StoreError,
    StorePort,
)

RETRY_SECONDS = 60.0
STORE_SECONDS = 5.0
PAUSE_SECONDS = 30.0
ANSWER_SECONDS = 5.0
"""How long a question waits for its vector; then it is searched for by its words."""
LOADING = "the model is still loading"
MOVING = "the vectors are being made anew with another model, and the former one is not here"


class EmbeddingService:
    """Vectors of passages and questions; keyword search goes on without it.

    Attributes:
        info: what the embedder is; None without one.
        has_room: why nothing more may be stored, or None; asked before every step.
    """

    def __init__(
        self,
        chosen: Chosen,
        settings: Settings,
        store: StorePort,
        indexing: Indexing,
        workers: Workers,
        clock: Clock,
        log: Logger,
        pauses: Pauses | None = None,
        embedders: Embedders | None = None,
    ) -> None:
        """Do nothing yet.

        Args:
            chosen: the embedder.
            settings: of the core.
            store: the database.
            indexing: is told of every vector.
            workers: `model` runs the embedder, `io` looks at the battery.
            clock: the time.
            log: for what is not told elsewhere.
            pauses: say when passages wait; by default as the settings and the machine say.
            embedders: make the embedders of other spaces; by default there are none.
        """
        self.info = chosen.info
        self.has_room: Callable[[], Awaitable[str | None]] | None = None
        self._chosen = chosen
        self._spaces = Spaces(store, settings, clock)
        self._store = store
        self._indexing = indexing
        self._workers = workers
        self._log = log
        self._embedders = embedders
        self._pauses = pauses or Pauses(settings)
        self._side: Side | None = None
        self._settled = False
        self._state: State = "off" if chosen.info is None else "loading"
        self._reason = chosen.trouble if chosen.info is None else LOADING
        self._retry_after = 0.0
        self._woken = asyncio.Event()
        self._tidied = False
        self._leaving: asyncio.Task[None] | None = None
        self.moving = Moving(self._side_beside, store, indexing, clock, log, self._taken)
        self.moving.pause = self._pause

    @property
    def wanted(self) -> bool:
        """Whether the settings ask for an embedder at all."""
        return bool(self._chosen.provider)

    @property
    def model(self) -> str:
        """Name of the model; empty without one."""
        return "" if self.info is None else self.info.space.model

    def space(self) -> int | None:
        """Id of the space that questions are embedded for; None without one."""
        return None if self._side is None else self._side.space_id

    @property
    def chosen(self) -> Chosen:
        """The embedder that the settings asked for at the start, or the one that took over."""
        return self._chosen

    @property
    def filling(self) -> Filling | None:
        """What fills the active space."""
        return None if self._side is None else self._side.filling

    @property
    def active(self) -> EmbeddingSpace | None:
        """The space that questions are embedded for."""
        return None if self._side is None else self._side.info.space

    async def settle(self) -> None:
        """Make sure that there is one space for everything, before anything is embedded.

        A store that cannot be written now is tried again by `run`.

        Raises:
            EmbeddingSpaceMismatchError: the settings ask for another space than that of the
                stored vectors.
        """
        try:
            await self._settle()
        except StoreError as error:
            self._set("paused", str(error))

    async def run(self) -> None:
        """Load the model, fill, and wait for more; cancel to stop."""
        while True:
            try:
                await self._work()
                await self._woken.wait()
                self._woken.clear()
            except StoreError as error:
                # Full, busy or away: it goes on by itself.
                self._set("paused", str(error))
                await asyncio.sleep(STORE_SECONDS)
            except Exception as error:
                self._fail(error)
                if self._side is None:
                    # Otherwise it is the load of the model that waits.
                    await asyncio.sleep(self._retry_after)

    def wake(self) -> None:
        """There may be new passages."""
        for filling in self._fillings():
            filling.grown()
        self._wake()

    def missing(self, passage_ids: Sequence[int]) -> None:
        """These passages have no vector in a space that they should have one in."""
        if passage_ids:
            for filling in self._fillings():
                filling.missing(passage_ids)
            self._wake()

    def look_again(self) -> None:
        """Any passage may be without a vector."""
        for filling in self._fillings():
            filling.look_again()
        self._wake()

    async def query_vector(self, text: str) -> "Float32Vector | None":
        """The vector of a question, before everything that waits.

        Returns:
            None while there is no loaded model, as `trouble` says, and when too many questions
            wait for it or it takes too long.
        """
        side = self._side
        if side is None or not side.loaded:
            return None
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await side.model.question(text)
        except (StoreError, TimeoutError):
            return None
        except CloxyError as error:
            if side is not self._side:
                return None
            self._fail(error)
            if not isinstance(error, ModelMissingError):
                # Whether it is the model or this question is seen at the next look, now.
                self._retry_after = 0.0
            self._woken.set()
            return None

    async def similarities(self, text: str, passages: Sequence[str]) -> Sequence[float] | None:
        """A cosine for each passage, behind the questions that wait; None without a loaded model.

        Raises:
            CloxyError: the model cannot be used.
        """
        side = self._side
        vector = await self.query_vector(text)
        if vector is None or side is not self._side:
            return None
        made = await self.passage_vectors(passages)
        return None if made is None else [cosine(vector, each) for each in made]

    async def passage_vectors(self, texts: Sequence[str]) -> Sequence[bytes] | None:
        """A vector for each text, as stored, behind the questions that wait.

        Returns:
            None without a loaded model, as `trouble` says.

        Raises:
            CloxyError: the model cannot be used, or not for one of the texts.
        """
        side = self._side
        if side is None or not side.loaded:
            return None
        made = await side.model.passages(texts)
        refused = next((each for each in made if not isinstance(each, bytes)), None)
        if refused is not None:
            raise refused
        return [each for each in made if isinstance(each, bytes)]

    def trouble(self) -> str | None:
        """Why questions cannot be embedded now, in words; None when they can."""
        return None if self._is_loaded else self._reason

    async def status(self) -> EmbeddingStatus:
        """How it is."""
        space = self.info.space if self.info is not None else None
        side = self._side
        spaces = await self._store.read(read_spaces)
        status = partial(
            EmbeddingStatus,
            provider=self._chosen.provider if side is None else side.provider,
            model=self.model,
            space=space.fingerprint if space is not None else "",
            state=self._state,
            spaces=spaces,
        )
        if side is None:
            return status(reason=self._reason)
        embedded, backlog, failed = await side.filling.figures()
        rate = side.filling.rate.per_second()
        others = any(each.vectors and each.state in (DORMANT, LEAVING) for each in spaces)
        return status(
            reason=self._reason or self._notice(failed, side, replacing=bool(others and backlog)),
            embedded=embedded,
            backlog=backlog,
            failed=failed,
            rate_per_second=rate,
            eta_seconds=backlog / rate if self._state == "ready" and backlog and rate else None,
        )

    async def fill(self, progress: Tell | None = None) -> int:
        """Embed everything now, whatever the battery says, and remove vectors that leave.

        Args:
            progress: is told after every step.

        Returns:
            How many passages got a vector.

        Raises:
            CloxyError: the model or the store cannot be used; what was done stays.
        """
        await self._settle()
        side = self._side
        if side is None:
            raise ModelMissingError(self.trouble() or "there is no embedder")
        self._retry_after = 0.0
        await self._ensure_loaded(side)
        _embedded, total, _failed = await side.filling.figures()
        done = 0
        while (count := await side.filling.step()) is not None:
            done += count
            if progress is not None:
                progress(done, max(total, done))
        await self._tidy()
        return done

    async def tidy(self) -> None:
        """Remove the vectors of spaces that leave, in small steps."""
        self._tidied = False
        await self._tidy()

    def tidy_soon(self) -> None:
        """Some space leaves: its vectors are removed behind everything else."""
        self._tidied = False
        self._woken.set()

    async def close(self) -> None:
        """Wait until the embedder is not in use; no call follows when `run` has ended."""
        await self.moving.stop()
        if self._leaving is not None:
            await self._leaving
        if self._side is not None:
            self._side.loaded = False
            await self._side.model.idle()

    @property
    def _is_loaded(self) -> bool:
        return self._side is not None and self._side.loaded

    def _fillings(self) -> Sequence[Filling]:
        own = [] if self._side is None else [self._side.filling]
        return [*own, *self.moving.fillings()]

    def _wake(self) -> None:
        if self._side is not None:
            self._woken.set()
        self.moving.wake()

    async def _settle(self) -> None:
        if self._settled or self._chosen.info is None:
            return
        settled = await self._spaces.settle(self._chosen, self._at_hand)
        if settled.active is not None and settled.embedder is not None:
            self._use(settled.active, settled.embedder)
        elif settled.filling is not None:
            self._set("paused", MOVING)
        if settled.filling is not None:
            self.moving.go_on(settled.filling, self._chosen)
        self._settled = True

    async def _at_hand(self, space: EmbeddingSpace, fetch: bool) -> Chosen | None:
        """The embedder of a stored space, where its model is here or may be fetched."""
        if self._chosen.info is not None and self._chosen.info.space == space:
            return self._chosen
        if self._embedders is None:
            return None
        return await self._workers.run("io", partial(self._embedders.of_space, space, fetch=fetch))

    def _use(self, stored: StoredSpace, chosen: Chosen) -> None:
        """Ask questions in a space from now on."""
        self._side = Side(stored.id, chosen, self._store, self._indexing, self._workers, self._log)
        self.info = chosen.info

    def _side_beside(self, space_id: int, chosen: Chosen) -> Side:
        return Side(
            space_id,
            chosen,
            self._store,
            self._indexing,
            self._workers,
            self._log,
            beside=True,
        )

    def _taken(self, side: Side) -> None:
        """Another space is the active one, and its indexes answer: this is its model."""
        former, self._side = self._side, side
        self.info, self._chosen = side.info, side.chosen
        self._retry_after = 0.0
        self._set("ready", None)
        self.tidy_soon()
        if former is not None:
            self._leaving = asyncio.create_task(self._let_go(former))

    async def _let_go(self, side: Side) -> None:
        # At the end of the server the threads take no more work, and the memory goes anyway.
        with suppress(StoreError):
            await side.let_go()

    async def _work(self) -> None:
        """Everything that there is to do now."""
        if not self._settled and self._chosen.info is not None:
            await self._settle()
            # An index that was built meanwhile holds vectors of the former space.
            # One that cannot be built says so by itself, and is built again later.
            with suppress(Exception):
                await self._indexing.renew()
        while (side := self._side) is not None:
            await self._ensure_loaded(side)
            if not await side.filling.look():
                break
            if (reason := await self._pause()) is not None:
                self._set("paused", reason)
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            await side.filling.step()
            # A pause is over when something was done, not when it is tried.
            self._tell_ready()
        self._tell_ready()
        await self._tidy()

    def _tell_ready(self) -> None:
        if self._is_loaded:
            self._set("ready", None)

    async def _ensure_loaded(self, side: Side) -> None:
        if not side.loaded:
            await asyncio.sleep(self._retry_after)
            await side.load()
            self._retry_after = 0.0
            self._tell_ready()

    async def _pause(self) -> str | None:
        if self.has_room is not None and (reason := await self.has_room()) is not None:
            return reason
        if self._pauses.known:
            return self._pauses.reason()
        return await self._workers.run("io", self._pauses.reason)

    async def _tidy(self) -> None:
        """Remove vectors of spaces that leave, unless that has been done."""
        while not self._tidied:
            self._tidied = True
            try:
                if not await self._store.read(has_leaving):
                    return
                after: int | None = 0
                while after is not None:
                    after = await self._store.write(partial(remove_leaving, after=after))
            except BaseException:
                self._tidied = False
                raise

    def _notice(self, failed: int, side: Side, *, replacing: bool) -> str | None:
        """What should be known although all is well."""
        if replacing:
            return (
                "the stored vectors are of another model than the one in use: everything is"
                " embedded anew, and found by its words until then; to go on with the former"
                " vectors, install what runs their model (the extra fastembed, with the model in"
                " its cache) or set embed.model to it; `cloxy reembed` shows how far it is"
            )
        if failed:
            return f"{failed} passages cannot be embedded: {side.filling.reason_aside}"
        return None

    def _fail(self, error: Exception) -> None:
        side = self._side
        is_loaded = side is not None and side.loaded
        if not is_loaded and self._state == "failed" and str(error) == self._reason:
            return
        self._log.error("the embedding failed", exc_info=error)
        if side is not None:
            side.loaded = False
        known = isinstance(error, CloxyError)
        words = str(error) if known else f"failed ({type(error).__name__}); see the log"
        self._set("failed", words)
        self._retry_after = RETRY_SECONDS

    def _set(self, state: State, reason: str | None) -> None:
        self._state, self._reason = state, reason
