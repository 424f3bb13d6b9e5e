"""What runs in the process of a model; started by its path, told there where Cloxy's modules lie.

It reads frames from standard input and writes frames to standard output: eight bytes of length and
JSON. One thread reads, so that a request to stop is heard, and the end of its owner noticed, while
the other is inside of a library. It ends when its input ends, whatever it does.
"""

import contextlib
import importlib
import json
import os
import queue
import struct
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

if sys.platform != "win32":
    import resource

LENGTH = struct.Struct(">Q")
POLITENESS = 10
MOST_MESSAGE = 2_000
FINDING_MODULE = "cloxy_core.runtime.module_finding"
FRAMES_MODULE = "cloxy_core.runtime.model_frames"
KEPT_ERRORS = ("UnsupportedModelError", "ContextTooLongError")


def main() -> None:
    """Answer until the owner is gone."""
    asked, answers = _own_streams()
    first = _read(asked)
    if first is None:
        return
    _prepare(first)
    Server(asked, answers, importlib.import_module(FRAMES_MODULE)).run()


class Server:
    """One model and its owner."""

    def __init__(self, asked: BinaryIO, answers: BinaryIO, frames: Any) -> None:  # noqa: ANN401
        """Serve.

        Args:
            asked: frames of the owner.
            answers: frames for the owner.
            frames: module that knows their forms.
        """
        self._asked = asked
        self._answers = answers
        self._frames = frames
        self._jobs: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._model: Any = None

    def run(self) -> None:
        """Do one thing after the other; returns never."""
        threading.Thread(target=self._listen, name="owner", daemon=True).start()
        self._write({"ready": os.getpid()})
        while True:
            job = self._jobs.get()
            try:
                for frame in self._done(job):
                    self._write({"id": job["id"], **frame})
            except Exception as error:
                self._write({"id": job["id"], **_told(error)})
            # The number may be used no more: a late request to stop must not stop another job.
            self._cancelled.discard(job["id"])

    def _listen(self) -> None:
        while (frame := _read(self._asked)) is not None:
            if frame["op"] == "cancel":
                self._cancelled.add(frame["id"])
            else:
                self._jobs.put(frame)
        # Its owner is gone or wants it to be: no library is asked, some never return.
        os._exit(0)

    def _done(self, job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """The answers to a job, the last with `done`."""
        if job["op"] == "load":
            make = getattr(_found(job["module"], job["file"]), job["function"])
            self._model = make(self._frames.options_from_frame(job["options"]))
            yield {"done": True, "info": self._frames.info_to_frame(self._model.info)}
            return
        request = self._frames.request_from_frame(job["request"])
        if job["op"] == "count":
            yield {"done": True, "count": int(self._model.count(request))}
        else:
            yield from self._generated(job["id"], request)

    def _generated(self, number: int, request: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401
        pieces = iter(() if number in self._cancelled else self._model.generate(request))
        try:
            for delta in pieces:
                yield {"delta": self._frames.delta_to_frame(delta)}
                if number in self._cancelled:
                    break
        finally:
            close = getattr(pieces, "close", None)
            if close is not None:
                close()
        yield {"done": True}

    def _write(self, value: Mapping[str, Any]) -> None:
        body = json.dumps(value).encode()
        try:
            self._answers.write(LENGTH.pack(len(body)) + body)
            self._answers.flush()
        except OSError:
            os._exit(0)  # nobody reads it


def _told(error: Exception) -> Mapping[str, Any]:
    kinds = [kind.__name__ for kind in type(error).__mro__]
    kept = next((name for name in KEPT_ERRORS if name in kinds), None)
    message = getattr(error, "message", None)
    hint = getattr(error, "hint", None)
    return {
        "done": True,
        "error": kept or type(error).__name__,
        "ours": "CloxyError" in kinds,
        "message": (message if isinstance(message, str) else str(error))[:MOST_MESSAGE],
        "hint": hint[:MOST_MESSAGE] if isinstance(hint, str) else None,
    }


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Streams of the protocol; what a library prints goes nowhere."""
    asked = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return asked, answers


def _prepare(first: Mapping[str, Any]) -> None:
    sys.dont_write_bytecode = True
    sys.path[:] = first["path"]
    if sys.platform == "win32":
        return
    os.nice(POLITENESS)  # the server answers first
    if sys.platform == "linux":
        # What wakes up in the server is not made to wait for the end of a turn of the model.
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _found(name: str, file: str | None) -> Any:  # noqa: ANN401 - a module
    return importlib.import_module(FINDING_MODULE).found_module(name, file)


def _read(stream: BinaryIO) -> Any | None:  # noqa: ANN401 - whatever JSON has
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    body = stream.read(length)
    return json.loads(body) if len(body) == length else None


if __name__ == "__main__":
    main()
