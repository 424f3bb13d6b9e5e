"""Starting the server in the background, once, however many want it at the same time."""

import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from cloxy_core import os_service
from cloxy_core.client import UnreachableError
from cloxy_core.client.connection import connected
from cloxy_core.client_config import ClientConfig, ClientError
from cloxy_core.launching.detached import is_alive, start_detached
from cloxy_core.launching.environment import server_environment
from cloxy_core.launching.launch_lock import LaunchLock
from cloxy_core.os_service.launch_log import launch_log, make_folder, open_launch_log
from cloxy_core.runtime.lock_file import LOCK_FILE, LockHolder, is_held, read_holder

START_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.05
_LOG_TAIL: Final = 8192
# `-P`: the working directory must not come first among the places that modules are found in.
_PROGRAM: Final = ("-P", "-m", "cloxy_core.cli.background")


class LaunchError(ClientError):
    """The server could not be started."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message, code="launch", hint=hint)


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers.

    Attributes:
        url: its address.
        version: its version.
        pid: its process id; None when that is not known.
        started: whether it was started now.
    """

    url: str
    version: str
    pid: int | None
    started: bool


def ensure_server(
    config: ClientConfig,
    environ: Mapping[str, str],
    *,
    host: str | None = None,
    seconds: float = START_SECONDS,
) -> Running:
    """The server of a data directory, started if none runs.

    Args:
        config: where it has to answer; its data directory must be known.
        environ: environment variables, of which the server gets the few that it needs.
        host: address to listen on; None for the setting.
        seconds: how long to wait for its first answer.

    Raises:
        LaunchError: it did not start; the message holds its last words.
        ClientError: something else has the port, or the data directory cannot be used.
    """
    data_dir = _data_dir_of(config)
    deadline = time.monotonic() + seconds
    lock = LaunchLock(data_dir)
    try:
        while True:
            version = answering(config)
            if version is None and lock.try_acquire():
                # Whoever had the lock before may have started it.
                version = answering(config)
                if version is None:
                    return _start(config, environ, host, deadline)
            if version is not None:
                return Running(config.url, version, running_pid(data_dir), started=False)
            _pause(deadline, config, "another process that starts it is not done")
    finally:
        lock.release()


def answering(config: ClientConfig) -> str | None:
    """The version of the server that answers; None when none does, or not yet.

    Raises:
        ClientError: what answers is not the server of the data directory.
    """
    try:
        with connected(config) as link:
            return link.version
    except UnreachableError:
        return None
    except ClientError as error:
        # It listens before it answers, and may be at work on its database until then.
        if error.code == "timeout" and is_held(_data_dir_of(config) / LOCK_FILE):
            return None
        raise


def running_at(data_dir: Path) -> str | None:
    """Where the server of a data directory says that it listens; None when none says it."""
    holder = holding(data_dir)
    return None if holder is None else holder.url or None


def running_pid(data_dir: Path) -> int | None:
    """Process id of who has the data directory, as it wrote it down."""
    holder = read_holder(data_dir / LOCK_FILE)
    return None if holder is None else holder.pid


def _start(
    config: ClientConfig, environ: Mapping[str, str], host: str | None, deadline: float
) -> Running:
    data_dir = _data_dir_of(config)
    holder = holding(data_dir)
    if holder is not None:
        _refuse_elsewhere(config, holder)
        pid, begins = holder.pid, None
    elif (service := os_service.installed(data_dir)) is not None:
        service.start()
        pid, begins = None, None
    else:
        pid, begins = _spawn(config, environ, host)
    version = _wait(config, pid, begins, deadline)
    return Running(config.url, version, running_pid(data_dir) or pid, started=holder is None)


def holding(data_dir: Path) -> LockHolder | None:
    """Who has the lock of a data directory at this moment; None when nobody has."""
    lock = data_dir / LOCK_FILE
    if os.name == "nt":
        return None  # a trial would wait there; a second server is refused in its own words
    return (read_holder(lock) or LockHolder(0, "?", "", 0)) if is_held(lock) else None


def _spawn(config: ClientConfig, environ: Mapping[str, str], host: str | None) -> tuple[int, int]:
    """Start the program; its process id, and where its words begin in the log."""
    data_dir = _data_dir_of(config)
    path = launch_log(data_dir)
    environment = server_environment(environ, data_dir, host, urlsplit(config.url).port)
    try:
        make_folder(path.parent)
        log = open_launch_log(path)
        try:
            begins = os.fstat(log).st_size
            pid = start_detached([sys.executable, *_PROGRAM], environment, data_dir, log)
        finally:
            os.close(log)
    except OSError as error:
        raise LaunchError(
            f"the server cannot be started: {error}", hint="run `cloxy start` in a terminal"
        ) from error
    return pid, begins


def _wait(config: ClientConfig, pid: int | None, begins: int | None, deadline: float) -> str:
    """Wait until the server answers; its version."""
    data_dir = _data_dir_of(config)
    while True:
        version = answering(config)
        if version is not None:
            return version
        if begins is not None and pid is not None and not is_alive(pid):
            holder = holding(data_dir)
            if holder is None:
                raise LaunchError(
                    f"the server ended while it started: {last_words(data_dir, begins)}",
                    hint=f"run `cloxy start` in a terminal to see more, or look at "
                    f"{launch_log(data_dir)}",
                )
            # Somebody else was quicker, and will answer soon.
            _refuse_elsewhere(config, holder)
            pid, begins = None, None
        _pause(deadline, config, f"look at {launch_log(data_dir)}")


def last_words(data_dir: Path, begins: int = 0) -> str:
    """The last line that a server in the background printed since a place in its log."""
    try:
        content = launch_log(data_dir).read_bytes()
    except OSError:
        content = b""
    said = content[begins if begins <= len(content) else 0 :][-_LOG_TAIL:]
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines()]
    return next((line for line in reversed(lines) if line), "it said nothing")


def _refuse_elsewhere(config: ClientConfig, holder: LockHolder) -> None:
    """Refuse when who has the data directory will never answer where we ask."""
    data_dir = _data_dir_of(config)
    if not holder.url:
        raise LaunchError(
            f"process {holder.pid} of Cloxy {holder.version} uses the data directory {data_dir} "
            f"and does not answer at {config.url}",
            hint="wait until it is done, or end it",
        )
    if urlsplit(holder.url).port != urlsplit(config.url).port:
        raise LaunchError(
            f"the server of {data_dir} (process {holder.pid}) listens at {holder.url}, "
            f"not at {config.url}",
            hint=f"set CLOXY_URL={holder.url}, or stop it with `cloxy stop`",
        )


def _pause(deadline: float, config: ClientConfig, why: str) -> None:
    if time.monotonic() > deadline:
        raise LaunchError(f"the server at {config.url} does not answer yet", hint=why)
    time.sleep(_LOOK_SECONDS)


def _data_dir_of(config: ClientConfig) -> Path:
    if config.data_dir is None:
        raise LaunchError(
            f"no server can be started for {config.url} from here",
            hint="start it on its own machine",
        )
    return config.data_dir
