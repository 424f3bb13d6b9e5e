"""Sends requests to the back-end of a role: in turn, within a time, and let go in every case."""

import asyncio
import logging
import traceback
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar

from cloxy_core.kernel.containment import Failure, contained
from cloxy_core.services.llm.choosing import Backend, Backends
from cloxy_core.services.llm.hosting import HostedBackend
from cloxy_core.services.llm.joining import Joining, estimated_tokens
from cloxy_hookspecs import (
    BackendStatus,
    ChatAnswer,
    ChatDelta,
    ChatRequest,
    CloxyError,
    ModelError,
    ModelInfo,
    ModelMissingError,
    ModelRole,
    ModelTimeoutError,
    RemoteModelError,
)

T = TypeVar("T")

ASK_SECONDS = 30.0
"""Most that a back-end may take to say which models it has, or to count."""

log = logging.getLogger("cloxy.llm")


@dataclass(frozen=True, slots=True)
class Limits:
    """Most seconds of one answer.

    Attributes:
        whole: until its end.
        first: until its first piece, loading a model included.
    """

    whole: float
    first: float


class Router:
    """Implements `LLMRouter` and closes what it started."""

    def __init__(self, backends: Backends, limits: Limits, *, eager: bool = False) -> None:
        """Ask nobody yet.

        Args:
            backends: who can be asked.
            limits: of one answer.
            eager: whether a model is loaded before anybody asks.
        """
        self._backends = backends
        self._limits = limits
        self._eager = eager
        self._sent_away: Counter[str] = Counter()
        self._told: dict[str, Sequence[ModelInfo]] = {}

    async def models(self, role: ModelRole = "chat") -> Sequence[ModelInfo]:
        """The models of a role, the one that is set first; empty when it has no back-end.

        Raises:
            ModelError: the back-end cannot be asked.
        """
        backend = self._backends.maybe(role)
        return () if backend is None else await self._models(backend)

    async def choose(self, model: str | None, role: ModelRole = "chat") -> ModelInfo:
        """The model that would answer a request for this one; the one that is set for None.

        Raises:
            ModelMissingError: there is none.
            ModelError: the back-end cannot be asked.
        """
        backend = self._backends.of(role)
        if isinstance(backend.llm, HostedBackend):
            known = _sound(backend, backend.llm.info())
            return await _within(self._limits.first, known, backend)
        models = await self._models(backend)
        if not models:
            raise ModelMissingError(
                f"{backend.name} at {backend.llm.place} has no model",
                hint="let that server load one, or name it in CLOXY_LLM_MODEL",
            )
        return next((each for each in models if each.id == model), models[0])

    async def stream(
        self, request: ChatRequest, role: ModelRole = "chat"
    ) -> AsyncGenerator[ChatDelta, None]:
        """Answer, piece by piece; closing the iterator, or cancelling who reads it, ends the work.

        Raises:
            ModelError: as `LLMRouter` has it.
        """
        backend = self._backends.of(role)
        async with (
            backend.places.place(),
            aclosing(self._answer(backend, request)) as deltas,
        ):
            async for delta in deltas:
                yield delta

    async def complete(self, request: ChatRequest, role: ModelRole = "chat") -> ChatAnswer:
        """The whole answer; raises as `stream` does."""
        joining = Joining()
        async with aclosing(self.stream(request, role)) as deltas:
            async for delta in deltas:
                joining.add(delta)
        return joining.answer()

    async def count(self, request: ChatRequest, role: ModelRole = "chat") -> int:
        """Tokens of the conversation; an estimate on the safe side where that cannot be told.

        Raises:
            ModelMissingError: there is nobody to ask.
            ModelError: it failed.
        """
        backend = self._backends.of(role)
        hosted = isinstance(backend.llm, HostedBackend)
        seconds = self._limits.first if hosted else ASK_SECONDS
        counted = await _within(seconds, _sound(backend, backend.llm.count(request)), backend)
        return estimated_tokens(request) if counted is None else counted

    def status(self, role: ModelRole = "chat") -> BackendStatus | None:
        """How the back-end of a role is, without asking it; None when the role has none."""
        try:
            backend = self._backends.of(role)
        except ModelMissingError as error:
            if not self._wanted(role):
                return None
            return BackendStatus(name="none", place="nowhere", trouble=str(error))
        except CloxyError as error:
            return BackendStatus(name="none", place="nowhere", trouble=str(error))
        hosted = backend.llm if isinstance(backend.llm, HostedBackend) else None
        sent_away = self._sent_away[backend.name]
        return BackendStatus(
            name=backend.name,
            place=backend.llm.place,
            model=_text(backend.llm, "model"),
            loaded=None if hosted is None else hosted.loaded,
            running=backend.places.running,
            waiting=backend.places.waiting,
            remote=sent_away > 0 or self._leaves(backend, None),
            sent_away=sent_away,
            trouble=_text(backend.llm, "trouble"),
        )

    async def warm(self) -> None:
        """Load the model of `chat`, where its owner does not want to wait at the first request."""
        if self._eager:
            try:
                await self.choose(None)
            except CloxyError as error:
                log.warning("no model could be loaded beforehand: %s", error)

    async def aclose(self) -> None:
        """End the processes."""
        await self._backends.aclose()

    def _wanted(self, role: ModelRole) -> bool:
        try:
            return self._backends.wants(role)
        except CloxyError:
            return True

    async def _models(self, backend: Backend) -> Sequence[ModelInfo]:
        found = await _within(ASK_SECONDS, _sound(backend, backend.llm.models()), backend)
        models = tuple(replace(each, backend=backend.name) for each in found)
        self._told[backend.name] = models
        return models

    def _leaves(self, backend: Backend, model: str | None) -> bool:
        """Whether a conversation with a model leaves this machine; a server here may pass it on."""
        told = self._told.get(backend.name, ())
        asked = told[:1] if model is None else [each for each in told if each.id == model]
        return _is_remote(backend.llm) or any(each.remote for each in asked)

    async def _answer(
        self, backend: Backend, request: ChatRequest
    ) -> AsyncGenerator[ChatDelta, None]:
        """The deltas of a back-end, within the limits, and with one end."""
        leaves = self._leaves(backend, request.model)
        try:
            finished = False
            async with aclosing(self._timed(backend, request)) as deltas:
                async for delta in deltas:
                    if finished and (delta.finish is not None or delta.text or delta.tool_calls):
                        break  # one end is enough
                    finished = finished or delta.finish is not None
                    yield delta
            if not finished:
                raise ModelError(
                    f"{backend.name} ended its answer in the middle", hint="send the request again"
                )
        except RemoteModelError:
            leaves = False
            raise
        except CloxyError:
            raise
        except Exception as error:
            raise _foreign(backend, error) from error
        finally:
            if leaves:
                self._sent_away[backend.name] += 1

    async def _timed(
        self, backend: Backend, request: ChatRequest
    ) -> AsyncGenerator[ChatDelta, None]:
        began = asyncio.get_running_loop().time()
        end = began + self._limits.whole
        due = min(end, began + self._limits.first)
        deltas = backend.llm.stream(request)
        try:
            while True:
                timer = asyncio.timeout_at(due)
                try:
                    async with timer:
                        delta = await anext(deltas)
                except StopAsyncIteration:
                    return
                except TimeoutError as error:
                    if not timer.expired():
                        raise
                    raise self._late(backend, before_first=due < end) from error
                due = end
                yield delta
        finally:
            await _close(deltas)

    def _late(self, backend: Backend, *, before_first: bool) -> ModelTimeoutError:
        if before_first:
            return ModelTimeoutError(
                f"{backend.name} said nothing for {self._limits.first:g} seconds",
                hint="ask less at a time, or raise llm.first_piece",
            )
        return ModelTimeoutError(
            f"{backend.name} did not end its answer within {self._limits.whole:g} seconds",
            hint="ask for fewer tokens, or raise llm.timeout",
        )


