"""Files that grow line by line, below trees."""

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cloxy_core.services.logs.opening import open_file_below, parts_below
from cloxy_core.services.logs.reading import read_lines, read_range
from cloxy_core.services.logs.walk import Walk
from cloxy_hookspecs import LogTree, RawLine, SourceFailure, SourceItem


def find_files(
    trees: Sequence[LogTree], failures: list[SourceFailure], under: Path | None = None
) -> Iterator[SourceItem]:
    """Find the files of trees.

    Links are reported, not followed; a file that vanishes meanwhile is passed over.

    Args:
        trees: where to look, and for what.
        failures: gets what could not be looked at.
        under: only this file or folder, inside or around a root.
    """
    walk = Walk(failures)
    for tree in trees:
        parts = () if under is None else parts_below(tree.root, under)
        if parts is not None:
            yield from walk.below(tree, parts)
        elif under is not None and parts_below(under, tree.root) is not None:
            yield from walk.below(tree)
    walk.close()


class LineLogs:
    """Finds and reads files that grow; implements `LineFiles` and `FolderSource`."""

    def __init__(self, trees: Sequence[LogTree]) -> None:
        """Look below these trees.

        Args:
            trees: their roots are absolute and normalised.
        """
        self._trees = tuple(trees)

    def of(self, folder: Path) -> "LineLogs":
        """The same rules with only this folder as root, for once."""
        root = Path(os.path.abspath(folder))  # noqa: PTH100  # no links resolved
        rules = {(tree.wanted, tree.enter): replace(tree, root=root) for tree in self._trees}
        return LineLogs(tuple(rules.values()))

    def roots(self) -> Sequence[Path]:
        """Folders that are watched, whether they exist or not."""
        return tuple(dict.fromkeys(tree.root for tree in self._trees))

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """Find the files; see `find_files`."""
        return find_files(self._trees, failures, under)

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        r"""Lines from an offset to the end that the file has now.

        Raises:
            OSError: it cannot be opened or read, or is not the discovered file any more.
        """
        file = self._open(item)
        try:
            yield from read_lines(file, offset, os.fstat(file).st_size)
        finally:
            os.close(file)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """The bytes of a range, fewer where the file ends earlier.

        Raises:
            OSError: it cannot be opened or read, or is not the discovered file any more.
        """
        file = self._open(item)
        try:
            return read_range(file, start, end)
        finally:
            os.close(file)

    def _open(self, item: SourceItem) -> int:
        places = [(root, parts_below(root, Path(item.uri))) for root in self.roots()]
        # Of nested roots the innermost: the path to it may go through links, the rest may not.
        inside = min(((len(parts), root, parts) for root, parts in places if parts), default=None)
        if inside is not None:
            return open_file_below(inside[1], inside[2], item.identity)
        raise OSError(errno.EACCES, "not inside a watched folder", item.uri)
