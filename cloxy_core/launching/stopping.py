"""Stopping the server of a data directory."""

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from cloxy_core import os_service
from cloxy_core.client import Client, UnreachableError
from cloxy_core.client_config import ClientConfig, ClientError
from cloxy_core.launching.launching import answering, holding, running_pid
from cloxy_core.runtime.lock_file import LockHolder

STOP_SECONDS: Final = 20.0
_LOOK_SECONDS: Final = 0.05


class StopError(ClientError):
    """The server could not be stopped."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message, code="stop", hint=hint)


@dataclass(frozen=True, slots=True)
class Stopped:
    """A server that has ended.

    Attributes:
        url: its address; empty when it did not tell.
        pid: its process id; None when that is not known.
        service: the service that it was, in words; None when it was none.
    """

    url: str
    pid: int | None
    service: str | None


def stop_server(
    config: ClientConfig, data_dir: Path, seconds: float = STOP_SECONDS
) -> Stopped | None:
    """Stop the server of a data directory, and wait for its end.

    An installed service is stopped by its manager, so that it does not come back by itself.

    Args:
        config: where it is expected; who has the data directory may say otherwise.
        data_dir: the data directory, absolute.
        seconds: how long to wait.

    Returns:
        What was stopped; None when nothing ran.

    Raises:
        StopError: it does not end; the message says what else can be done.
        ClientError: what answers is not the server of the data directory.
    """
    config = replace(config, data_dir=data_dir)
    holder = holding(data_dir)
    version = None
    if holder is not None and holder.url:
        config = replace(config, url=holder.url)
    elif holder is None:
        version = answering(config)  # says whose it is, if it is not ours
        if version is None:
            return None
    pid = holder.pid if holder is not None else running_pid(data_dir)
    service = _stop_service(data_dir)
    if service is None:
        _ask(config, holder)
    _wait_for_end(config, data_dir, pid, seconds)
    return Stopped(config.url, pid, service)


def _stop_service(data_dir: Path) -> str | None:
    """Let the service manager stop what it runs; the service in words, None where there is none."""
    service = os_service.installed(data_dir)
    if service is None or service.pid() is None:
        return None
    service.stop()
    return service.words


def _ask(config: ClientConfig, holder: LockHolder | None) -> None:
    try:
        Client(config).request("POST", "/shutdown", as_owner=True)
    except UnreachableError as error:
        raise StopError(
            f"process {holder.pid if holder else 'unknown'} has the data directory and does not "
            f"answer at {config.url}",
            hint=_by_hand(holder.pid if holder else None),
        ) from error
    except ClientError as error:
        if error.code == "timeout" and holder is not None:
            raise StopError(
                f"the server at {config.url} has the data directory and does not answer in time",
                hint=_by_hand(holder.pid),
            ) from error
        if error.status not in {403, 404, 405}:
            raise
        raise StopError(
            f"the server at {config.url} does not let itself be stopped: {error.message}",
            hint=_by_hand(holder.pid if holder else None),
        ) from error


def _wait_for_end(config: ClientConfig, data_dir: Path, pid: int | None, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while _runs(config, data_dir):
        if time.monotonic() > deadline:
            raise StopError(
                f"the server has not ended within {seconds:g} seconds", hint=_by_hand(pid)
            )
        time.sleep(_LOOK_SECONDS)


def _runs(config: ClientConfig, data_dir: Path) -> bool:
    if os.name == "posix":
        return holding(data_dir) is not None
    try:
        return answering(config) is not None
    except ClientError:
        return False  # on its way out, or somebody else's by now


def _by_hand(pid: int | None) -> str:
    if pid is None:
        return "end it in the terminal or service that runs it"
    command = f"taskkill /PID {pid}" if os.name == "nt" else f"kill {pid}"
    return f"if it is Cloxy and does nothing useful, run `{command}`"
