"""The folders in which Codex keeps its sessions."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs.logs.folders import chosen_folder

SESSIONS = "sessions"
ARCHIVED = "archived_sessions"

_VARIABLE = "CODEX_HOME"
USUAL = ".codex"


def codex_home(environment: Mapping[str, str], home: Path) -> Path:
    """The folder of Codex, existing or not; the same on macOS, Linux and Windows.

    Args:
        environment: environment variables; `CODEX_HOME` replaces the usual folder.
        home: the user's home folder.
    """
    folder = chosen_folder(environment, _VARIABLE, home) or home / USUAL
    return Path(os.path.abspath(folder))  # noqa: PTH100  # a root that is a link stays one


def session_folders(environment: Mapping[str, str], home: Path) -> Sequence[Path]:
    """The folders that hold rollouts: those in use, and those that were archived."""
    folder = codex_home(environment, home)
    return (folder / SESSIONS, folder / ARCHIVED)
