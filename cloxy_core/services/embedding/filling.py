"""One step of the filling: some passages read, embedded and stored."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from logging import Logger

from sqlalchemy import Connection

from cloxy_core.services.embedding.backlog import (
    Found,
    Unseen,
    Window,
    counts,
    find,
    highest_id,
    remove_former,
    store_vectors,
    text_hashes,
)
from cloxy_core.services.embedding.model import Model
from cloxy_core.services.embedding.status import Rate
from cloxy_core.services.indexing import Indexing
from cloxy_hookspecs import StorePort


@dataclass(frozen=True, slots=True)
class _Made:
    """Vectors that have still to be written.

    Attributes:
        window: where their passages were found.
        found: the passages.
        vectors: by hash of text.
        done: passages that get a vector.
        aside: passages whose text cannot be embedded, and its hash.
        began: when the work began, by the clock of the rate.
    """

    window: Window
    found: Found
    vectors: Mapping[str, bytes]
    done: Sequence[int]
    aside: Mapping[int, str]
    began: float


class Filling:
    """Gives vectors of one space to the passages that have none.

    Attributes:
        rate: how fast it goes.
        told: whether the indexes are told of new vectors; not while none of them shows this space.
    """

    def __init__(
        self,
        space_id: int,
        characters: int,
        model: Model,
        store: StorePort,
        indexing: Indexing,
        log: Logger,
        *,
        told: bool = True,
    ) -> None:
        self.rate = Rate()
        self.told = told
        self._space = space_id
        self._characters = characters
        self._model = model
        self._store = store
        self._indexing = indexing
        self._log = log
        self._unseen = Unseen()
        self._may_have_grown = True
        self._aside: dict[str, str] = {}
        self._failed: dict[int, str] = {}
        self._made: _Made | None = None
        self._turn = asyncio.Lock()
        self._looking = asyncio.Lock()

    def grown(self) -> None:
        """There may be new passages."""
        self._may_have_grown = True

    def missing(self, passage_ids: Sequence[int]) -> None:
        """These have no vector."""
        self._unseen.add(passage_ids)

    def look_again(self) -> None:
        """Any may be without one."""
        self._unseen.forget()
        self._may_have_grown = True

    async def look(self) -> bool:
        """Whether there is anything to look at; costs next to nothing."""
        # Whoever comes while another one looks must not take what is not seen yet for nothing.
        async with self._looking:
            if self._may_have_grown:
                self._may_have_grown = False
                try:
                    await self._look_around()
                except BaseException:
                    self._may_have_grown = True
                    raise
        return self._made is not None or not self._unseen.is_empty

    async def step(self) -> int | None:
        """Take the next few; how many got a vector, or None when none is left to look at.

        Raises:
            CloxyError: the model or the store cannot be used now; nothing is lost by it.
        """
        async with self._turn:
            if self._made is None:
                self._made = await self._next()
            made = self._made
            if made is None:
                return None
            if made.done or made.aside:
                await self._write(made)
            # What could not be written stays until here, since it is the model that costs.
            self._made = None
            self._settle(made)
        if made.done and self.told:
            await self._indexing.drain()
        return len(made.done)

    async def figures(self) -> tuple[int, int, int]:
        """Passages with a vector, without one, and those that were set aside."""
        passages, embedded = await self._store.read(partial(counts, space_id=self._space))
        # One whose text changed still has the vector of the former one.
        embedded = max(0, embedded - self._unseen.named)
        failed = min(len(self._failed), passages - embedded)
        return embedded, passages - embedded - failed, failed

    @property
    def reason_aside(self) -> str | None:
        """Why the last text that was set aside was."""
        text_hash = next(reversed(self._failed.values()), None)
        return None if text_hash is None else self._aside[text_hash]

    async def _look_around(self) -> None:
        """Notice new passages, and those set aside that were edited or are gone."""
        aside = list(self._failed)
        highest, hashes = await self._store.read(
            lambda connection: (highest_id(connection), text_hashes(connection, aside))
        )
        self._unseen.grow(highest)
        for identifier in aside:
            # No index knows of a passage without a vector, so nobody else tells of the edit.
            if hashes.get(identifier) != self._failed[identifier]:
                del self._failed[identifier]
                self._unseen.add([identifier] if identifier in hashes else [])

    async def _next(self) -> "_Made | None":
        window = self._unseen.window() if await self.look() else None
        if window is None:
            return None
        try:
            return await self._make(window)
        except BaseException:
            self._unseen.undone(window)
            raise

    async def _make(self, window: Window) -> "_Made":
        began = self.rate.now()
        work = partial(
            find,
            window=window,
            space_id=self._space,
            characters=self._characters,
            aside=self._aside,
        )
        found = await self._store.read(work)
        vectors = await self._embed(found.texts)
        done = [i for i, h in found.passages if h in vectors or h in found.twins]
        aside = {i: h for i, h in found.passages if h in self._aside}
        return _Made(window, found, vectors, done, aside, began)

    def _settle(self, made: "_Made") -> None:
        self._unseen.done(made.window, made.found.reached)
        for identifier, _hash in made.found.passages:
            self._failed.pop(identifier, None)
        self._failed |= made.aside

    async def _embed(self, texts: Mapping[str, str]) -> Mapping[str, bytes]:
        vectors: dict[str, bytes] = {}
        made = await self._model.passages(list(texts.values()))
        for text_hash, vector in zip(texts, made, strict=True):
            if isinstance(vector, bytes):
                vectors[text_hash] = vector
            else:
                self._aside[text_hash] = vector.message
                self._log.warning("a passage cannot be embedded", exc_info=vector)
        return vectors

    async def _write(self, made: "_Made") -> None:
        def write(connection: Connection) -> None:
            store_vectors(connection, self._space, made.found, made.vectors)
            remove_former(connection, self._space, list(made.aside))
            # One that was left out after all comes back as missing, when this is followed.
            if self.told:
                self._indexing.vectors_changed(connection, made.done)

        await self._store.write(write)
        if made.done:
            self.rate.add(made.began, len(made.done))
