"""From one space to another: the new one is filled beside the old, which answers until the end.

What has been done is in the store at every moment, so that it goes on after a crash. The end is one
short transaction; the indexes of the new space have been built by then.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from logging import Logger

from sqlalchemy import Connection

from cloxy_core.services.embedding.choosing import Chosen
from cloxy_core.services.embedding.filling import Filling
from cloxy_core.services.embedding.side import Side
from cloxy_core.services.embedding.spaces import (
    StoredSpace,
    active_id,
    begin,
    drop_filling,
    take_filling,
)
from cloxy_core.services.indexing import Beside, Indexing
from cloxy_hookspecs import Clock, CloxyError, MoveState, StoreError, StorePort

RETRY_SECONDS = 60.0
STORE_SECONDS = 5.0
PAUSE_SECONDS = 30.0
LOADER = "loader"

Tell = Callable[[int, int], None]
"""Told how many passages have been embedded now, and how many there were to embed."""


class Moving:
    """Fills a second space, and goes over to it.

    Attributes:
        state: what it does.
        reason: why it does not go on, in words; None when it does.
        pause: says why passages wait now, or None.
        side: the space that is being filled; None without one.
        run: number of the last run since the start of the server; 0 before the first.
        done: passages that got a vector in this run.
        total: passages that this run has to embed, as far as is known.
        began: when this run began, by the monotonic clock.
        ended: when it ended; None while it goes on.
    """

    def __init__(
        self,
        make: Callable[[int, Chosen], Side],
        store: StorePort,
        indexing: Indexing,
        clock: Clock,
        log: Logger,
        taken: Callable[[Side], None],
    ) -> None:
        """Do nothing yet.

        Args:
            make: makes what fills a space.
            store: the database.
            indexing: has the indexes.
            clock: the time.
            log: for what is not told elsewhere.
            taken: is told when the space has become the active one, and its indexes answer.
        """
        self.state: MoveState = "idle"
        self.reason: str | None = None
        self.pause: Callable[[], Awaitable[str | None]] = _no_pause
        self.side: Side | None = None
        self.run = self.done = self.total = 0
        self.began = 0.0
        self.ended: float | None = None
        self._make = make
        self._store = store
        self._indexing = indexing
        self._clock = clock
        self._log = log
        self._taken = taken
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._again = asyncio.Event()

    @property
    def seconds(self) -> float:
        """How long the run has taken so far, or took."""
        if not self.run:
            return 0.0
        return (time.monotonic() if self.ended is None else self.ended) - self.began

    def fillings(self) -> Sequence[Filling]:
        """What wants to know of new passages."""
        return () if self.side is None else (self.side.filling,)

    def wake(self) -> None:
        """Something may have changed."""
        self._woken.set()

    def hurry(self) -> None:
        """Try again now what waits for another try."""
        self._again.set()

    async def begin(self, chosen: Chosen) -> None:
        """Let the space of an embedder fill beside the active one, from now on.

        Raises:
            StoreError: the store cannot be written now.
        """
        self.go_on(await self._begun(chosen), chosen)

    def go_on(self, stored: StoredSpace, chosen: Chosen) -> None:
        """Fill a space that has been begun, behind everything else."""
        self._enter(stored, chosen)
        self._task = asyncio.create_task(self._run(), name="reembedding")

    async def fill_now(self, chosen: Chosen, tell: Tell | None = None) -> int:
        """Fill the space of an embedder and make it the active one, without any server around.

        Args:
            chosen: the embedder.
            tell: is told after every step.

        Returns:
            How many passages got a vector.

        Raises:
            CloxyError: the model or the store cannot be used; what was done stays.
        """
        side = self._enter(await self._begun(chosen), chosen)
        await side.load()
        await self._count(side)
        while (count := await side.filling.step()) is not None:
            self._add(count)
            if tell is not None:
                tell(self.done, self.total)

        def commit(connection: Connection) -> None:
            if active_id(connection) != side.space_id:
                take_filling(connection, side.space_id)
            self._indexing.forget_vectors(connection)

        await self._store.write(commit, durable=True)
        self._finish(side)
        return self.done

    async def cancel(self) -> bool:
        """Stop, and let the half-filled space leave; whether there was any.

        Raises:
            StoreError: the store cannot be written now; it goes on.
        """
        # First the mark: from then on no start goes on with it.
        dropped = await self._store.write(drop_filling, durable=True)
        await self.stop()
        side, self.side = self.side, None
        if side is not None:
            self._end("cancelled")
            await side.let_go()
        return bool(dropped)

    async def stop(self) -> None:
        """Stop for now; the space stays as it is."""
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        if self.side is not None:
            await self.side.model.idle()

    async def _begun(self, chosen: Chosen) -> StoredSpace:
        assert chosen.info is not None
        space, now = chosen.info.space, self._clock.now_ms()
        work = partial(begin, space=space, now=now)
        return StoredSpace(await self._store.write(work, durable=True), space, "filling")

    def _enter(self, stored: StoredSpace, chosen: Chosen) -> Side:
        self.side = self._make(stored.id, chosen)
        self.state, self.reason = "loading", None
        self.run += 1
        self.done = self.total = 0
        self.began, self.ended = time.monotonic(), None
        return self.side

    async def _run(self) -> None:
        while (side := self.side) is not None:
            try:
                await side.load(LOADER)
                await self._count(side)
                await self._fill(side)
                self.state = "indexing"
                async with self._indexing.beside(side.space_id) as beside:
                    side.filling.told = True
                    await self._go_over(side, beside)
                return
            except StoreError as error:
                # Full, busy or away: it goes on by itself.
                self.state, self.reason = "paused", str(error)
                await self._rest(STORE_SECONDS)
            except Exception as error:
                self._fail(error)
                await self._rest(RETRY_SECONDS)
            finally:
                side.filling.told = self.side is None

    async def _rest(self, seconds: float) -> None:
        self._again.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._again.wait(), seconds)

    async def _count(self, side: Side) -> None:
        _embedded, backlog, _failed = await side.filling.figures()
        self.total = self.done + backlog

    async def _fill(self, side: Side) -> None:
        """Embed until no passage is left to look at."""
        while await side.filling.look():
            if (reason := await self.pause()) is not None:
                self.state, self.reason = "paused", reason
                with suppress(TimeoutError):
                    self._woken.clear()
                    await asyncio.wait_for(self._woken.wait(), PAUSE_SECONDS)
                continue
            self._add(await side.filling.step() or 0)
            self.state, self.reason = "filling", None

    async def _go_over(self, side: Side, beside: Beside) -> None:
        """Catch up with what came meanwhile, and make the space the active one."""
        # Of an edit somebody may not have been told, for example while an index was broken.
        side.filling.look_again()
        await self._fill(side)
        self.state, self.reason = "switching", None
        await self._indexing.drain()

        async def commit() -> None:
            work = partial(take_filling, space_id=side.space_id)
            # Once it is begun it is followed to its end, and the indexes with it.
            writing = asyncio.ensure_future(self._store.write(work, durable=True))
            while not writing.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([writing])
            error = writing.exception()
            if error is not None and await self._store.read(active_id) != side.space_id:
                raise error

        await beside.take_over(commit)
        self._finish(side)

    def _finish(self, side: Side) -> None:
        side.filling.told = True
        self.side = None
        self._end("done")
        self._taken(side)

    def _add(self, count: int) -> None:
        self.done += count
        self.total = max(self.total, self.done)

    def _end(self, state: MoveState) -> None:
        self.state, self.reason, self.ended = state, None, time.monotonic()

    def _fail(self, error: Exception) -> None:
        words = (
            str(error)
            if isinstance(error, CloxyError)
            else f"failed ({type(error).__name__}); see the log"
        )
        if (self.state, self.reason) != ("failed", words):
            self._log.error("the reembedding failed", exc_info=error)
        self.state, self.reason = "failed", words


async def _no_pause() -> str | None:
    return None
