"""The session files of Claude Code as a source."""

import errno
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, RawLine, SourceFailure, SourceItem
from cloxy_plugins.claude_code.opening import open_file_below
from cloxy_plugins.claude_code.reading import read_lines, read_range
from cloxy_plugins.claude_code.roots import folders_to_watch
from cloxy_plugins.claude_code.settings import DIRS
from cloxy_plugins.claude_code.walk import Walk


def create_source(context: HostContext) -> "ClaudeCodeSource":
    """Make the source from the user's settings and environment."""
    return ClaudeCodeSource(folders_to_watch(context.settings[DIRS], os.environ))


class ClaudeCodeSource:
    """Finds and reads session files; implements `FolderSource`."""

    def __init__(self, roots: Sequence[Path]) -> None:
        """Watch these folders.

        Args:
            roots: absolute, normalised folders.
        """
        self._roots = tuple(roots)

    def of(self, folder: Path) -> "ClaudeCodeSource":
        """A source with only this folder, for once."""
        return ClaudeCodeSource((Path(os.path.abspath(folder)),))  # noqa: PTH100  # no links resolved

    def roots(self) -> Sequence[Path]:
        """Folders that are watched, whether they exist or not."""
        return self._roots

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterable[SourceItem]:
        """Find the session files.

        Links are reported, not followed; a file that vanishes meanwhile is passed over.

        Args:
            failures: gets what could not be looked at.
            under: only this file or folder, inside or around a watched folder.
        """
        walk = Walk(failures)
        for root in self._roots:
            parts = () if under is None else _parts_below(root, under)
            if parts is not None:
                yield from walk.below(root, parts)
            elif under is not None and _parts_below(under, root) is not None:
                yield from walk.below(root)
        walk.close()

    def read(self, item: SourceItem, offset: int) -> Iterable[RawLine]:
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
        places = [(root, _parts_below(root, Path(item.uri))) for root in self._roots]
        # Of nested roots the innermost: the path to it may go through links, the rest may not.
        inside = min(((len(parts), root, parts) for root, parts in places if parts), default=None)
        if inside is not None:
            return open_file_below(inside[1], inside[2], item.identity)
        raise OSError(errno.EACCES, "not inside a watched folder", item.uri)


def _parts_below(root: Path, path: Path) -> tuple[str, ...] | None:
    """The parts of a path below a folder; None when it is not inside.

    A path may also be spelled through the place that the folder's own links lead to.
    """
    plain = Path(os.path.abspath(path))  # noqa: PTH100  # resolve() would follow links
    if not plain.is_relative_to(root):
        root = Path(os.path.realpath(root))
        if not plain.is_relative_to(root):
            return None
    return plain.relative_to(root).parts
