"""The folders into which SpecStory saves, as a source."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, LogTree, Parts, Source
from cloxy_hookspecs.logs.documents import Document, DocumentKind, Documents
from cloxy_hookspecs.logs.json_values import Record
from cloxy_hookspecs.logs.repositories import Repositories
from cloxy_plugins.specstory.records import records_of
from cloxy_plugins.specstory.settings import DIRS

AGENT = "specstory"
INSIDE = (".specstory", "history")
_ENDING = ".md"
_NEVER = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__"})


def create_source(context: HostContext) -> Source:
    """Make the source."""
    return source_of(context.service(LogReader), context.settings[DIRS])


def source_of(reader: LogReader, named: Sequence[Path]) -> Documents:
    """Files in the folders of projects, and in folders that a setting names.

    Args:
        reader: finds and opens; knows which sessions are stored from the agents' own logs.
        named: folders that hold the files themselves, or projects.
    """

    def is_stored(key: str) -> bool:
        return reader.is_told_by_another(key, AGENT)

    def records(document: Document) -> Iterator[Record]:
        return records_of(document, is_stored)

    repositories = Repositories(reader, INSIDE)

    def folders() -> Sequence[Path]:
        return [*named, *repositories()]

    def tree(folder: Path) -> LogTree:
        holds = folder in named or folder.parts[-2:] == INSIDE
        return LogTree(folder, _is_saved_directly if holds else _is_saved, _may_hold)

    kind = DocumentKind(tree=tree, records=records)
    return Documents(reader, folders, kind, repositories.look)


def _is_saved(parts: Parts) -> bool:
    return parts[-3:-1] == INSIDE and _is_file(parts[-1])


def _is_saved_directly(parts: Parts) -> bool:
    return (len(parts) == 1 and _is_file(parts[0])) or _is_saved(parts)


def _is_file(name: str) -> bool:
    return name.lower().endswith(_ENDING) and not name.startswith(".")


def _may_hold(parts: Parts) -> bool:
    return parts[-1] not in _NEVER
