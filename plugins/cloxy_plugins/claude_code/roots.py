"""The folders in which Claude Code keeps its sessions."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs.logs.folders import absolute
from cloxy_plugins.claude_code.settings import parse_folders

_PROJECTS = "projects"
_CONFIG_FOLDERS = (".claude", ".config/claude")


def folders_to_watch(chosen: object, environment: Mapping[str, str]) -> Sequence[Path]:
    """The folders to watch, existing or not, each once.

    Args:
        chosen: the user's own choice (folders, or a list of them as text); None or an empty
            choice leaves it to the environment.
        environment: environment variables; `CLAUDE_CONFIG_DIR` holds one configuration folder
            or several, separated by commas, and replaces the usual ones.
    """
    return absolute(tuple(_chosen_folders(chosen)) or _automatic_folders(environment))


def _chosen_folders(chosen: object) -> Iterable[Path]:
    if isinstance(chosen, str):
        return parse_folders(chosen) or ()
    if isinstance(chosen, Path):
        return (_expanded(chosen),)
    if isinstance(chosen, Sequence):
        return tuple(_expanded(Path(str(folder))) for folder in chosen)
    return ()


def config_folders(environment: Mapping[str, str] = os.environ) -> Sequence[Path]:
    """The folders of configuration, existing or not; those that hold the usual sessions."""
    return [folder.parent for folder in _automatic_folders(environment)]


def _automatic_folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    named = [part.strip() for part in environment.get("CLAUDE_CONFIG_DIR", "").split(",")]
    replaced = tuple(_expanded(Path(part)) / _PROJECTS for part in named if part)
    return replaced or tuple(Path.home() / folder / _PROJECTS for folder in _CONFIG_FOLDERS)


def _expanded(folder: Path) -> Path:
    try:
        return folder.expanduser()
    except RuntimeError:  # there is no such user: then it is a folder of that name
        return folder
