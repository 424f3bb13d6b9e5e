"""How much of each kind of work runs at the same time, whatever door it came through."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from cloxy_hookspecs import CloxyError, OperationProvider, Route

WAIT_SECONDS = 30.0


class BusyError(CloxyError):
    """Too much of one kind of work is running or waiting.

    Attributes:
        retry_seconds: when to try again, in seconds from now.
    """

    code: ClassVar[str] = "busy"
    http_status: ClassVar[int] = 503
    retryable: ClassVar[bool] = True

    def __init__(self, message: str, *, hint: str | None = None, retry_seconds: int = 1) -> None:
        super().__init__(message, hint=hint)
        self.retry_seconds = retry_seconds


@dataclass(frozen=True, slots=True)
class WorkClass:
    """Requests that share the same scarce thing.

    Attributes:
        paths: Paths whose requests belong to the class.
        running: How many run at the same time.
        waiting: How many more may wait for a place.
        retry_seconds: What `Retry-After` says to the rest.
        methods: Methods that belong to it; all when empty.
    """

    paths: frozenset[str]
    running: int
    waiting: int
    retry_seconds: int = 1
    methods: frozenset[str] = frozenset()


# Scans take minutes and get places of their own, or two of them would hold up `remember`.
OPERATION_WORK: tuple[WorkClass, ...] = (
    WorkClass(frozenset({"/recall"}), running=16, waiting=256),
    WorkClass(frozenset({"/ingest_text", "/forget"}), running=2, waiting=256),
    WorkClass(frozenset({"/ingest_convos", "/reindex"}), running=2, waiting=8, retry_seconds=5),
)


class WorkGate:
    """The places of one work class."""

    def __init__(self, work: WorkClass, wait_seconds: float = WAIT_SECONDS) -> None:
        self.retry_seconds = work.retry_seconds
        self._limit = work.waiting
        self._wait_seconds = wait_seconds
        self._waiting = 0
        self._places = asyncio.Semaphore(work.running)

    async def enter(self) -> bool:
        """Take a place, waiting for one if the queue has room.

        Returns:
            False when the queue is full or the wait took too long; True obliges to `leave`.
        """
        if not self._places.locked():
            return await self._places.acquire()
        if self._waiting >= self._limit:
            return False
        self._waiting += 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                return await self._places.acquire()
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1

    def leave(self) -> None:
        """Give the place back."""
        self._places.release()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place meanwhile.

        Raises:
            BusyError: there is none now, and no room to wait for one.
        """
        if not await self.enter():
            raise BusyError(
                "too many requests of this kind are running or waiting",
                hint=f"try again in {self.retry_seconds} s",
                retry_seconds=self.retry_seconds,
            )
        try:
            yield
        finally:
            self.leave()


class Gates:
    """The places of the operations: one gate for each class, shared by all doors."""

    def __init__(self, classes: Sequence[WorkClass] = OPERATION_WORK) -> None:
        self._gates: dict[str, WorkGate] = {}
        for work in classes:
            self._gates.update(dict.fromkeys(work.paths, WorkGate(work)))

    def of(self, record: OperationProvider[Any, Any]) -> WorkGate | None:
        """The gate of an operation, known by its place at the REST door; None for no limit."""
        for door in record.doors:
            if isinstance(door, Route) and door.path in self._gates:
                return self._gates[door.path]
        return None
