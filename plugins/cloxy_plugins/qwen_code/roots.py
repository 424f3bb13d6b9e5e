"""The folders in which Qwen Code keeps its sessions, and which files in them are logs."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from cloxy_hookspecs import Parts
from cloxy_hookspecs.logs.folders import absolute, chosen_folder

PROJECTS = "projects"

_VARIABLES = ("QWEN_RUNTIME_DIR", "QWEN_HOME")
_USUAL = ".qwen"
_CHATS = "chats"
_ARCHIVE = "archive"
_AGENTS = "subagents"
_AGENT = "agent-"
_SUFFIX = ".jsonl"


def qwen_folders(environment: Mapping[str, str], home: Path) -> Sequence[Path]:
    """Folders of Qwen Code, existing or not; the same on macOS, Linux and Windows.

    What was written before a variable was set still lies in the folder that was used then, so the
    folder of the user's home comes last and not instead.

    Args:
        environment: environment variables; `QWEN_RUNTIME_DIR` moves the sessions alone,
            `QWEN_HOME` everything.
        home: the user's home folder.
    """
    named = [chosen_folder(environment, variable, home) for variable in _VARIABLES]
    return absolute([*filter(None, named), home / _USUAL])


def project_folders(environment: Mapping[str, str], home: Path) -> Sequence[Path]:
    """The folders with one folder for each project."""
    return [folder / PROJECTS for folder in qwen_folders(environment, home)]


def is_log(parts: Parts) -> bool:
    """Whether a file is a log, by its path below the folder of projects.

    A session is `<project>/chats/<session>.jsonl`, in `archive` below that once it was put away;
    what a sub-agent did is `<project>/subagents/<session>/agent-<id>.jsonl`. Other files beside
    them have a further dot in their names.
    """
    name = parts[-1].removesuffix(_SUFFIX)
    if name == parts[-1] or not name or "." in name:
        return False
    if len(parts) == 3:
        return parts[1] == _CHATS
    if len(parts) == 4:
        archived = parts[1:3] == (_CHATS, _ARCHIVE)
        return archived or (parts[1] == _AGENTS and name.startswith(_AGENT))
    return False


def may_hold_logs(parts: Parts) -> bool:
    """Whether to look into a folder."""
    if len(parts) == 1:
        return True
    if len(parts) == 2:
        return parts[1] in (_CHATS, _AGENTS)
    return len(parts) == 3 and (parts[1:] == (_CHATS, _ARCHIVE) or parts[1] == _AGENTS)


def session_of_file(uri: str) -> str:
    """Key of the session that a log is named after."""
    path = PurePath(uri)
    name = path.name.removesuffix(_SUFFIX)
    if path.parent.parent.name == _AGENTS:
        return f"{path.parent.name}/{name.removeprefix(_AGENT)}"
    return name or "session"
