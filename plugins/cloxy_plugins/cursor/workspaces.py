"""The editor's databases of workspaces: which folder a conversation belongs to, and old chats.

Until 2024 chats were kept there, in the tabs of a pane. Only the keys of lists and of that pane are
asked for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cloxy_hookspecs import (
    ForeignDatabase,
    ForeignDatabaseError,
    LogReader,
    LogTree,
    Parts,
    SourceFailure,
)
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import usable_id
from cloxy_plugins.cursor import statements
from cloxy_plugins.cursor.composers import Row
from cloxy_plugins.cursor.places import folder_of

STORAGE = "workspaceStorage"
DATABASE = "state.vscdb"
_FILE = "workspace.json"
_FILE_MOST = 1 << 20
_LATEST = 2**52


@dataclass(frozen=True, slots=True)
class Pane:
    """A tab with a chat: its id, when it was last used in milliseconds (or 0), and its version."""

    key: str
    updated: int
    version: int


@dataclass(slots=True)
class Seen:
    """What a database of a workspace holds.

    Attributes:
        names: conversations that it lists, with their names.
        selected: conversations that are open in it.
        panes: tabs with chats.
        damaged: whether the chats cannot be read.
    """

    names: dict[str, object] = field(default_factory=dict[str, object])
    selected: set[str] = field(default_factory=set[str])
    panes: list[Pane] = field(default_factory=list[Pane])
    damaged: bool = False


class Workspaces:
    """Looks into the databases of all workspaces, into each anew when it changed."""

    def __init__(self, reader: LogReader, folders: Iterable[Path]) -> None:
        """Nothing is read.

        Args:
            reader: opens databases.
            folders: `User` folders.
        """
        self._reader = reader
        self._trees = [LogTree(folder / STORAGE, _is_database, _is_workspace) for folder in folders]
        self._known: dict[Path, tuple[tuple[int, int], Seen]] = {}
        self._paths: Sequence[Path] | None = None

    def look(self, failures: list[SourceFailure], under: Path | None = None) -> Mapping[Path, Seen]:
        """What the databases hold, by path.

        Args:
            failures: gets those that cannot be read.
            under: only those below a place.
        """
        paths = [Path(item.uri) for item in self._reader.files(self._trees, failures, under)]
        if under is None:
            self._paths = paths
        found: dict[Path, Seen] = {}
        for path in paths:
            try:
                found[path] = self._seen(path)
            except ForeignDatabaseError as error:
                failures.append(SourceFailure(str(path), str(error)))
        return found

    def place_of(self, composer: str) -> tuple[str | None, object]:
        """The folder and the name of a conversation, from the workspace that lists it."""
        opened: Path | None = None
        for path, seen in self._all():
            if composer in seen.names:
                return self.folder_at(path.parent), seen.names[composer]
            if composer in seen.selected:
                opened = opened or path
        return (self.folder_at(opened.parent) if opened else None), None

    def folder_with_id(self, workspace: str) -> str | None:
        """The folder of a workspace by its id."""
        if Path(workspace).name != workspace or workspace in ("", ".", ".."):
            return None
        for tree in self._trees:
            if (found := self.folder_at(tree.root / workspace)) is not None:
                return found
        return None

    def folder_at(self, place: Path) -> str | None:
        """The folder of a workspace by the place where its state is kept."""
        try:
            return folder_of(self._reader.content(place.parent, place / _FILE, _FILE_MOST))
        except OSError:
            # Without the file it is a window without a folder.
            return None

    def _all(self) -> Iterator[tuple[Path, Seen]]:
        if self._paths is None:
            self.look([])
        for path in self._paths or ():
            try:
                yield path, self._seen(path)
            except ForeignDatabaseError:
                # What it would say of a conversation is not worth failing for.
                continue

    def _seen(self, path: Path) -> Seen:
        signature = self._reader.signature(path)
        known = self._known.get(path)
        if known is None or known[0] != signature:
            with self._reader.database(path) as database:
                known = (signature, _look_into(database))
            self._known[path] = known
        return known[1]


def _look_into(database: ForeignDatabase) -> Seen:
    seen = Seen()
    if "ItemTable" not in database.tables():
        return seen
    for key, name in database.rows(statements.LISTED):
        if (composer := usable_id(key)) is not None:
            seen.names[composer] = name
    for (key,) in database.rows(statements.SELECTED):
        if (composer := usable_id(key)) is not None:
            seen.selected.add(composer)
    seen.damaged = any(count for (count,) in database.rows(statements.DAMAGED_PANE))
    for row in database.rows(statements.PANES):
        _take_pane(seen, row)
    return seen


def _take_pane(seen: Seen, row: Row) -> None:
    key, sent, count, length, _title = row
    tab = usable_id(key)
    if tab is not None and isinstance(count, int) and count > 0 and isinstance(length, int):
        seen.panes.append(Pane(tab, instant(sent, _LATEST) or 0, length + count))


def _is_database(parts: Parts) -> bool:
    return len(parts) == 2 and parts[1] == DATABASE


def _is_workspace(parts: Parts) -> bool:
    return len(parts) == 1