async def _within(seconds: float, work: Awaitable[T], backend: Backend) -> T:
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError as error:
        raise ModelTimeoutError(
            f"{backend.name} at {backend.llm.place} did not answer within {seconds:g} seconds",
            hint="see whether it is overloaded, or start it anew",
        ) from error


async def _sound(backend: Backend, work: Awaitable[T]) -> T:
    """What a back-end returns; what it raises that is no error of ours becomes one.

    Raises:
        ModelError: it failed.
    """
    try:
        return await work
    except (CloxyError, TimeoutError):
        raise
    except Exception as error:
        raise _foreign(backend, error) from error


def _foreign(backend: Backend, error: Exception) -> ModelError:
    # Its text may quote the conversation: neither the client of another nor the log gets it.
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    places = " < ".join(f"{f.filename}:{f.lineno} {f.name}" for f in reversed(frames))
    log.error("the back-end %s failed with %s at %s", backend.name, type(error).__name__, places)
    return ModelError(
        f"the back-end {backend.name!r} failed: {type(error).__name__}",
        hint="see whether a newer version of its plugin mends it",
    )


async def _close(deltas: AsyncIterator[ChatDelta]) -> None:
    close = getattr(deltas, "aclose", None)
    if close is not None:
        await close()


def _is_remote(llm: object) -> bool:
    """Whether a conversation leaves this machine; one that cannot tell is taken to be far away."""
    asked = contained(lambda: bool(getattr(llm, "remote", True)))
    return True if isinstance(asked, Failure) else asked.value


def _text(llm: object, name: str) -> str | None:
    """What a back-end tells of itself where it tells it."""
    value = getattr(llm, name, None)
    return value if isinstance(value, str) else None
