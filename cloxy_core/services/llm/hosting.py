"""A model in a process of its own: started when it is needed, ended when it is not any more."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from cloxy_core.services.llm.process import ModelProcess, Target
from cloxy_hookspecs import (
    ChatDelta,
    ChatRequest,
    CloxyError,
    HostedOptions,
    ModelChoice,
    ModelError,
    ModelInfo,
    ModelTimeoutError,
)

PLACE: Final = "a process of its own"
RETRY_SECONDS: Final = 10.0
"""How long a model that could not be loaded is not tried again."""

_LATER: Final = "try again when it runs again"

log = logging.getLogger("cloxy.llm")


def usable_threads(wanted: int, cores: int | None = None) -> int:
    """Processor threads of a model: as many as wanted, for 0 all but one, at least one."""
    return wanted or max(1, (cores or os.cpu_count() or 1) - 1)


@dataclass(frozen=True, slots=True)
class Hosting:
    """How a model is kept.

    Attributes:
        backend: name of the record.
        target: what loads it.
        threads: processor threads that it may use.
        settings: values of the settings that its record names.
        idle_seconds: after so many without a request it is unloaded; 0 for never.
        load_seconds: most that loading may take.
    """

    backend: str
    target: Target
    threads: int
    settings: Mapping[str, object]
    idle_seconds: float
    load_seconds: float


@dataclass(frozen=True, slots=True)
class _Failure:
    choice: ModelChoice
    error: ModelError
    until: float

    def again(self) -> ModelError:
        """The same for somebody else."""
        kind = ModelTimeoutError if isinstance(self.error, ModelTimeoutError) else ModelError
        return kind(self.error.message, hint=self.error.hint)


class HostedBackend:
    """One library's models; one at a time is loaded, and does one thing at a time."""

    def __init__(self, hosting: Hosting, choice: Callable[[], ModelChoice]) -> None:
        """Start nothing yet.

        Args:
            hosting: how.
            choice: the model that is set up at this moment; raises `ModelError` without one.
        """
        self._hosting = hosting
        self._choice = choice
        self._turn = asyncio.Lock()
        self._process: ModelProcess | None = None
        self._loaded: ModelChoice | None = None
        self._known: tuple[ModelChoice, ModelInfo] | None = None
        self._failure: _Failure | None = None
        self._loading: asyncio.Task[None] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def place(self) -> str:
        """Where it runs, for people."""
        return PLACE

    @property
    def remote(self) -> bool:
        """No conversation leaves this machine."""
        return False

    @property
    def pid(self) -> int | None:
        """Id of the process; None without one."""
        process = self._process
        return process.pid if process is not None and process.alive else None

    @property
    def model(self) -> str | None:
        """The model that is set up; None without one."""
        try:
            return self._choice().name
        except CloxyError:
            return None

    @property
    def loaded(self) -> bool:
        """Whether a model is in memory."""
        return self.pid is not None and self._loaded is not None

    @property
    def trouble(self) -> str | None:
        """Why it cannot answer; None when nothing is known against it."""
        try:
            choice = self._choice()
        except CloxyError as error:
            return str(error)
        failed = self._failure is not None and self._failure.choice == choice
        return str(self._failure.error) if self._failure is not None and failed else None

    async def models(self) -> list[ModelInfo]:
        """The model that is set up, without loading it.

        Raises:
            ModelError: there is none.
        """
        choice = self._choice()
        if self._known is not None and self._known[0] == choice:
            return [self._known[1]]
        return [
            ModelInfo(
                id=choice.name,
                backend=self._hosting.backend,
                context_tokens=choice.context_tokens,
            )
        ]

    async def info(self) -> ModelInfo:
        """What is known of the model; it is loaded where nothing is known yet.

        Raises:
            ModelError: it cannot be loaded.
        """
        choice = self._choice()
        if self._known is None or self._known[0] != choice:
            async with self._turn:
                await self._ready(choice)
                self._rest()
        assert self._known is not None  # loading told it
        return self._known[1]

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatDelta, None]:
        """Answer, piece by piece; loads the model first.

        Raises:
            ModelError: it failed.
        """
        async with self._turn:
            process = await self._ready(self._choice())
            try:
                async with aclosing(process.generate(request)) as deltas:
                    async for delta in deltas:
                        yield delta
            finally:
                self._rest()

    async def count(self, request: ChatRequest) -> int | None:
        """Tokens of a conversation; loads the model first. None while it answers somebody else.

        Raises:
            ModelError: it failed.
        """
        if self._turn.locked():
            return None
        async with self._turn:
            process = await self._ready(self._choice())
            try:
                return await process.count(request)
            finally:
                self._rest()

    async def aclose(self) -> None:
        """End the process, whatever it does."""
        self._closed = True
        self._wake()
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.wait((self._loading,))
        self._drop()
        await self._all_ended()

    async def _ready(self, choice: ModelChoice) -> ModelProcess:
        """The process with a model; whoever calls has the turn.

        Raises:
            ModelError: it cannot be loaded.
        """
        while True:
            self._wake()
            if self._closed:
                raise ModelError("the server is shutting down", hint=_LATER)
            process = self._process
            if process is not None and process.alive and self._loaded == choice:
                return process
            failure = self._failure
            if failure is not None and failure.choice == choice and _now() < failure.until:
                raise failure.again()
            if self._loading is None:
                self._loading = asyncio.create_task(self._load(choice), name="loading a model")
            # Who goes away meanwhile does not spoil it for whoever comes next.
            await asyncio.wait((self._loading,))
            if self._failure is not None and self._failure.choice == choice:
                raise self._failure.again()

    async def _load(self, choice: ModelChoice) -> None:
        process: ModelProcess | None = None
        try:
            self._drop()
            await self._all_ended()
            async with asyncio.timeout(self._hosting.load_seconds):
                process = await ModelProcess.start(self._hosting.threads)
                options = HostedOptions(choice, self._hosting.threads, self._hosting.settings)
                info = await process.load(self._hosting.target, options)
        except Exception as error:
            self._failed(choice, error)
        else:
            self._process, process = process, None
            self._loaded, self._failure = choice, None
            self._known = (choice, replace(info, backend=self._hosting.backend))
            log.info("%s is loaded by %s", choice.name, self._hosting.backend)
            self._rest()
        finally:
            self._loading = None
            if process is not None:
                self._end(process)

    def _failed(self, choice: ModelChoice, error: Exception) -> None:
        if isinstance(error, TimeoutError):
            told: ModelError = ModelTimeoutError(
                f"the model {choice.name!r} was not loaded within "
                f"{self._hosting.load_seconds:g} seconds",
                hint="raise llm.first_piece, or choose a smaller model with `cloxy init`",
            )
        elif isinstance(error, CloxyError):
            told = ModelError(
                f"the model {choice.name!r} cannot be loaded: {error.message}",
                hint=error.hint or f"check {choice.path}, or choose another with `cloxy init`",
            )
        else:
            told = ModelError(f"the model {choice.name!r} cannot be loaded: {error}")
        log.warning("%s", told)
        self._failure = _Failure(choice, told, _now() + RETRY_SECONDS)

    def _rest(self) -> None:
        """Nothing is asked of it at this moment."""
        self._wake()
        if self._hosting.idle_seconds and self._process is not None:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._hosting.idle_seconds, self._unload)

    def _wake(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _unload(self) -> None:
        self._idle = None
        if not self._turn.locked() and self._loading is None:
            log.info("the model of %s is unloaded, as nobody asks it", self._hosting.backend)
            self._drop()

    def _drop(self) -> None:
        process, self._process, self._loaded = self._process, None, None
        if process is not None:
            self._end(process)

    def _end(self, process: ModelProcess) -> None:
        process.kill()
        ending = asyncio.create_task(process.end(), name="ending a model")
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def _all_ended(self) -> None:
        while self._ending:
            await asyncio.wait(self._ending)


def _now() -> float:
    return asyncio.get_running_loop().time()
