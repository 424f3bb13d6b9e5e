"""One worker process: its limits, what may go wrong with it, and the pipes to it."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cloxy_core.runtime import process_main
from cloxy_core.runtime.process_main import LENGTH

_ENVIRONMENT: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "LD_LIBRARY_PATH")
"""All that a worker sees of the environment: no key of its owner is in the reach of a page."""


class ProcessError(Exception):
    """A job has no value."""


class ProcessBusyError(ProcessError):
    """Every process is at work, and the job waited as long as it may."""


class ProcessLimitError(ProcessError):
    """A job took more time or memory than it may, or made a larger answer."""


class ProcessDiedError(ProcessError):
    """The process ended in the middle of a job."""


class ProcessStoppedError(ProcessError):
    """The pool is closed."""


class JobError(ProcessError):
    """The function raised.

    Attributes:
        kind: name of the exception's class.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What a job may use.

    Attributes:
        seconds: by the clock, for one job; also the longest that one waits for its turn. What a
            killed one costs beside it fits into two seconds.
        memory_bytes: of the address space of a process; not enforced by every system.
        answer_bytes: of an answer.
        start_seconds: for a new process to be ready, imports included.
        jobs: after so many a process is replaced: libraries leak.
    """

    seconds: float = 1.8
    memory_bytes: int = 512 * 1024 * 1024
    answer_bytes: int = 16 * 1024 * 1024
    start_seconds: float = 30.0
    jobs: int = 1_000


@dataclass(eq=False, slots=True)
class Process:
    """One process and the pipes to it."""

    modules: Mapping[str, str | None]
    limits: ProcessLimits
    jobs: int = 0
    ready: bool = False
    child: "subprocess.Popen[bytes]" = field(init=False)

    def __post_init__(self) -> None:
        # Isolated, with no descriptor but its pipes: a lock of the data directory is not inherited.
        self.child = subprocess.Popen(  # noqa: S603 - our own file
            [sys.executable, "-I", str(Path(process_main.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Its id."""
        return self.child.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self.child.poll() is None

    def kill(self) -> None:
        """End it at once; who waits for it is told by its pipes."""
        with contextlib.suppress(OSError):
            self.child.kill()

    def end(self) -> None:
        """Leave nothing behind: no process, no descriptor."""
        self.kill()
        for stream in (self.child.stdin, self.child.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self.child.wait()

    def wait_until_ready(self, seconds: float) -> None:
        """Tell it what to be ready for, and wait; nothing where that was done.

        Raises:
            ProcessDiedError: it ended.
            ProcessLimitError: it takes too long.
        """
        if not self.ready:
            first = {
                "path": sys.path,
                "modules": self.modules,
                "seconds": self.limits.seconds,
                "memory_bytes": self.limits.memory_bytes,
                "answer_bytes": self.limits.answer_bytes,
            }
            self._frames(first, seconds)
            self.ready = True

    def exchange(self, job: Mapping[str, Any], limits: ProcessLimits) -> Mapping[str, Any]:
        """Send a job and wait for its answer.

        Raises:
            ProcessDiedError: it ended.
            ProcessLimitError: the job takes too long, or its answer is too large.
        """
        self.jobs += 1
        return self._frames(job, limits.seconds)

    def _frames(self, value: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
        body = json.dumps(value).encode()
        late = threading.Event()

        def end() -> None:
            late.set()
            self.kill()

        deadline = time.monotonic() + seconds
        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            answer = self._asked(LENGTH.pack(len(body)) + body)
        except (OSError, EOFError, ValueError) as error:
            if late.is_set() or time.monotonic() >= deadline:
                raise ProcessLimitError(f"it took more than {seconds:g} seconds") from error
            raise ProcessDiedError("the process ended") from error
        finally:
            timer.cancel()
            timer.join()
        if late.is_set():  # it was killed with its answer on the way
            raise ProcessLimitError(f"it took more than {seconds:g} seconds")
        return answer

    def _asked(self, frame: bytes) -> Mapping[str, Any]:
        """Write a frame and read one; both fail once the process is killed."""
        stdin, stdout = self.child.stdin, self.child.stdout
        if stdin is None or stdout is None:
            raise EOFError
        stdin.write(frame)
        stdin.flush()
        (length,) = LENGTH.unpack(_exactly(stdout, LENGTH.size))
        if length > self.limits.answer_bytes:
            raise ProcessLimitError("the answer is too large")
        answer = json.loads(_exactly(stdout, length))
        if not isinstance(answer, dict):
            raise ValueError("no answer")
        return answer


def _exactly(stream: Any, length: int) -> bytes:  # noqa: ANN401 - a buffered reader
    body: bytes = stream.read(length)
    if len(body) < length:
        raise EOFError
    return body


def value_of(answer: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever JSON has
    """What a job returned.

    Raises:
        ProcessLimitError: it used more than it may.
        JobError: the function raised.
    """
    if "value" in answer:
        return answer["value"]
    kind, message = str(answer.get("error")), str(answer.get("message"))
    if kind == "MemoryError":
        raise ProcessLimitError("it needed more memory than it may")
    if kind == "AnswerTooLarge":
        raise ProcessLimitError("the answer is too large")
    raise JobError(kind, message)
