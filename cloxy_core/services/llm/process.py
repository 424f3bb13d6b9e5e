"""One process with a model, and the pipes to it; asked from the event loop, one thing at a time."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cloxy_core.runtime import model_process_main
from cloxy_core.runtime.model_frames import (
    delta_from_frame,
    info_from_frame,
    options_to_frame,
    request_to_frame,
)
from cloxy_core.runtime.model_process_main import LENGTH
from cloxy_hookspecs import (
    ChatDelta,
    ChatRequest,
    ContextTooLongError,
    HostedOptions,
    ModelError,
    ModelInfo,
    UnsupportedModelError,
)

CANCEL_SECONDS: Final = 2.0
MOST_FRAME: Final = 64 * 1024 * 1024
_KEPT: Final = {
    "UnsupportedModelError": UnsupportedModelError,
    "ContextTooLongError": ContextTooLongError,
}
_ENVIRONMENT: Final = (
    *("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "LD_LIBRARY_PATH"),
    *("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME"),
    *("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"),
    *("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"),
)
"""All that the process sees of the environment: no key of its owner, and where models lie."""


class ProcessEndedError(ModelError):
    """The process ended in the middle of something."""


@dataclass(frozen=True, slots=True)
class Target:
    """What loads a model.

    Attributes:
        module: its module.
        function: its name there.
        file: the module's file, for a module that cannot be found by its name.
    """

    module: str
    function: str
    file: str | None = None


class ModelProcess:
    """A process that loads one model and answers with it."""

    def __init__(self, child: asyncio.subprocess.Process) -> None:
        """Take a process that was started; `start` does both."""
        self._child = child
        self._frames: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read_all(), name="reading from a model")
        self._number = 0
        self._ended = False

    @classmethod
    async def start(cls, threads: int) -> "ModelProcess":
        """Start one.

        Args:
            threads: processor threads that its libraries may use.

        Raises:
            ModelError: it cannot be started.
        """
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        # Nothing is fetched while a question waits; what waits for work gives its core away.
        environment |= {
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": str(threads),
            "OMP_WAIT_POLICY": "passive",
        }
        try:
            child = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                str(Path(model_process_main.__file__)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise ModelError(
                f"no process can be started for the model: {error.strerror or error}",
                hint="close other programs, or raise the limit of processes",
            ) from error
        process = cls(child)
        try:
            await process._send({"path": sys.path})
            await process._next()  # it is ready
        except BaseException:
            await process.end()
            raise
        return process

    @property
    def pid(self) -> int:
        """Its id."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return not self._ended and self._child.returncode is None

    async def load(self, target: Target, options: HostedOptions) -> ModelInfo:
        """Load a model.

        Raises:
            ModelError: it cannot be loaded.
        """
        job = {
            "op": "load",
            "module": target.module,
            "function": target.function,
            "file": target.file,
            "options": options_to_frame(options),
        }
        return info_from_frame((await self._asked(job))["info"])

    async def count(self, request: ChatRequest) -> int:
        """Tokens of a conversation.

        Raises:
            ModelError: it failed.
        """
        job = {"op": "count", "request": request_to_frame(request)}
        return int((await self._asked(job))["count"])

    async def generate(self, request: ChatRequest) -> AsyncGenerator[ChatDelta, None]:
        """Answer, piece by piece; closed early, the process is asked to stop, and soon killed.

        Raises:
            UnsupportedModelError: the model cannot do what is asked.
            ContextTooLongError: the conversation does not fit.
            ModelError: it failed.
        """
        done = False
        number = await self._begin({"op": "generate", "request": request_to_frame(request)})
        try:
            while not done:
                frame = await self._next()
                done = bool(frame.get("done"))
                if "error" in frame:
                    raise _error(frame)
                if "delta" in frame:
                    yield delta_from_frame(frame["delta"])
        finally:
            if not done:
                await self._stop(number)

    def kill(self) -> None:
        """End it at once; its memory is free when the system has taken it back."""
        self._ended = True
        if self._child.returncode is not None:
            return
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                self._child.kill()
            else:
                # asyncio's own way asks how the process is, and so takes the answer away from
                # whoever waits for its end.
                os.kill(self._child.pid, signal.SIGKILL)

    async def end(self) -> None:
        """End it, and wait until it is gone."""
        self.kill()
        if self._child.stdin is not None:
            self._child.stdin.close()
        await self._child.wait()
        await self._reading

    async def _asked(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        """The one answer to a job."""
        number = await self._begin(job)
        try:
            frame = await self._next()
        except asyncio.CancelledError:
            await self._stop(number)
            raise
        if "error" in frame:
            raise _error(frame)
        return frame

    async def _begin(self, job: Mapping[str, Any]) -> int:
        self._number += 1
        await self._send({**job, "id": self._number})
        return self._number

    async def _stop(self, number: int) -> None:
        """Ask it to stop; kill it when it does not say that it did."""
        try:
            async with asyncio.timeout(CANCEL_SECONDS):
                await self._send({"op": "cancel", "id": number})
                while not (await self._next()).get("done"):
                    pass
        except (TimeoutError, ProcessEndedError):
            self.kill()
        except BaseException:
            self.kill()
            raise

    async def _send(self, frame: Mapping[str, Any]) -> None:
        stdin = self._child.stdin
        assert stdin is not None  # it is a pipe
        body = json.dumps(frame).encode()
        try:
            stdin.write(LENGTH.pack(len(body)) + body)
            await stdin.drain()
        except OSError as error:
            raise self._gone() from error
        except asyncio.CancelledError:
            self.kill()  # half a frame may be on its way
            raise

    async def _next(self) -> Mapping[str, Any]:
        """The next frame.

        Raises:
            ProcessEndedError: there is none.
        """
        frame = await self._frames.get()
        if frame is None:
            self._frames.put_nowait(None)  # for whoever asks next
            raise self._gone()
        return frame

    async def _read_all(self) -> None:
        """Take frames as they come: one that is read in part must not be lost to who gives up."""
        stream = self._child.stdout
        assert stream is not None  # it is a pipe
        try:
            while True:
                (length,) = LENGTH.unpack(await stream.readexactly(LENGTH.size))
                if length > MOST_FRAME:
                    break
                self._frames.put_nowait(json.loads(await stream.readexactly(length)))
        except (asyncio.IncompleteReadError, OSError, ValueError):
            pass
        finally:
            self.kill()
            self._frames.put_nowait(None)

    def _gone(self) -> ProcessEndedError:
        self.kill()
        return ProcessEndedError(
            "the process of the model ended in the middle of its work",
            hint="send the request again: it is started anew; if that happens again, the model "
            "may need more memory than there is: choose a smaller one with `cloxy init`",
        )


def _error(frame: Mapping[str, Any]) -> ModelError:
    kind, message, hint = str(frame["error"]), str(frame["message"]), frame["hint"]
    hint = None if hint is None else str(hint)
    if kind in _KEPT:
        return _KEPT[kind](message, hint=hint)
    return ModelError(message if frame["ours"] else f"{kind}: {message}".rstrip(": "), hint=hint)
