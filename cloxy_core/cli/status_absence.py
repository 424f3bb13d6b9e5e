"""Why no server of ours answers: each case has its own name, words and exit code."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from cloxy_core.client import UnreachableError
from cloxy_core.client_config import ClientConfig, ClientError
from cloxy_core.runtime.lock_file import LOCK_FILE, LockHolder, is_held, read_holder

NOT_RUNNING: Final = 2
NOT_OURS: Final = 3
NO_ANSWER: Final = 4


@dataclass(frozen=True, slots=True)
class Absence:
    """No status could be had.

    Attributes:
        state: `not_running`; `starting` or `busy` (a process has the data directory);
            `elsewhere` (ours listens at another address); `not_ours` or `too_old` (something else
            answers); `unresponsive`; `unknown`.
        exit_code: of the command.
        error: what to tell.
        pid: process that has the data directory; None when none has, or that is not known.
    """

    state: str
    exit_code: int
    error: ClientError
    pid: int | None = None


def absence_of(error: ClientError, config: ClientConfig) -> Absence:
    """Find out why no server answered.

    Args:
        error: what the first question to it came to.
        config: where it was asked.
    """
    holder = _holder(config)
    pid = None if holder is None else holder.pid
    if isinstance(error, UnreachableError):
        return _unreachable(error, config, holder)
    if error.code == "server_too_old":
        return Absence("too_old", NOT_OURS, error, pid)
    # One that has proven whose it is, and then talks nonsense, is ours all the same.
    unproven = error.code == "bad_reply" and config.data_dir is None
    if error.code == "server_not_ours" or unproven:
        return Absence("not_ours", NOT_OURS, error, pid)
    if error.code == "timeout":
        return Absence("unresponsive", NO_ANSWER, error, pid)
    return Absence("unknown", error.exit_code, error, pid)


def _holder(config: ClientConfig) -> LockHolder | None:
    """Who has the data directory, as the lock says; the number in the file alone proves nothing."""
    if config.data_dir is None:
        return None
    path = config.data_dir / LOCK_FILE
    # On Windows the trial would wait, so nothing is known there.
    return read_holder(path) if is_held(path) else None


def _unreachable(
    error: UnreachableError, config: ClientConfig, holder: LockHolder | None
) -> Absence:
    if holder is None or config.data_dir is None:
        return Absence("not_running", NOT_RUNNING, error)
    who = f"Cloxy {holder.version} (process {holder.pid})"
    if not holder.url:
        words = f"{who} has the data directory {config.data_dir} and does not serve: it repairs, "
        words += "restores or moves it, or listens on a port that it was free to choose"
        hint = "wait until it is done"
        return Absence("busy", NO_ANSWER, _error(words, hint), holder.pid)
    if urlsplit(holder.url).port != urlsplit(config.url).port:
        words = f"no server at {config.url}, but {who} serves {config.data_dir} at {holder.url}"
        hint = f"set CLOXY_URL={holder.url}, or CLOXY_PORT, or restart it with the port you want"
        return Absence("elsewhere", NOT_OURS, _error(words, hint), holder.pid)
    words = (
        f"{who} has the data directory {config.data_dir} and does not listen at {config.url} yet"
    )
    hint = "it is starting or ending; try again in a moment, and look at its log if that lasts"
    return Absence("starting", NO_ANSWER, _error(words, hint), holder.pid)


def _error(words: str, hint: str) -> ClientError:
    return ClientError(words, code="no_answer", hint=hint)
