"""A few processes for work that may have to be killed: code of others on data of others.

A thread cannot be ended from outside, and a process can. Each takes one job at a time, within a
limit of time and of memory; one that exceeds a limit is killed and replaced at once.
"""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError
from functools import partial
from typing import Any, Final

from cloxy_core.runtime.process_child import (
    JobError,
    Process,
    ProcessBusyError,
    ProcessDiedError,
    ProcessError,
    ProcessLimitError,
    ProcessLimits,
    ProcessStoppedError,
    value_of,
)
from cloxy_core.runtime.workers import WorkerPlan, Workers
from cloxy_hookspecs.errors import StoreBusyError

__all__ = [
    "JobError",
    "ProcessBusyError",
    "ProcessDiedError",
    "ProcessError",
    "ProcessLimitError",
    "ProcessLimits",
    "ProcessPool",
    "ProcessStoppedError",
]

_THREADS: Final = "processes"


class ProcessPool:
    """Processes that are started when first needed, and can be killed."""

    def __init__(
        self,
        modules: Mapping[str, str | None],
        *,
        size: int = 2,
        waiting: int = 16,
        limits: ProcessLimits | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            modules: what a new process imports before its first job, and the file of each that
                cannot be found by its name.
            size: processes.
            waiting: jobs that may wait for their turn.
            limits: of each job.
        """
        self._limits = limits or ProcessLimits()
        self._modules = dict(modules)
        self._threads = Workers({_THREADS: WorkerPlan(threads=size, queue=waiting, linger=5.0)})
        self._lock = threading.Lock()
        self._idle: deque[Process] = deque()
        self._all: set[Process] = set()
        self._closed = False

    @property
    def pids(self) -> frozenset[int]:
        """Ids of the processes that there are."""
        with self._lock:
            return frozenset(process.pid for process in self._all)

    async def call(self, target: str, argument: Any) -> Any:  # noqa: ANN401 - whatever JSON has
        """Let a process call a function.

        A caller that is cancelled leaves its job to its time limit.

        Args:
            target: `module:function`; it takes one argument.
            argument: something that JSON has.

        Returns:
            What the function returned, as JSON has it.

        Raises:
            ProcessBusyError: it waited as long as one job may take, or too many wait.
            ProcessLimitError: it used more than it may.
            ProcessDiedError: the process ended.
            ProcessStoppedError: the pool is closed.
            JobError: the function raised.
        """
        begun: Future[None] = Future()
        try:
            job = partial(self._run, begun, target, argument)
            done = self._threads.submit(_THREADS, job)
        except StoreBusyError as error:
            raise self._refusal() from error
        done.add_done_callback(partial(_tell_refused, begun))
        try:
            async with asyncio.timeout(self._limits.seconds):
                await asyncio.wrap_future(begun)
        except TimeoutError as error:
            done.cancel()
            raise ProcessBusyError("every process is at work") from error
        except asyncio.CancelledError:
            done.cancel()
            raise
        return await asyncio.wrap_future(done)

    async def aclose(self) -> None:
        """Kill the processes; jobs that run or wait end with `ProcessStoppedError`."""
        with self._lock:
            self._closed = True
            left = list(self._all)
            self._idle.clear()
        for process in left:
            process.kill()
        await self._threads.close()
        await asyncio.to_thread(self._end_all)

    def _end_all(self) -> None:
        with self._lock:
            for process in list(self._all):
                self._forget(process)

    def _refusal(self) -> ProcessError:
        if self._closed:
            return ProcessStoppedError("the server is shutting down")
        return ProcessBusyError("too many jobs wait")

    def _run(self, begun: "Future[None]", target: str, argument: Any) -> Any:  # noqa: ANN401
        if not begun.set_running_or_notify_cancel():
            return None  # nobody waits any more
        begun.set_result(None)
        process = self._taken()
        try:
            process.wait_until_ready(self._limits.start_seconds)
            answer = process.exchange({"target": target, "argument": argument}, self._limits)
        except BaseException as error:
            self._replace(process)
            if self._closed and isinstance(error, ProcessError):
                raise ProcessStoppedError("the server is shutting down") from error
            raise
        if process.jobs >= self._limits.jobs or answer.get("error") == "MemoryError":
            self._replace(process)
        else:
            self._give_back(process)
        return value_of(answer)

    def _taken(self) -> Process:
        with self._lock:
            if self._closed:
                raise ProcessStoppedError("the server is shutting down")
            while self._idle:
                process = self._idle.popleft()
                if process.alive:
                    return process
                self._forget(process)
            return self._started()

    def _give_back(self, process: Process) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(process)

    def _replace(self, process: Process) -> None:
        process.kill()
        with self._lock:
            self._forget(process)
            if not self._closed:
                self._idle.append(self._started())

    def _forget(self, process: Process) -> None:
        process.end()
        self._all.discard(process)

    def _started(self) -> Process:
        """Start one; the lock is held, so that a pool that closes sees it."""
        process = Process(self._modules, self._limits)
        self._all.add(process)
        return process


def _tell_refused(begun: "Future[None]", done: "Future[Any]") -> None:
    """Tell who waits for its turn that it never comes."""
    if not begun.done() and not done.cancelled():
        with contextlib.suppress(InvalidStateError):
            begun.set_exception(ProcessStoppedError("the server is shutting down"))
