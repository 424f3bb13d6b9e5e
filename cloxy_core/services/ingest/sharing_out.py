"""Which source reads which file of a folder that somebody named.

The logs of several agents have the same endings. A file that several sources want goes to the one
whose parser finds the most in its first lines.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from cloxy_core.services.ingest.parsing import parse_run
from cloxy_core.services.ingest.reading import Reader
from cloxy_hookspecs import RawLine, Source, SourceFailure, SourceItem

LINES: Final = 40
BYTES: Final = 1 << 20


def share_out(readers: Sequence[Reader], folder: Path) -> Sequence[Reader]:
    """The readers, each without the files that another understands better.

    Args:
        readers: with the folder as their only root.
        folder: the folder.
    """
    if len(readers) < 2:
        return readers
    wanted: dict[str, list[int]] = {}
    items: dict[tuple[int, str], SourceItem] = {}
    for number, reader in enumerate(readers):
        for item in reader.source.discover([], folder):
            wanted.setdefault(item.uri, []).append(number)
            items[number, item.uri] = item
    left: dict[int, set[str]] = {}
    for uri, numbers in wanted.items():
        if len(numbers) > 1:
            best = _best(readers, numbers, items[numbers[0], uri])
            for number in numbers:
                if number != best:
                    left.setdefault(number, set()).add(uri)
    return [
        replace(reader, source=_Without(reader.source, left[number])) if number in left else reader
        for number, reader in enumerate(readers)
    ]


def _best(readers: Sequence[Reader], numbers: Sequence[int], item: SourceItem) -> int:
    scores = {number: _score(readers[number], item) for number in numbers}
    return max(numbers, key=lambda number: scores[number])


def _score(reader: Reader, item: SourceItem) -> tuple[int, int]:
    """Messages, and records less those that are not known, of the first lines."""
    try:
        lines = _first(reader.source.read(item, 0))
    except OSError:
        return (-1, 0)
    result = parse_run(reader.parser, item, lines, {})
    strange = sum(result.unknown.values()) + len(result.bad_lines)
    return (len(result.messages), result.records - strange)


def _first(lines: Iterable[RawLine]) -> Sequence[RawLine]:
    found: list[RawLine] = []
    size = 0
    for line in itertools.islice(lines, LINES):
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
