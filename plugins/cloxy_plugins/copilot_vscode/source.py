"""The chat sessions of VS Code as a source: one item for each session."""

import errno
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, RawLine, Source, SourceFailure, SourceItem
from cloxy_hookspecs.logs.folders import root_of
from cloxy_hookspecs.logs.json_values import Record, decode, record_of
from cloxy_hookspecs.logs.titles import LISTED, NAMED, title_of_name
from cloxy_hookspecs.logs.turns import damaged, raw_lines, session, unknown
from cloxy_plugins.copilot_vscode.listed import ListedTitles
from cloxy_plugins.copilot_vscode.names import chosen, is_log, session_of, trees_of
from cloxy_plugins.copilot_vscode.places import folder_of
from cloxy_plugins.copilot_vscode.replay import Replayed, replay
from cloxy_plugins.copilot_vscode.requests import request_records, session_key
from cloxy_plugins.copilot_vscode.roots import user_folders

MOST = 128 << 20
"""Largest file that is read, in bytes: it is held in memory whole."""

_WORKSPACE = "workspace.json"
_WORKSPACE_MOST = 1 << 20


def create_source(context: HostContext) -> Source:
    """Make the source of all products."""
    folders = user_folders(os.environ, Path.home(), sys.platform)
    return ChatSessions(context.service(LogReader), folders)


class ChatSessions:
    """Finds sessions and reads them whole; implements `FolderSource`."""

    def __init__(self, reader: LogReader, folders: Iterable[Path], most: int = MOST) -> None:
        """Look below these folders.

        Args:
            reader: finds and opens.
            folders: `User` folders.
            most: largest file to read, in bytes.
        """
        self._reader = reader
        self._most = most
        self._trees = trees_of(folders)
        self._titles = ListedTitles(reader)

    def of(self, folder: Path) -> "ChatSessions":
        """The same kind of source for another `User` folder."""
        root = Path(os.path.abspath(folder))  # noqa: PTH100  # no links resolved
        return ChatSessions(self._reader, [root], self._most)

    def roots(self) -> Sequence[Path]:
        """Folders that are watched, whether they exist or not."""
        return tuple(tree.root for tree in self._trees)

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """Find the sessions, each once, however many folders have it."""
        found = list(self._reader.files(self._trees, failures, under))
        asked = {item.uri for item in found}
        if under is not None and found:
            # Which file of a session is read depends on those elsewhere as well.
            found = list(self._reader.files(self._trees, []))
        for item in chosen(found).values():
            if item.uri not in asked:
                continue
            if item.size > self._most:
                reason = f"larger than {self._most >> 20} MB; such a session is not read"
                failures.append(SourceFailure(item.uri, reason))
            else:
                yield item

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """Records of a session: its facts, then its messages in order; none of an empty one.

        Raises:
            OSError: its file cannot be opened or read, or is too large.
        """
        yield from raw_lines(self._records(Path(item.uri)), offset)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Not asked of things that are rewritten."""
        del item, start, end
        return b""

    def _records(self, path: Path) -> Iterator[Record]:
        root = root_of((tree.root for tree in self._trees), path)
        if root is None:
            raise OSError(errno.EACCES, "not inside a watched folder", str(path))
        data = self._reader.content(root, path, self._most)
        state, problems = _state_of(path, data)
        del data
        yield from problems
        key = session_key(state, session_of(str(path)))
        cwd = self._cwd(root, path)
        spoken = list(request_records(state, key, cwd))
        if spoken:
            title, rank = self._title(path, key, state)
            yield session(key, cwd=cwd, title=title, rank=rank)
            yield from spoken

    def _cwd(self, root: Path, path: Path) -> str | None:
        """The folder of the workspace; sessions of a window without one have none."""
        place = path.parent.parent / _WORKSPACE
        if path.parent.parent.parent != root:
            return None
        try:
            return folder_of(self._reader.content(root, place, _WORKSPACE_MOST))
        except OSError:
            # Without it the session is one of no project.
            return None

    def _title(self, path: Path, key: str, state: Record) -> tuple[str | None, int]:
        custom = state.get("customTitle")
        if isinstance(custom, str) and custom.strip():
            return title_of_name(custom), NAMED
        listed = self._titles.title_of(path.parent.parent, key)
        return (title_of_name(listed), LISTED) if listed else (None, 0)


def _state_of(path: Path, data: bytes) -> tuple[Record, list[Record]]:
    """A session, and what was wrong with its file."""
    if is_log(str(path)):
        found = replay(data)
        return found.state, list(_problems(found))
    if not data.strip():
        return {}, []
    try:
        value = decode(data)
    except ValueError:
        return {}, [damaged("the file is not JSON")]
    if not isinstance(value, dict):
        return {}, [damaged("the file holds no session")]
    return record_of(value), []


def _problems(found: Replayed) -> Iterator[Record]:
    for reason in found.damaged:
        yield damaged(reason)
    for name in found.unknown.elements():
        yield unknown(name)
