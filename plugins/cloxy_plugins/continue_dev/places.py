"""Where Continue keeps its sessions, and the folders of projects as it names them."""

import re
from collections.abc import Mapping
from pathlib import Path

from cloxy_hookspecs import LogTree, Parts
from cloxy_hookspecs.logs.addresses import path_of_uri
from cloxy_hookspecs.logs.folders import named_folder, nowhere

LIST = "sessions.json"
"""The list of sessions, in the folder where they lie."""

_FOLDER = "sessions"
_SUFFIX = ".json"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_LIMIT = 4096


def global_folder(environment: Mapping[str, str], home: Path) -> Path:
    """Continue's folder, existing or not; the same on every system.

    Args:
        environment: environment variables; `CONTINUE_GLOBAL_DIR` moves it.
        home: the user's home folder.
    """
    return named_folder(environment, "CONTINUE_GLOBAL_DIR", home) or home / ".continue"


def sessions_below(folder: Path) -> LogTree:
    """The files of sessions.

    Args:
        folder: Continue's folder, or that of its sessions. What else lies in the former is a
            search index, and settings with keys.
    """
    root = folder if folder.name == _FOLDER else folder / _FOLDER
    return LogTree(root, _is_session, nowhere)


def path_of(address: str | None) -> str | None:
    """The path of a project's folder, on this machine or on the one that an editor works on.

    Args:
        address: a path, or a URI with the scheme `file` or `vscode-remote`; others name no folder.
    """
    if address is None or not address.isprintable() or len(address) > _LIMIT:
        return None
    if not _SCHEME.match(address):
        return address.strip() or None
    return path_of_uri(address)


def _is_session(parts: Parts) -> bool:
    return len(parts) == 1 and parts[0].endswith(_SUFFIX) and parts[0] != LIST
