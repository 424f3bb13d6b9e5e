"""The model behind its thread: questions go before passages, and nothing unchecked comes back."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from cloxy_core.kernel.containment import Failure, contained
from cloxy_core.runtime.memory import give_back_memory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.embedding.checking import checked, stored_form
from cloxy_hookspecs import (
    CloxyError,
    Embedder,
    EmbedderInfo,
    Float32Matrix,
    Float32Vector,
    ModelError,
    ModelMissingError,
    PluginError,
    StoreBusyError,
)

THREAD = "model"
TRIES = 3
RECENT = 256
"""Questions whose vectors are kept: the same is often asked in two modes, or by two tools."""
CALL_SECONDS = 0.05
"""How long a call for passages should take at most, since a question waits for it."""
CLOSE_SECONDS = 2.0
SAMPLE = "What did we decide about the memory server?"


class Model:
    """An embedder, called one call at a time."""

    def __init__(self, embedder: Embedder, info: EmbedderInfo, workers: Workers) -> None:
        self._embedder = embedder
        self._info = info
        self._workers = workers
        self._recent: OrderedDict[str, Float32Vector] = OrderedDict()
        self._seconds = CALL_SECONDS
        self.busy_seconds = 0.0

    async def load(self, thread: str = THREAD) -> None:
        """Load the model, and see that it answers.

        Args:
            thread: the worker that does it.

        Raises:
            CloxyError: it cannot be used.
        """
        work = partial(self._embed, self._embedder.embed_queries, [SAMPLE])
        await self._workers.run(thread, work, urgent=True)
        await self._workers.run(thread, give_back_memory, urgent=True)

    async def question(self, text: str) -> Float32Vector:
        """The vector of a question, before every passage that waits.

        Raises:
            CloxyError: the model cannot be used, or not for this text.
        """
        known = self._recent.get(text)
        if known is None:
            found = await self._run(self._embedder.embed_queries, [text], urgent=True)
            known = found[0]
        self._recent[text] = known
        self._recent.move_to_end(text)
        if len(self._recent) > RECENT:
            self._recent.popitem(last=False)
        return known

    async def passages(self, texts: Sequence[str]) -> Sequence[bytes | ModelError]:
        """Vectors of passages, in order; an error where a text cannot be embedded.

        Raises:
            CloxyError: the model cannot be used at all.
        """
        results: list[bytes | ModelError] = []
        while len(results) < len(texts):
            # As many as are done quickly: a question waits until they are.
            fit = max(1, min(self._info.batch, int(CALL_SECONDS / self._seconds)))
            part = texts[len(results) : len(results) + fit]
            results += await self._together(part)
        return results

    async def idle(self) -> None:
        """Wait until no call is under way, but not for ever."""
        with suppress(TimeoutError, StoreBusyError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._workers.run(THREAD, _nothing, urgent=True)

    async def _together(self, texts: Sequence[str]) -> Sequence[bytes | ModelError]:
        if len(texts) > 1:
            try:
                return await self._vectors(texts)
            except (StoreBusyError, ModelMissingError, PluginError):
                raise
            except CloxyError:
                # One of them is the reason; the others are not to suffer.
                pass
        return [await self._alone(text) for text in texts]

    async def _alone(self, text: str) -> bytes | ModelError:
        reason = ModelError("the embedder was not asked")
        for _ in range(TRIES):
            try:
                return (await self._vectors([text]))[0]
            except (StoreBusyError, ModelMissingError, PluginError):
                raise
            except CloxyError as error:
                reason = error if isinstance(error, ModelError) else ModelError(error.message)
        # Is it this text, or every text?
        await self.load()
        return reason

    async def _vectors(self, texts: Sequence[str]) -> Sequence[bytes]:
        began = self.busy_seconds
        found = await self._run(self._embedder.embed_passages, texts, urgent=False)
        took = (self.busy_seconds - began) / len(texts)
        self._seconds = max(1e-6, 0.8 * self._seconds + 0.2 * took)
        return [stored_form(vector) for vector in found]

    async def _run(
        self, embed: Callable[[Sequence[str]], Float32Matrix], texts: Sequence[str], *, urgent: bool
    ) -> Float32Matrix:
        work = partial(self._embed, embed, texts)
        return await self._workers.run(THREAD, work, urgent=urgent)

    def _embed(
        self, embed: Callable[[Sequence[str]], Float32Matrix], texts: Sequence[str]
    ) -> Float32Matrix:
        """One call, on the thread of the model."""
        began = time.perf_counter()
        outcome = contained(lambda: checked(embed(texts), len(texts), self._info.space.dim))
        self.busy_seconds += time.perf_counter() - began
        if not isinstance(outcome, Failure):
            return outcome.value
        if isinstance(outcome.error, CloxyError):
            raise outcome.error
        # Words of an error that nobody foresaw may be words of the text.
        kind = type(outcome.error).__name__
        raise ModelError(f"the embedder failed ({kind}); see the log") from outcome.error


def _nothing() -> None:
    """What is done when all before it is done."""
