"""The folders in which Droid keeps its sessions, and which files in them are logs."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from cloxy_hookspecs import Parts
from cloxy_hookspecs.logs.folders import absolute, named_folder

_VARIABLE = "FACTORY_DIR"
_USUAL = ".factory"
_SESSIONS = "sessions"
_SUFFIX = ".jsonl"


def session_folders(environment: Mapping[str, str], home: Path) -> Sequence[Path]:
    """Folders of sessions, existing or not; the same on macOS, Linux and Windows.

    What was written before the variable was set still lies in the folder of the user's home, so
    that one comes last and not instead.

    Args:
        environment: environment variables; `FACTORY_DIR` moves everything.
        home: the user's home folder.
    """
    named = named_folder(environment, _VARIABLE, home)
    folders = [home / _USUAL] if named is None else [named, home / _USUAL]
    return absolute(folder / _SESSIONS for folder in folders)


def is_log(parts: Parts) -> bool:
    """Whether a file is a log, by its path below the folder of sessions.

    A session is `<project>/<session>.jsonl`; early versions had no folder for each project. Its
    settings and backups beside it have a further dot in their names.
    """
    last = parts[len(parts) - 1]
    name = last.removesuffix(_SUFFIX)
    return len(parts) <= 2 and name != last and bool(name) and "." not in name


def may_hold_logs(parts: Parts) -> bool:
    """Whether to look into a folder."""
    return len(parts) == 1


def session_of_file(uri: str) -> str:
    """Key of the session that a log is named after."""
    return PurePath(uri).name.removesuffix(_SUFFIX) or "session"
