"""Making what was forgotten unreadable in the files, now or as soon as it can be done."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from logging import Logger

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert

from cloxy_core.store.engine import Store
from cloxy_hookspecs import CloxyError
from cloxy_hookspecs.tables import counters

PENDING_KEY = "forget.pending"
TRIES = 5
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
WAITING = (
    "forgotten text is still in the bytes of the database or its write-ahead log: another program "
    "or a long question reads the database; it is erased as soon as that ends"
)
BEHIND = "forgotten text is still in the bytes of the database; it is being erased"
FAILED = "forgotten text is still in the bytes of the database: "


class Eraser:
    """Erases, and remembers in the database that it has to until that is done."""

    def __init__(self, store: Store, scrub: Callable[[Connection], None], log: Logger) -> None:
        """Erase nothing yet.

        Args:
            store: the database.
            scrub: drops what removed passages left in the indexes; part of a write transaction.
            log: told what goes wrong behind.
        """
        self._store = store
        self._scrub = scrub
        self._log = log
        self.listeners: list[Callable[[], None]] = []
        """Called whenever something was forgotten, by whomever: what they keep may quote it."""
        self.before: Callable[[], Awaitable[object]] | None = None
        """Takes out of the indexes what a transaction of forgetting left to be done behind it."""
        self._again = asyncio.Event()
        self._turn = asyncio.Lock()

    def note(self, connection: Connection) -> None:
        """Remember, in the transaction that forgets, that there is something to erase.

        It is counted: what is forgotten while something else is being erased is not done with it.
        """
        first = insert(counters).values(key=PENDING_KEY, value=1.0)
        another = {"value": counters.c.value + 1.0}
        connection.execute(first.on_conflict_do_update(index_elements=["key"], set_=another))

    def later(self) -> None:
        """Have it done behind; until then the store says that it is still to be done."""
        self._store.unerased = self._store.unerased or BEHIND
        self._again.set()

    @contextmanager
    def promised(self) -> Iterator[None]:
        """Something is forgotten and erased in this block; if it breaks off, the rest is behind.

        What was committed stays committed when whoever asked is gone, or the disk is full.
        """
        try:
            yield
        except BaseException:
            self.later()
            raise

    async def finish(self, tries: int = TRIES) -> str | None:
        """Erase; why it could not be done, or None. What could not be done is done behind."""
        for tell in self.listeners:
            tell()
        async with self._turn:
            pending: str | None = WAITING
            try:
                noted = await self._store.read(_noted)
                if self.before is not None:
                    await self.before()
                await self._store.write(self._scrub, durable=True)
                self._store.unerased = WAITING
                for _try in range(tries):
                    if await self._store.erase():
                        pending = None
                        is_all = await self._store.write(partial(_done, noted), durable=True)
                        self._store.unerased = None if is_all else BEHIND
                        break
            except CloxyError as error:
                pending = self._store.unerased = f"{FAILED}{error}; it is tried again"
            if self._store.unerased is not None:
                self._again.set()
            return pending

    async def run(self) -> None:
        """Finish what could not be done, also before the last stop; cancel to stop."""
        if await self._store.read(_noted):
            self._store.unerased = self._store.unerased or BEHIND
            await self._try(TRIES)
        while True:
            await self._again.wait()
            pause = FIRST_PAUSE_SECONDS
            while self._again.is_set():
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
                self._again.clear()
                await self._try(1)

    async def _try(self, tries: int) -> None:
        try:
            await self.finish(tries)
        except Exception as error:
            self._log.error("what was forgotten could not be erased", exc_info=error)
            self._store.unerased = f"{FAILED}see the log; it is tried again"
            self._again.set()


def _noted(connection: Connection) -> float:
    """How often something was forgotten since all was erased; 0 when nothing is to be erased."""
    found = select(counters.c.value).where(counters.c.key == PENDING_KEY)
    return connection.execute(found).scalar() or 0.0


def _done(noted: float, connection: Connection) -> bool:
    """Note that what was forgotten up to a count is erased; whether that was all."""
    done = (counters.c.key == PENDING_KEY) & (counters.c.value <= noted)
    connection.execute(delete(counters).where(done))
    return not _noted(connection)
