"""Which files are chat sessions, and which of several files of one session is read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cloxy_hookspecs import LogTree, Parts, SourceItem
from cloxy_hookspecs.logs.folders import nowhere

WORKSPACES = "workspaceStorage"
_SESSIONS = "chatSessions"
_WINDOWLESS = ("emptyWindowChatSessions", "transferredChatSessions")
_FORMS = (".json", ".jsonl")
_DEPTH = 3


def trees_of(user_folders: Iterable[Path]) -> Sequence[LogTree]:
    """Where sessions lie below the folders of users."""
    trees: list[LogTree] = []
    for folder in user_folders:
        trees.append(LogTree(folder / WORKSPACES, _in_workspace, _leads_to_sessions))
        trees += [
            LogTree(folder / "globalStorage" / name, _is_flat, nowhere) for name in _WINDOWLESS
        ]
    return trees


def session_of(uri: str) -> str:
    """The id of the session that a file is of."""
    return Path(uri).stem


def is_log(uri: str) -> bool:
    """Whether a file is a log of operations rather than a snapshot."""
    return uri.endswith(".jsonl")


def chosen(items: Iterable[SourceItem]) -> Mapping[str, SourceItem]:
    """One item for each session, by its id.

    Of one folder it is the log of operations, which replaced the snapshot, unless it is empty; of
    several folders, into which VS Code copies sessions, the file that was changed last.
    """
    folders: dict[tuple[str, str], SourceItem] = {}
    for item in items:
        place = (session_of(item.uri), str(Path(item.uri).parent))
        other = folders.get(place)
        if other is None or _form(item) > _form(other):
            folders[place] = item
    found: dict[str, SourceItem] = {}
    for (session, _folder), item in folders.items():
        other = found.get(session)
        if other is None or (item.mtime_ns, item.uri) > (other.mtime_ns, other.uri):
            found[session] = item
    return {
        session: replace(item, identity=f"copilot-vscode:{session}")
        for session, item in found.items()
    }


def _form(item: SourceItem) -> tuple[bool, bool]:
    return (item.size > 0, is_log(item.uri))


def _in_workspace(parts: Parts) -> bool:
    return len(parts) == _DEPTH and parts[1] == _SESSIONS and _is_session(parts[2])


def _leads_to_sessions(parts: Parts) -> bool:
    return len(parts) == 1 or (len(parts) == _DEPTH - 1 and parts[1] == _SESSIONS)


def _is_flat(parts: Parts) -> bool:
    return len(parts) == 1 and _is_session(parts[0])


def _is_session(name: str) -> bool:
    path = Path(name)
    return path.suffix in _FORMS and bool(path.stem) and not name.startswith(".")
