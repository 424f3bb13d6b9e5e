"""Named worker threads with bounded queues; the only way from the event loop to blocking code."""

import asyncio
import contextvars
import itertools
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeVar

from cloxy_hookspecs.errors import StoreBusyError

T = TypeVar("T")

SHUTDOWN_SECONDS: Final = 10.0
TURN_SECONDS: Final = 0.0005

_left: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def someone_is_left() -> bool:
    """Whether a thread still works that a shutdown did not wait for to the end.

    The interpreter must not take itself apart then: such a thread may be in a library of another
    language, and is ended when it comes back; several libraries end the whole process at that.
    """
    return any(thread.is_alive() for thread in _left)


def take_short_turns() -> None:
    """Let the threads of this process hand the interpreter on more often than by default.

    A thread that reads rows gives it up at each, and then waits for a whole turn of any thread that
    computes: while logs are parsed, an answer of a hundred rows would take half a second.
    """
    sys.setswitchinterval(TURN_SECONDS)


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """How one kind of work is run.

    Attributes:
        threads: threads that take jobs.
        queue: jobs that may wait; urgent ones may fill the same number again.
        linger: most seconds that a shutdown waits for its threads; a model that is being fetched
            or loaded is not worth waiting for.
    """

    threads: int
    queue: int
    linger: float = SHUTDOWN_SECONDS


DEFAULT_PLANS: Final[Mapping[str, WorkerPlan]] = MappingProxyType(
    {
        "writer": WorkerPlan(threads=1, queue=256),
        "readers": WorkerPlan(threads=4, queue=256),
        "io": WorkerPlan(threads=2, queue=1024),
        "model": WorkerPlan(threads=1, queue=64, linger=1.0),
        "reranker": WorkerPlan(threads=1, queue=64, linger=1.0),
        "loader": WorkerPlan(threads=1, queue=16, linger=1.0),
    }
)


class Workers:
    """Threads by name: those of the plans."""

    def __init__(self, plans: Mapping[str, WorkerPlan] = DEFAULT_PLANS) -> None:
        self._pools = {name: _Pool(name, plan) for name, plan in plans.items()}

    async def run(self, name: str, work: Callable[[], T], *, urgent: bool = False) -> T:
        """Run work on a thread and return its value, or raise what it raised.

        A caller that is cancelled while its job waits takes the job out of the queue; a job that
        has begun is finished, and its result dropped.

        Args:
            name: The worker.
            work: The job; it sees the context variables of the caller.
            urgent: Whether it goes before all jobs that are not.

        Raises:
            StoreBusyError: Too many jobs wait, or the workers are shutting down.
        """
        return await asyncio.wrap_future(self.submit(name, work, urgent=urgent))

    def submit(self, name: str, work: Callable[[], T], *, urgent: bool = False) -> "Future[T]":
        """Queue work from any thread, and return its future.

        Raises:
            StoreBusyError: Too many jobs wait, or the workers are shutting down.
        """
        return self._pools[name].submit(work, urgent=urgent)

    def waiting(self, name: str) -> int:
        """How many jobs of a worker have not begun."""
        return self._pools[name].waiting()

    async def close(self, seconds: float = SHUTDOWN_SECONDS) -> bool:
        """Take no more jobs, finish those that wait, end the threads.

        Args:
            seconds: How long to wait for all of it. Jobs that have not begun by then fail with
                `StoreBusyError`, so that nobody waits for ever.

        Returns:
            Whether every thread ended.
        """
        return await asyncio.to_thread(self.close_blocking, seconds)

    def close_blocking(self, seconds: float = SHUTDOWN_SECONDS) -> bool:
        """The same for callers without an event loop."""
        deadline = time.monotonic() + seconds
        for pool in self._pools.values():
            pool.stop()
        # No short circuit: every pool has to be ended, whatever the others did.
        ended = [pool.join(deadline) for pool in self._pools.values()]
        return all(ended)


class _Pool:
    """Threads around two queues, urgent and ordinary."""

    def __init__(self, name: str, plan: WorkerPlan) -> None:
        self._name = name
        self._plan = plan
        self._ready = threading.Condition()
        self._urgent: deque[_Job] = deque()
        self._ordinary: deque[_Job] = deque()
        self._stopping = False
        self._numbers = itertools.count(1)
        self._threads: list[threading.Thread] = []
        self._idle = 0

    def submit(self, work: Callable[[], T], *, urgent: bool) -> "Future[T]":
        future: Future[T] = Future()
        job = _Job(future, work, contextvars.copy_context())
        with self._ready:
            self._refuse_if_full(urgent=urgent)
            (self._urgent if urgent else self._ordinary).append(job)
            self._start_thread_if_needed()
            self._ready.notify()
        return future

    def waiting(self) -> int:
        with self._ready:
            return len(self._urgent) + len(self._ordinary)

    def stop(self) -> None:
        with self._ready:
            self._stopping = True
            self._ready.notify_all()

    def join(self, deadline: float) -> bool:
        deadline = min(deadline, time.monotonic() + self._plan.linger)
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        with self._ready:
            refused = [*self._urgent, *self._ordinary]
            self._urgent.clear()
            self._ordinary.clear()
        for job in refused:
            job.refuse(self._shutdown_error())
        left = [thread for thread in self._threads if thread.is_alive()]
        _left.update(left)
        return not left

    def _refuse_if_full(self, *, urgent: bool) -> None:
        if self._stopping:
            raise self._shutdown_error()
        waiting = len(self._urgent) if urgent else len(self._ordinary)
        if waiting >= self._plan.queue:
            raise StoreBusyError(
                f"{waiting} jobs already wait for the {self._name} threads",
                hint="try again in a moment",
            )

    def _shutdown_error(self) -> StoreBusyError:
        return StoreBusyError("the server is shutting down", hint="try again when it runs again")

    def _start_thread_if_needed(self) -> None:
        jobs = len(self._urgent) + len(self._ordinary)
        if jobs <= self._idle or len(self._threads) >= self._plan.threads:
            return
        # Daemons, so that a job that never ends cannot keep the process from ending.
        thread = threading.Thread(
            target=self._work, name=f"cloxy-{self._name}-{next(self._numbers)}", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job.run()
            # An idle thread must not keep the last job's data alive.
            del job

    def _next(self) -> "_Job | None":
        with self._ready:
            self._idle += 1
            try:
                while not (self._urgent or self._ordinary):
                    if self._stopping:
                        return None
                    self._ready.wait()
                return (self._urgent or self._ordinary).popleft()
            finally:
                self._idle -= 1


@dataclass(frozen=True, slots=True)
class _Job:
    """One piece of work and where its outcome goes."""

    future: "Future[Any]"
    work: Callable[[], Any]
    context: contextvars.Context

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            value = self.context.run(self.work)
        except BaseException as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(value)

    def refuse(self, error: Exception) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)
