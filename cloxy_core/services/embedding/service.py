"""The embedding: passages get their vectors behind everything else, questions at once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from logging import Logger

from cloxy_core.kernel.settings import Settings
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.embedding.choosing import Chosen
from cloxy_core.services.embedding.filling import Filling
from cloxy_core.services.embedding.model import Model
from cloxy_core.services.embedding.power import Pauses
from cloxy_core.services.embedding.settling import Spaces
from cloxy_core.services.embedding.spaces import has_others
from cloxy_core.services.embedding.status import EmbeddingStatus, State
from cloxy_core.services.indexing import Indexing
from cloxy_hookspecs import (
    Clock,
    CloxyError,
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

Progress = Callable[[int, int], None]
"""Told how many passages have been embedded, and how many there are to embed in all."""


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
        """
        self.info = chosen.info
        self.has_room: Callable[[], Awaitable[str | None]] | None = None
        self._chosen = chosen
        self._spaces = Spaces(store, settings, clock)
        self._store = store
        self._indexing = indexing
        self._workers = workers
        self._log = log
        self._pauses = pauses or Pauses(settings)
        self._model: Model | None = None
        if chosen.embedder is not None and chosen.info is not None:
            self._model = Model(chosen.embedder, chosen.info, workers)
        self._filling: Filling | None = None
        self._state: State = "off" if self._model is None else "loading"
        self._reason = chosen.trouble if self._model is None else LOADING
        self._loaded = False
        self._replacing = False
        self._retry_after = 0.0
        self._woken = asyncio.Event()

    @property
    def wanted(self) -> bool:
        """Whether the settings ask for an embedder at all."""
        return bool(self._chosen.provider)

    @property
    def model(self) -> str:
        """Name of the model; empty without one."""
        return "" if self.info is None else self.info.space.model

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

    async def adopt(self) -> None:
        """Make the space of the settings the one that counts, whatever was; for `reembed`."""
        if self.info is not None:
            await self._fill_space(await self._spaces.adopt(self.info.space))

    async def run(self) -> None:
        """Load the model, fill, and wait for more; cancel to stop."""
        while self._model is not None:
            try:
                await self._work(self._model)
                await self._woken.wait()
                self._woken.clear()
            except StoreError as error:
                # Full, busy or away: it goes on by itself.
                self._set("paused", str(error))
                await asyncio.sleep(STORE_SECONDS)
            except Exception as error:
                self._fail(error)
                if self._filling is None:
                    # Otherwise it is the load of the model that waits.
                    await asyncio.sleep(self._retry_after)

    def wake(self) -> None:
        """There may be new passages."""
        if self._filling is not None:
            self._filling.grown()
            self._woken.set()

    def missing(self, passage_ids: Sequence[int]) -> None:
        """These passages have no vector."""
        if self._filling is not None and passage_ids:
            self._filling.missing(passage_ids)
            self._woken.set()

    def look_again(self) -> None:
        """Any passage may be without a vector."""
        if self._filling is not None:
            self._filling.look_again()
            self._woken.set()

    async def query_vector(self, text: str) -> "Float32Vector | None":
        """The vector of a question, before everything that waits.

        Returns:
            None while there is no loaded model, as `trouble` says, and when too many questions
            wait for it or it takes too long.
        """
        if self._model is None or not self._loaded:
            return None
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._model.question(text)
        except (StoreError, TimeoutError):
            return None
        except CloxyError as error:
            self._fail(error)
            if not isinstance(error, ModelMissingError):
                # Whether it is the model or this question is seen at the next look, now.
                self._retry_after = 0.0
            self._woken.set()
            return None

    def trouble(self) -> str | None:
        """Why questions cannot be embedded now, in words; None when they can."""
        return None if self._loaded else self._reason

    async def status(self) -> EmbeddingStatus:
        """How it is."""
        space = self.info.space if self.info is not None else None
        status = partial(
            EmbeddingStatus,
            provider=self._chosen.provider,
            model=self.model,
            space=space.fingerprint if space is not None else "",
            state=self._state,
        )
        if self._filling is None:
            return status(reason=self._reason)
        embedded, backlog, failed = await self._filling.figures()
        rate = self._filling.rate.per_second()
        return status(
            reason=self._reason or self._notice(failed),
            embedded=embedded,
            backlog=backlog,
            failed=failed,
            rate_per_second=rate,
            eta_seconds=backlog / rate if self._state == "ready" and backlog and rate else None,
        )

    async def fill(self, progress: Progress | None = None) -> int:
        """Embed everything now, whatever the battery says, and remove vectors of other spaces.

        Args:
            progress: is told after every step.

        Returns:
            How many passages got a vector.

        Raises:
            CloxyError: the model or the store cannot be used; what was done stays.
        """
        await self._settle()
        if self._model is None or self._filling is None:
            raise ModelMissingError(self.trouble() or "there is no embedder")
        self._retry_after = 0.0
        await self._ensure_loaded(self._model)
        _embedded, total, _failed = await self._filling.figures()
        done = 0
        while (count := await self._filling.step()) is not None:
            done += count
            if progress is not None:
                progress(done, max(total, done))
        await self._tidy(self._filling)
        return done

    async def close(self) -> None:
        """Wait until the embedder is not in use; no call follows when `run` has ended."""
        if self._model is not None:
            self._loaded = False
            await self._model.idle()

    async def _settle(self) -> None:
        if self.info is not None and self._filling is None:
            await self._fill_space(await self._spaces.settle(self.info.space))

    async def _work(self, model: Model) -> None:
        """Everything that there is to do now."""
        if self._filling is None:
            await self._settle()
            # An index that was built meanwhile holds vectors of the former space.
            # One that cannot be built says so by itself, and is built again later.
            with suppress(Exception):
                await self._indexing.renew()
        filling = self._filling
        if filling is None:
            return
        while True:
            await self._ensure_loaded(model)
            if not await filling.look():
                break
            if (reason := await self._pause()) is not None:
                self._set("paused", reason)
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            await filling.step()
            # A pause is over when something was done, not when it is tried.
            self._tell_ready()
        self._tell_ready()
        await self._tidy(filling)

    def _tell_ready(self) -> None:
        if self._loaded:
            self._set("ready", None)

    async def _ensure_loaded(self, model: Model) -> None:
        if not self._loaded:
            await asyncio.sleep(self._retry_after)
            await model.load()
            self._loaded, self._retry_after = True, 0.0
            self._set("ready", None)

    async def _pause(self) -> str | None:
        if self.has_room is not None and (reason := await self.has_room()) is not None:
            return reason
        if self._pauses.known:
            return self._pauses.reason()
        return await self._workers.run("io", self._pauses.reason)

    async def _tidy(self, filling: Filling) -> None:
        while filling.has_old and await filling.tidy():
            pass
        self._replacing = False

    async def _fill_space(self, space_id: int) -> None:
        assert self._model is not None
        assert self.info is not None
        self._replacing = await self._store.read(partial(has_others, space_id=space_id))
        self._filling = Filling(
            space_id, self.info.characters, self._model, self._store, self._indexing, self._log
        )

    def _notice(self, failed: int) -> str | None:
        """What should be known although all is well."""
        if self._replacing:
            return (
                "the stored vectors are of another model than the one in use: everything is"
                " embedded anew, and found by its words until then; stop the server and run"
                " `cloxy reembed` to have it done at once, or set embed.model to the former one"
            )
        if failed and self._filling is not None:
            return f"{failed} passages cannot be embedded: {self._filling.reason_aside}"
        return None

    def _fail(self, error: Exception) -> None:
        if not self._loaded and self._state == "failed" and str(error) == self._reason:
            return
        self._log.error("the embedding failed", exc_info=error)
        self._loaded = False
        known = isinstance(error, CloxyError)
        words = str(error) if known else f"failed ({type(error).__name__}); see the log"
        self._set("failed", words)
        self._retry_after = RETRY_SECONDS

    def _set(self, state: State, reason: str | None) -> None:
        self._state, self._reason = state, reason
