"""Rollouts that Codex has compressed, each read whole."""

import errno
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cloxy_hookspecs import (
    HostContext,
    LogReader,
    LogTree,
    RawLine,
    Source,
    SourceFailure,
    SourceItem,
)
from cloxy_hookspecs.logs.folders import absolute, root_of
from cloxy_plugins.codex.inflating import lines_of
from cloxy_plugins.codex.names import is_compressed_rollout, may_hold_rollouts
from cloxy_plugins.codex.roots import session_folders

MOST = 128 << 20
"""Bytes that a compressed rollout may have."""

_SUFFIX = ".zst"
_LONG = 1024
_BULK = re.compile(
    rb'[^\n]{0,120}"type"\s*:\s*"(?:world_state"\s*,\s*"payload"\s*:\s*\{|'
    rb'(?:response_item|event_msg)"\s*,\s*"payload"\s*:\s*\{\s*"type"\s*:\s*"'
    rb"(?:function_call_output|custom_tool_call_output|reasoning|exec_command_end|token_count"
    rb'|patch_apply_end|mcp_tool_call_end)")'
)


def create_compressed_source(context: HostContext) -> Source:
    """Make the source of compressed rollouts."""
    roots = session_folders(os.environ, Path.home())
    return CompressedRollouts(context.service(LogReader), roots)


class CompressedRollouts:
    """Finds and reads compressed rollouts; implements `Source` and `FolderSource`.

    A rollout that also lies there plain is left to the source of plain ones.
    """

    def __init__(self, reader: LogReader, roots: Sequence[Path]) -> None:
        """Look below these folders.

        Args:
            reader: finds and opens files.
            roots: absolute and normalised.
        """
        self._reader = reader
        self._roots = tuple(roots)
        self._trees = [LogTree(root, is_compressed_rollout, may_hold_rollouts) for root in roots]

    def of(self, folder: Path) -> "CompressedRollouts":
        """The same kind of source, with this folder as its only root."""
        return CompressedRollouts(self._reader, absolute([folder]))

    def roots(self) -> Sequence[Path]:
        """Folders that are watched, whether they exist or not."""
        return self._roots

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """Find compressed rollouts that do not lie there plain as well."""
        for item in self._reader.files(self._trees, failures, under):
            plain = Path(item.uri.removesuffix(_SUFFIX))
            if plain.is_symlink() or not plain.is_file():
                yield item

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """The lines of a rollout; offsets are ordinal numbers.

        Raises:
            OSError: it cannot be opened or read, is damaged, or is too large.
        """
        for line in lines_of(self._content(item), item.uri):
            if line.start >= offset:
                yield _shortened(line)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Nothing: a rollout that changed is read whole."""
        del item, start, end
        return b""

    def _content(self, item: SourceItem) -> bytes:
        path = Path(item.uri)
        root = root_of(self._roots, path)
        if root is None:
            raise OSError(errno.EACCES, "not inside a watched folder", item.uri)
        return self._reader.content(root, path, MOST)


def _shortened(line: RawLine) -> RawLine:
    """A line without what it holds, if that is the work of tools: most of the bytes are."""
    found = _BULK.match(line.data) if len(line.data) > _LONG else None
    return line if found is None else replace(line, data=found[0] + b"}}")
