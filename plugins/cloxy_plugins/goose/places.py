"""Where Goose keeps its sessions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs import LogTree, Parts
from cloxy_hookspecs.logs.folders import absolute, named_folder

SESSIONS = "sessions"
DATABASE = "sessions.db"
SUFFIX = ".jsonl"

_APPLICATION = "goose"
_WAY = ((SESSIONS,), ("data",), ("data", SESSIONS))


def session_folders(environment: Mapping[str, str], home: Path, platform: str) -> Sequence[Path]:
    """The folders with sessions, existing or not; the one in use first.

    Args:
        environment: environment variables; `GOOSE_PATH_ROOT` moves all that Goose keeps.
        home: the user's home folder.
        platform: as `sys.platform` has it.
    """
    if root := named_folder(environment, "GOOSE_PATH_ROOT", home):
        return absolute([root / "data" / SESSIONS])
    if platform == "win32":
        roaming = named_folder(environment, "APPDATA", home) or home / "AppData" / "Roaming"
        return absolute([roaming / "Block" / _APPLICATION / "data" / SESSIONS])
    data = named_folder(environment, "XDG_DATA_HOME", home) or home / ".local" / "share"
    # Old versions for macOS kept their sessions beside the settings.
    settings = home / ".config"
    return absolute([data / _APPLICATION / SESSIONS, settings / _APPLICATION / SESSIONS])


def databases_in(folder: Path) -> LogTree:
    """A database in a folder of sessions, or on the way to it from Goose's own folder."""
    return LogTree(folder, _is_database, _on_the_way)


def files_in(folder: Path) -> LogTree:
    """Files of sessions, likewise."""
    return LogTree(folder, _is_file, _on_the_way)


def _is_database(parts: Parts) -> bool:
    return parts[-1] == DATABASE and _is_place(parts[:-1])


def _is_file(parts: Parts) -> bool:
    return parts[-1].endswith(SUFFIX) and len(parts[-1]) > len(SUFFIX) and _is_place(parts[:-1])


def _is_place(parts: Parts) -> bool:
    return not parts or parts[-1] == SESSIONS


def _on_the_way(parts: Parts) -> bool:
    return parts in _WAY
