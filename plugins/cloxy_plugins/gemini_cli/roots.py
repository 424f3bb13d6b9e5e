"""The folder in which the Gemini CLI keeps its sessions, and which files in it are logs."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cloxy_hookspecs import Parts
from cloxy_hookspecs.logs.folders import absolute, chosen_folder

PROJECTS = "projects.json"
PROMPTS = "logs.json"

_VARIABLE = "GEMINI_CLI_HOME"
_FOLDER = ".gemini"
_QWEN_VARIABLES = ("QWEN_RUNTIME_DIR", "QWEN_HOME")
_QWEN_FOLDER = ".qwen"
_TMP = "tmp"
_CHATS = "chats"
_SESSION = "session-"
_SUFFIXES = (".json", ".jsonl")
_HASH = re.compile(r"[0-9a-f]{64}")
_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Place:
    """What the path of a log tells.

    Attributes:
        project: folder of the project.
        name: file's name without its ending.
        parent: session whose sub-agent it is of.
    """

    project: Path
    name: str
    parent: str | None = None


def sessions_folder(environment: Mapping[str, str], home: Path) -> Path:
    """The folder with one folder for each project; the same on macOS, Linux and Windows.

    Args:
        environment: environment variables; `GEMINI_CLI_HOME` takes the place of the home folder.
        home: the user's home folder.
    """
    return _tmp_in((chosen_folder(environment, _VARIABLE, home) or home) / _FOLDER)


def old_qwen_folders(environment: Mapping[str, str], home: Path) -> Sequence[Path]:
    """The same folders of Qwen Code, whose older versions wrote as the Gemini CLI does.

    Args:
        environment: environment variables; `QWEN_RUNTIME_DIR` and `QWEN_HOME` name folders beside
            the usual one.
        home: the user's home folder.
    """
    named = [chosen_folder(environment, variable, home) for variable in _QWEN_VARIABLES]
    folders = [*filter(None, named), home / _QWEN_FOLDER]
    return absolute(folder / _TMP for folder in folders)


def _tmp_in(folder: Path) -> Path:
    return Path(os.path.abspath(folder / _TMP))  # noqa: PTH100  # a root that is a link stays one


def is_log(parts: Parts) -> bool:
    """Whether a file is a log, by its path below the folder of sessions.

    A session is `<project>/chats/session-<time>-<id>.json` or `.jsonl`; what a sub-agent did is
    `<project>/chats/<session>/<id>.jsonl`; `<project>/logs.json` lists prompts.
    """
    if len(parts) == 2:
        return parts[1] == PROMPTS
    if len(parts) == 3:
        return parts[1] == _CHATS and parts[2].startswith(_SESSION) and parts[2].endswith(_SUFFIXES)
    return len(parts) == 4 and parts[1] == _CHATS and parts[3].endswith(_SUFFIXES[1])


def may_hold_logs(parts: Parts) -> bool:
    """Whether to look into a folder."""
    return len(parts) == 1 or (len(parts) in (2, 3) and parts[1] == _CHATS)


def is_log_anywhere(parts: Parts) -> bool:
    """Whether a file is a log, by its path below a folder that may be of any level."""
    if parts[-1] == PROMPTS:
        return len(parts) == 2 or parts[-3:-2] == (_TMP,)
    return (
        is_log(parts[-3:])
        or is_log(parts[-4:])
        or (len(parts) == 1 and is_log(("", _CHATS, parts[0])))
    )


def may_hold_logs_anywhere(parts: Parts) -> bool:
    """Whether to look into a folder below one that may be of any level."""
    return len(parts) < _DEPTH and parts[-1] not in ("tool-outputs", "node_modules", ".git")


def is_of_qwen(parts: Parts) -> bool:
    """Whether a path leads through the usual folder of Qwen Code."""
    return _QWEN_FOLDER in parts


def place_of(path: Path) -> Place:
    """What the path of a log tells."""
    name = path.name.removesuffix(".jsonl").removesuffix(".json")
    if path.name == PROMPTS:
        return Place(path.parent, name)
    if path.parent.name == _CHATS or path.name.startswith(_SESSION):
        return Place(path.parent.parent, name)
    return Place(path.parent.parent.parent, name, path.parent.name)


def is_hash(name: str) -> bool:
    """Whether a project's folder is named by a digest, as it was at first."""
    return _HASH.fullmatch(name) is not None


def short_id(name: str) -> str:
    """The first characters of a session's id, which the name of its file ends with."""
    return name.rpartition("-")[2]
