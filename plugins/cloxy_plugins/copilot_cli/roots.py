"""The folder in which the Copilot CLI keeps its sessions, and which files in it are logs."""

import os
from collections.abc import Mapping
from pathlib import Path, PurePath

from cloxy_hookspecs import Parts
from cloxy_hookspecs.logs.folders import chosen_folder

SESSIONS = "session-state"
EVENTS = "events.jsonl"
CARD = "workspace.yaml"

_VARIABLE = "COPILOT_HOME"
_USUAL = ".copilot"
# From a folder that somebody names to that of the sessions.
_WAYS = ((SESSIONS,), (_USUAL, SESSIONS))
_SUFFIX = ".jsonl"


def copilot_home(environment: Mapping[str, str], home: Path) -> Path:
    """The folder of the Copilot CLI, existing or not; the same on macOS, Linux and Windows.

    Args:
        environment: environment variables; `COPILOT_HOME` replaces the usual folder.
        home: the user's home folder.
    """
    folder = chosen_folder(environment, _VARIABLE, home) or home / _USUAL
    return Path(os.path.abspath(folder))  # noqa: PTH100  # a root that is a link stays one


def sessions_folder(environment: Mapping[str, str], home: Path) -> Path:
    """The folder with one folder a session."""
    return copilot_home(environment, home) / SESSIONS


def is_log(parts: Parts) -> bool:
    """Whether a file holds events, by its path below the folder of sessions, or one above it.

    Each session has a folder with `events.jsonl`; at first it was a file `<id>.jsonl` instead.
    """
    parts = _below_sessions(parts)
    if len(parts) == 1:
        return parts[0].endswith(_SUFFIX) and not parts[0].startswith(".")
    return len(parts) == 2 and parts[1] == EVENTS and not parts[0].startswith(".")


def may_hold_logs(parts: Parts) -> bool:
    """Whether to look into a folder: a session's own and none inside it, or the way to them."""
    if any(way[: len(parts)] == parts for way in _WAYS):
        return True
    parts = _below_sessions(parts)
    return len(parts) == 1 and not parts[0].startswith(".")


def _below_sessions(parts: Parts) -> Parts:
    for way in _WAYS:
        if parts[: len(way)] == way:
            return parts[len(way) :]
    return parts


def session_of_file(uri: str) -> str:
    """Id of the session that a log is named after."""
    path = PurePath(uri)
    name = path.parent.name if path.name == EVENTS else path.name.removesuffix(_SUFFIX)
    return name or "session"


def card_of_file(uri: str) -> Path | None:
    """The card that lies beside a log; None for one of the time before there were cards."""
    path = Path(uri)
    return path.with_name(CARD) if path.name == EVENTS else None
