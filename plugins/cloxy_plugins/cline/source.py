"""The tasks of an agent as a source: one item for each, of several copies the newest."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, LogTree, Parts, Source, SourceItem
from cloxy_hookspecs.logs.documents import Document, DocumentKind, Documents
from cloxy_hookspecs.logs.json_values import Record
from cloxy_hookspecs.logs.turns import damaged, session
from cloxy_plugins.cline.about import (
    HISTORY_ITEM,
    METADATA,
    WRITTEN_BACK,
    Besides,
    folder_of_messages,
)
from cloxy_plugins.cline.elements import elements_of
from cloxy_plugins.cline.history import folder_of_history, history_records
from cloxy_plugins.cline.moved import Moved
from cloxy_plugins.cline.places import session_folder, task_folders
from cloxy_plugins.cline.products import CLINE, KILO, ROO, Product, owner_of
from cloxy_plugins.cline.said import said_records
from cloxy_plugins.cline.sessions import MESSAGES, beside_session, session_records

SHOWN = "ui_messages.json"
SENT = "api_conversation_history.json"

_BESIDE = (HISTORY_ITEM, METADATA, WRITTEN_BACK)
_DEEP = frozenset({"checkpoints", ".git", "node_modules", "cache", "puppeteer"})
_IN_FOLDER = 2


def create_cline(context: HostContext) -> Source:
    """Make the source of Cline."""
    return tasks_of_user(context, CLINE)


def create_roo(context: HostContext) -> Source:
    """Make the source of Roo Code."""
    return tasks_of_user(context, ROO)


def create_kilo(context: HostContext) -> Source:
    """Make the source of Kilo Code."""
    return tasks_of_user(context, KILO)


def tasks_of_user(context: HostContext, product: Product) -> Documents:
    """The tasks of a product in the places of this system."""
    home = Path.home()
    reader = context.service(LogReader)
    folders = task_folders(product, os.environ, home, sys.platform)
    sessions = session_folder(os.environ, home) if product is CLINE else None
    moved = Moved(reader, product, os.environ, home, sys.platform)
    return tasks_in(reader, product, folders, sessions, moved)


def tasks_in(
    reader: LogReader,
    product: Product,
    folders: Sequence[Path],
    sessions: Path | None = None,
    moved: Moved | None = None,
) -> Documents:
    """The tasks of a product.

    Args:
        reader: finds and opens files.
        product: whose.
        folders: absolute folders with a folder for each task.
        sessions: absolute folder with a folder for each session of Cline 4.
        moved: tells further folders with tasks.
    """
    fixed = [*folders, *([] if sessions is None else [sessions])]

    def everything() -> Sequence[Path]:
        return fixed if moved is None else [*fixed, *moved()]

    places = _Places(product, frozenset(folders), sessions, moved)
    records = _Records(Besides(reader))
    kind = DocumentKind(
        tree=places.tree, records=records.records, beside=_beside, chosen=_newest_of_each
    )
    return Documents(reader, everything, kind, None if moved is None else moved.look)


class _Places:
    """How tasks lie below folders that are watched, and below others that are asked for."""

    def __init__(
        self,
        product: Product,
        folders: frozenset[Path],
        sessions: Path | None,
        moved: Moved | None,
    ) -> None:
        self._product = product
        self._folders = folders
        self._sessions = sessions
        self._moved = moved

    def tree(self, folder: Path) -> LogTree:
        """Where the product's messages lie below a folder."""
        if folder == self._sessions:
            return LogTree(folder, _is_session, _is_first)
        moved = self._moved
        if folder in self._folders or (moved is not None and folder in moved()):
            return LogTree(folder, _is_task, _is_first)

        def is_wanted(parts: Parts) -> bool:
            path = (*folder.parts, *parts)
            if path[-1].endswith(MESSAGES):
                return self._product is CLINE and _is_session(path[-_IN_FOLDER:])
            if path[-1] not in (SHOWN, SENT):
                return False
            owner = owner_of if moved is None else moved.owner_of
            return owner(path[:-1]) is self._product

        return LogTree(folder, is_wanted, _may_hold_tasks)


class _Records:
    """Makes records of tasks and of sessions."""

    def __init__(self, besides: Besides) -> None:
        self._besides = besides

    def records(self, document: Document) -> Iterable[Record]:
        """Records of a document, of whichever kind it is."""
        if document.path.name.endswith(MESSAGES):
            return session_records(document, self._besides)
        return self._task_records(document)

    def _task_records(self, document: Document) -> Iterator[Record]:
        key = document.path.parent.name
        about = self._besides.about(document.root, document.path)
        yield from about.problems
        elements = elements_of(document.data)
        if elements.damage is not None:
            yield damaged(elements.damage)
        if document.path.name == SHOWN:
            cwd = about.cwd or folder_of_messages(elements.values)
            found = list(said_records(key, elements, about, cwd))
        else:
            cwd = about.cwd or folder_of_history(elements)
            found = list(history_records(key, elements, about, cwd))
        if found:
            yield session(key, cwd=cwd, parent=about.parent, relation="subagent")
            yield from found


def _is_first(parts: Parts) -> bool:
    return len(parts) == 1


def _is_task(parts: Parts) -> bool:
    return len(parts) == _IN_FOLDER and parts[1] in (SHOWN, SENT)


def _is_session(parts: Parts) -> bool:
    return len(parts) == _IN_FOLDER and parts[1].endswith(MESSAGES) and parts[1] != MESSAGES


def _may_hold_tasks(parts: Parts) -> bool:
    return parts[-1] not in _DEEP


def _beside(path: Path) -> Sequence[Path]:
    if path.name.endswith(MESSAGES):
        return beside_session(path)
    return [path.with_name(name) for name in _BESIDE]


def _newest_of_each(items: Sequence[SourceItem]) -> Iterator[SourceItem]:
    """One item for each task: what its window shows before what was sent, then the newest copy."""
    chosen: dict[tuple[str, ...], SourceItem] = {}
    for item in items:
        key = _task_of(item)
        other = chosen.get(key)
        if other is None or _rank(item) > _rank(other):
            chosen[key] = item
    yield from chosen.values()


def _task_of(item: SourceItem) -> tuple[str, ...]:
    path = Path(item.uri)
    folder = path.parent.name
    return (folder, path.name) if path.name.endswith(MESSAGES) else (folder,)


def _rank(item: SourceItem) -> tuple[bool, int, str]:
    return (item.uri.endswith(SHOWN), item.mtime_ns, item.uri)
