"""What runs in a worker process; started by its path, told there where Cloxy's modules lie.

It reads frames from standard input and answers each on standard output: eight bytes of length and
JSON, so that nothing that comes back can be more than data. It ends when its input ends, that is
when its owner is gone; a job that outlives its time ends it by an alarm.
"""

import contextlib
import importlib
import json
import os
import signal
import struct
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO

if sys.platform != "win32":
    import resource

LENGTH = struct.Struct(">Q")
POLITENESS = 5
GRACE_SECONDS = 1.0
MOST_MESSAGE = 2_000
FINDING_MODULE = "cloxy_core.runtime.module_finding"


def main() -> None:
    """Answer jobs until there are no more."""
    jobs, answers = _own_streams()
    first = _read(jobs)
    if first is None:
        return
    _prepare(first)
    _write(answers, {"ready": os.getpid()})
    while (job := _read(jobs)) is not None:
        _write(answers, _limited_to(first["seconds"] + GRACE_SECONDS, job), first["answer_bytes"])


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Streams of the protocol; what a library prints goes nowhere."""
    jobs = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return jobs, answers


def _prepare(first: Mapping[str, Any]) -> None:
    sys.dont_write_bytecode = True
    sys.path[:] = first["path"]
    for module, file in first["modules"].items():
        # What is missing is told by the job that needs it.
        with contextlib.suppress(Exception):
            _found(module, file)
    if hasattr(os, "nice"):
        os.nice(POLITENESS)  # the server answers first
    _limit_memory(first["memory_bytes"])


def _limit_memory(size: int) -> None:
    if sys.platform == "win32":
        return
    for kind, most in ((resource.RLIMIT_AS, size), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(ValueError, OSError):
            _soft, hard = resource.getrlimit(kind)
            top = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (top, hard))


def _limited_to(seconds: float, job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Do a job; an owner that was killed cannot end it, so the kernel does."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return {"value": _done(job)}
    except MemoryError:
        return {"error": "MemoryError", "message": ""}
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)[:MOST_MESSAGE]}
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def _done(job: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever JSON has
    module, _, name = job["target"].partition(":")
    return getattr(_found(module, None), name)(job["argument"])


def _found(name: str, file: str | None) -> Any:  # noqa: ANN401 - a module
    return importlib.import_module(FINDING_MODULE).found_module(name, file)


def _read(stream: BinaryIO) -> Any | None:  # noqa: ANN401 - whatever JSON has
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    body = stream.read(length)
    return json.loads(body) if len(body) == length else None


def _write(stream: BinaryIO, value: Mapping[str, Any], most: int | None = None) -> None:
    try:
        body = json.dumps(value).encode()
    except MemoryError:
        body = json.dumps({"error": "MemoryError", "message": ""}).encode()
    except (TypeError, ValueError, RecursionError) as error:
        body = json.dumps({"error": type(error).__name__, "message": str(error)[:200]}).encode()
    if most is not None and len(body) > most:
        body = json.dumps({"error": "AnswerTooLarge", "message": ""}).encode()
    stream.write(LENGTH.pack(len(body)) + body)
    stream.flush()


if __name__ == "__main__":
    main()
