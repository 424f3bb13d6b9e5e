"""Where OpenCode keeps its sessions."""

import os
from collections.abc import Mapping
from pathlib import Path

from cloxy_hookspecs import LogTree, Parts
from cloxy_hookspecs.logs.folders import named_folder, nowhere

STORAGE = "storage"

_FOLDER = "opencode"
_DATABASE = "opencode.db"
_CHANNEL = "opencode-"
_SUFFIX = ".db"
_IN_MEMORY = ":memory:"


def data_folder(environment: Mapping[str, str], home: Path) -> Path:
    """The folder of OpenCode, existing or not; the same on macOS, Linux and Windows.

    Args:
        environment: environment variables; `XDG_DATA_HOME` replaces `~/.local/share`.
        home: the user's home folder.
    """
    data = named_folder(environment, "XDG_DATA_HOME", home) or home / ".local" / "share"
    return Path(os.path.abspath(data / _FOLDER))  # noqa: PTH100  # a root that is a link stays one


def named_database(environment: Mapping[str, str], folder: Path) -> Path | None:
    """The database that `OPENCODE_DB` names, if it names a file.

    Args:
        environment: environment variables.
        folder: the folder of OpenCode, below which a relative name lies.
    """
    named = environment.get("OPENCODE_DB", "").strip()
    if not named or "\0" in named or named == _IN_MEMORY:
        return None
    return Path(os.path.abspath(folder / named))  # noqa: PTH100


def is_database(parts: Parts) -> bool:
    """Whether a file is a database of OpenCode: of its usual release, or of another channel."""
    name = parts[-1]
    channel = name.startswith(_CHANNEL) and name.endswith(_SUFFIX)
    return len(parts) == 1 and (name == _DATABASE or channel)


def database_trees(folder: Path, named: Path | None) -> list[LogTree]:
    """Where databases lie; the named one first.

    Args:
        folder: the folder of OpenCode.
        named: a database elsewhere, if there is one.
    """
    usual = LogTree(folder, is_database, nowhere)
    if named is None or (named.parent == folder and is_database((named.name,))):
        return [usual]
    name = (named.name,)
    return [LogTree(named.parent, lambda parts: parts == name, nowhere), usual]
