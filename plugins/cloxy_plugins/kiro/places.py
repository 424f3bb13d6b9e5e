"""The folders in which Kiro keeps sessions, and which files there are sessions."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs import LogTree, Parts
from cloxy_hookspecs.logs.folders import application_data, named_folder
from cloxy_hookspecs.logs.json_values import text_of, usable_id

LOG = ".jsonl"
FLAT = "cli"
BUCKETED = "messages.jsonl"
FACTS = "session.json"
CHAT = ".chat"
WORKSPACES = "workspace-sessions"
LIST = "sessions.json"
STORE = "data.sqlite3"

_SESSIONS = "sessions"
_PRODUCTS = ("kiro-cli", "amazon-q")
_BUCKETED_NAME = re.compile(r"(?:sess|cli)_.+")
_CONVERTED = re.compile(r"cli_([0-9a-f]{8}-[0-9a-f-]{27})_.+", re.I)
_NO_SESSIONS = frozenset({"tool-outputs", "sub-executions", "node_modules"})
_PLACE = re.compile(r"[0-9a-f]{32}")
_NO_CHATS = frozenset({"default", "dev_data", "index"})
_DEPTH = 5


def session_folders(environment: Mapping[str, str], home: Path) -> Sequence[Path]:
    """The folders with session logs; `KIRO_HOME` moves those of the command line."""
    moved = named_folder(environment, "KIRO_HOME", home)
    folders = [home / ".kiro"] if moved is None else [moved, home / ".kiro"]
    return [folder / _SESSIONS for folder in folders]


def store_folders(environment: Mapping[str, str], home: Path, platform: str) -> Sequence[Path]:
    """The folders with a database, that of Kiro before that of Amazon Q.

    Args:
        environment: environment variables.
        home: the user's home folder.
        platform: as `sys.platform` has it.
    """
    if platform in ("darwin", "win32"):
        data = application_data(environment, home, platform)
    else:
        data = named_folder(environment, "XDG_DATA_HOME", home) or home / ".local" / "share"
    return [data / product for product in _PRODUCTS]


def chat_folders(environment: Mapping[str, str], home: Path, platform: str) -> Sequence[Path]:
    """The folder with chats of the editor; parameters as for `store_folders`."""
    data = application_data(environment, home, platform)
    return [data / "Kiro" / "User" / "globalStorage" / "kiro.kiroagent"]


def logs_below(folder: Path) -> LogTree:
    """Where session logs lie below a folder: `cli/<id>.jsonl`, `<hash>/<id>/messages.jsonl`."""
    around = folder.parts[-2:]

    def wanted(parts: Parts) -> bool:
        *_, place, name = (*around, *parts)
        if name == BUCKETED:
            return _BUCKETED_NAME.fullmatch(place) is not None
        stem = name.removesuffix(LOG)
        return place == FLAT and stem != name and "." not in stem and usable_id(stem) is not None

    return LogTree(folder, wanted, lambda parts: _may_hold(parts, _NO_SESSIONS))


def stores_below(folder: Path) -> LogTree:
    """Where databases lie below a folder: in it, or in the folders of the two programs."""

    def wanted(parts: Parts) -> bool:
        *_, place, name = (folder.name, *parts)
        return name == STORE and (len(parts) == 1 or place in _PRODUCTS)

    return LogTree(folder, wanted, lambda parts: _may_hold(parts, _NO_SESSIONS))


def chats_below(folder: Path) -> LogTree:
    """Where chats lie below a folder: `<hash>/<id>.chat`, `workspace-sessions/<path>/<id>.json`."""
    around = folder.parts[-2:]

    def wanted(parts: Parts) -> bool:
        whole = (*around, *parts)
        name = whole[-1]
        if name.endswith(CHAT):
            return len(whole) > 1
        listed = len(whole) > 2 and whole[-3] == WORKSPACES
        return listed and name.endswith(".json") and name != LIST

    return LogTree(folder, wanted, lambda parts: _may_hold(parts, _NO_CHATS))


def is_place(name: str) -> bool:
    """Whether a folder of the editor's agent is named by the digest of a folder."""
    return _PLACE.fullmatch(name) is not None


def decoded_folder(name: str) -> str | None:
    """The folder whose path a name is in Base64, with `_` for what files may not be called."""
    try:
        path = base64.b64decode(name.rstrip("_=") + "==", altchars=b"-_").decode()
    except (binascii.Error, ValueError):
        return None
    absolute = path.startswith("/") or path[1:3] in (":\\", ":/")
    return text_of({"path": path}, "path") if absolute and path.isprintable() else None


def session_of(path: Path) -> str:
    """Key of the session that a log is of: its name, or that of its folder."""
    return path.parent.name if path.name == BUCKETED else path.name.removesuffix(LOG)


def facts_beside(path: Path) -> Path:
    """The file with facts beside a log."""
    return path.with_name(FACTS) if path.name == BUCKETED else path.with_suffix(".json")


def log_of(session: str, beside: Path) -> Path:
    """Where the log of another session of the same form lies.

    Args:
        session: its key.
        beside: a log of that form.
    """
    if beside.name == BUCKETED:
        return beside.parent.parent / session / BUCKETED
    return beside.with_name(session + LOG)


def converted_from(path: Path) -> Path | None:
    """The log of the older form from which a log was made; None for any other."""
    found = _CONVERTED.fullmatch(path.parent.name) if path.name == BUCKETED else None
    return path.parents[2] / FLAT / (found[1] + LOG) if found and len(path.parents) > 2 else None


def conversations_in(path: Path) -> Sequence[str]:
    """Ids under which a database may have what a log has."""
    origin = converted_from(path)
    return [session_of(each) for each in (path, origin) if each is not None]


def _may_hold(parts: Parts, others: frozenset[str]) -> bool:
    name = parts[-1]
    return len(parts) <= _DEPTH and name not in others and not name.startswith(".git")
