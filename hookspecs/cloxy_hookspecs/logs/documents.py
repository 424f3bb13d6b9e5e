"""A source of documents: files that are rewritten whole, each with one conversation or more."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cloxy_hookspecs.logs.folders import absolute, root_of
from cloxy_hookspecs.logs.json_values import Record
from cloxy_hookspecs.logs.turns import raw_lines
from cloxy_hookspecs.ports.logs import LogReader, LogTree
from cloxy_hookspecs.types.ingest import RawLine, SourceFailure, SourceItem

MOST = 128 << 20
"""Largest file that is read, in bytes: it is held in memory whole."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read.

    Attributes:
        root: folder below which it was found; files beside it are read through `LogReader.content`.
        path: its path.
        data: all of it.
        mtime_ns: modification time of the version that was discovered, nanoseconds.
    """

    root: Path
    path: Path
    data: bytes
    mtime_ns: int


def _alone(path: Path) -> Sequence[Path]:
    del path
    return ()


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """What distinguishes the documents of one agent.

    Attributes:
        tree: how documents lie below a folder.
        records: makes records of turns of a document.
        beside: further files that its records depend on; when one changes, it is read again.
        chosen: leaves out items that another one stands for; it is given all that there are.
        most: largest file that is read, in bytes.
    """

    tree: Callable[[Path], LogTree]
    records: Callable[[Document], Iterable[Record]]
    beside: Callable[[Path], Sequence[Path]] = _alone
    chosen: Callable[[Sequence[SourceItem]], Iterable[SourceItem]] | None = None
    most: int = MOST


class Documents:
    """Finds documents and reads them whole; implements `FolderSource`."""

    def __init__(
        self,
        reader: LogReader,
        folders: Callable[[], Iterable[Path]],
        kind: DocumentKind,
        look: Callable[[], object] | None = None,
    ) -> None:
        """Look below folders.

        Args:
            reader: finds and opens.
            folders: tells the folders anew for each look; they need not exist.
            kind: what the documents are.
            look: called before a look at the whole source, such as `Repositories.look`.
        """
        self._reader = reader
        self._look = look
        self._folders = folders
        self._kind = kind

    def of(self, folder: Path) -> "Documents":
        """The same kind of source for another folder."""
        return Documents(self._reader, lambda: [folder], self._kind)

    def roots(self) -> Sequence[Path]:
        """Folders that are watched, whether they exist or not."""
        return tuple(tree.root for tree in self._trees())

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """As `Source.discover`."""
        if under is None and self._look is not None:
            self._look()
        trees, kind = self._trees(), self._kind
        found: Iterable[SourceItem] = self._reader.files(trees, failures, under)
        if under is not None and kind.beside is not _alone:
            found = list(found) or self._with(under, trees)
        if kind.chosen is not None:
            found = list(found)
            asked = {item.uri for item in found}
            # Which of several files stands for a conversation depends on those elsewhere as well.
            every = list(self._reader.files(trees, [])) if under is not None and found else found
            found = [item for item in kind.chosen(every) if item.uri in asked]
        for item in found:
            if item.size > kind.most:
                reason = f"larger than {kind.most >> 20} MB; such a file is not read"
                failures.append(SourceFailure(item.uri, reason))
            else:
                yield self._with_beside(item)

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """As `Source.read`: records of turns.

        Raises:
            OSError: the file cannot be opened or read, or is too large.
        """
        path = Path(item.uri)
        root = root_of(self.roots(), path)
        if root is None:
            raise OSError(errno.EACCES, "not inside a watched folder", item.uri)
        data = self._reader.content(root, path, self._kind.most)
        document = Document(root, path, data, item.mtime_ns)
        del data
        return raw_lines(self._kind.records(document), offset)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Not asked of things that are rewritten."""
        del item, start, end
        return b""

    def _with(self, path: Path, trees: Sequence[LogTree]) -> list[SourceItem]:
        """The documents that a file in their folder belongs to."""
        near = self._reader.files(trees, [], path.parent)
        return [item for item in near if path in self._kind.beside(Path(item.uri))]

    def _trees(self) -> Sequence[LogTree]:
        return [self._kind.tree(folder) for folder in absolute(self._folders())]

    def _with_beside(self, item: SourceItem) -> SourceItem:
        size, latest = item.size, item.mtime_ns
        for path in self._kind.beside(Path(item.uri)):
            try:
                status = os.lstat(path)
            except OSError:
                continue
            size, latest = size + status.st_size, max(latest, status.st_mtime_ns)
        return SourceItem(item.uri, item.identity, size, latest)
