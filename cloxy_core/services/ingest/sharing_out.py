"""Which source reads which file of a folder that somebody named.

The logs of several agents have the same endings. A file that several sources want goes to the one
whose parser finds the most in its first lines; where none finds anything there, in its first
megabyte. One in which still nothing is found is no log of theirs, and goes to none.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from cloxy_core.services.ingest.parsing import parse_run
from cloxy_core.services.ingest.reading import Reader
from cloxy_hookspecs import FileError, RawLine, Source, SourceFailure, SourceItem

LINES: Final = 40
BYTES: Final = 1 << 20

_Score = tuple[int, int]
_UNREADABLE: Final = (-1, 0)
_NOTHING: Final = (0, 0)


def share_out(
    readers: Sequence[Reader], folder: Path
) -> tuple[Sequence[Reader], Sequence[FileError]]:
    """The readers, each without the files that another understands better; and what none does.

    Args:
        readers: with the folder as their only root.
        folder: the folder.
    """
    if len(readers) < 2:
        return readers, ()
    wanted: dict[str, list[int]] = {}
    items: dict[tuple[int, str], SourceItem] = {}
    for number, reader in enumerate(readers):
        for item in reader.source.discover([], folder):
            wanted.setdefault(item.uri, []).append(number)
            items[number, item.uri] = item
    left: dict[int, set[str]] = {}
    strange: list[FileError] = []
    for uri, numbers in wanted.items():
        if len(numbers) > 1:
            best = _best(readers, numbers, items[numbers[0], uri])
            if best is None:
                strange.append(FileError(uri, "no source understands it"))
            for number in numbers:
                if number != best:
                    left.setdefault(number, set()).add(uri)
    shared = [
        replace(reader, source=_Without(reader.source, left[number])) if number in left else reader
        for number, reader in enumerate(readers)
    ]
    return shared, strange


def _best(readers: Sequence[Reader], numbers: Sequence[int], item: SourceItem) -> int | None:
    """The reader that understands an item best; None when none understands what is in it."""
    for most in (LINES, None):
        scores = {number: _score(readers[number], item, most) for number in numbers}
        best = max(numbers, key=lambda number: scores[number])
        # With nothing in it, or when it cannot be read, it does not matter who says so.
        if scores[best] > _NOTHING or set(scores.values()) <= {_NOTHING, _UNREADABLE}:
            return best
    return None


def _score(reader: Reader, item: SourceItem, most: int | None) -> _Score:
    """Messages, and records less those that are not known, of so many lines at the beginning."""
    try:
        lines = _first(reader.source.read(item, 0), most)
    except OSError:
        return _UNREADABLE
    result = parse_run(reader.parser, item, lines, {})
    strange = sum(result.unknown.values()) + len(result.bad_lines)
    return (len(result.messages), result.records - strange)


def _first(lines: Iterable[RawLine], most: int | None) -> Sequence[RawLine]:
    found: list[RawLine] = []
    size = 0
    for line in itertools.islice(lines, most):
        found.append(line)
        size += len(line.data)
        if size > BYTES:
            break
    return found


class _Without:
    """A source without some of its files; implements `Source`."""

    def __init__(self, source: Source, left: set[str]) -> None:
        self._source = source
        self._left = left

    def roots(self) -> Sequence[Path]:
        return self._source.roots()

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterable[SourceItem]:
        for item in self._source.discover(failures, under):
            if item.uri not in self._left:
                yield item

    def read(self, item: SourceItem, offset: int) -> Iterable[RawLine]:
        return self._source.read(item, offset)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        return self._source.excerpt(item, start, end)
