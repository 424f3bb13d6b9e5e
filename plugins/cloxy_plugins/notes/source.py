"""Folders of notes as a source."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs import (
    HostContext,
    LogReader,
    LogTree,
    Parts,
    RawLine,
    Source,
    SourceFailure,
    SourceItem,
)
from cloxy_hookspecs.logs.documents import DocumentKind, Documents
from cloxy_plugins.notes.records import records_of
from cloxy_plugins.notes.settings import DIRS

MOST = 16 << 20
"""Largest note that is read, in bytes."""

_ENDINGS = (".md", ".markdown")
_NEVER = frozenset({"node_modules", "__pycache__"})


def create_source(context: HostContext) -> Source:
    """Make the source; it has no root while no folder is named."""
    folders = context.settings[DIRS]
    return Notes(context.service(LogReader), folders)


class Notes:
    """Finds notes and reads them whole.

    It is no source of just any folder: somebody who names a folder with logs does not mean each
    Markdown file in it.
    """

    def __init__(self, reader: LogReader, folders: Sequence[Path]) -> None:
        """Look below folders.

        Args:
            reader: finds and opens.
            folders: absolute; they need not exist.
        """
        kind = DocumentKind(tree=_tree, records=records_of, most=MOST)
        self._documents = Documents(reader, lambda: folders, kind)

    def roots(self) -> Sequence[Path]:
        """The folders."""
        return self._documents.roots()

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """As `Source.discover`."""
        return self._documents.discover(failures, under)

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """As `Source.read`: records of turns.

        Raises:
            OSError: the file cannot be opened or read, or is too large.
        """
        return self._documents.read(item, offset)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Not asked of things that are rewritten."""
        return self._documents.excerpt(item, start, end)


def is_note(parts: Parts) -> bool:
    """Whether a file below a folder is a note, by its name."""
    return parts[-1].lower().endswith(_ENDINGS) and not parts[-1].startswith(".")


def may_hold_notes(parts: Parts) -> bool:
    """Whether a folder is looked into: hidden ones belong to programs."""
    return not parts[-1].startswith(".") and parts[-1] not in _NEVER


def _tree(folder: Path) -> LogTree:
    return LogTree(folder, is_note, may_hold_notes)
