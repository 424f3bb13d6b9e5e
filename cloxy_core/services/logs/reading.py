r"""Lines of an open file, split at `\n` bytes and at nothing else.

A text reader would also split at U+2028, U+0085 and others, which stand inside JSON strings.
"""

import os
from collections.abc import Iterator

from cloxy_hookspecs import RawLine

BLOCK = 1 << 20
LINE_LIMIT = 16 << 20


def read_range(file: int, start: int, end: int) -> bytes:
    """The bytes of a range, fewer where the file ends earlier.

    Raises:
        OSError: reading failed.
    """
    parts: list[bytes] = []
    while start < end and (part := _read_at(file, min(BLOCK, end - start), start)):
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def read_lines(
    file: int, offset: int, end: int, *, block: int = BLOCK, limit: int = LINE_LIMIT
) -> Iterator[RawLine]:
    """Lines between two offsets, each with its place.

    Args:
        file: descriptor of an open file.
        offset: where the first line starts.
        end: where to stop; what is appended later is left for the next time.
        block: bytes to read at once.
        limit: longest line to keep; of a longer one only the place is told.

    Raises:
        OSError: reading failed.
    """
    pending = _Pending(offset, limit)
    position = offset
    while position < end and (data := _read_at(file, min(block, end - position), position)):
        position += len(data)
        first, *others = data.split(b"\n")
        pending.add(first)
        if not others:
            continue
        yield pending.finish()
        start = pending.start
        unfinished = others.pop()
        for content in others:
            stop = start + len(content) + 1
            if len(content) > limit:
                yield RawLine(start, stop, b"", dropped=len(content))
            else:
                yield RawLine(start, stop, content[:-1] if content[-1:] == b"\r" else content)
            start = stop
        pending.restart(start, unfinished)
    if pending.length:
        yield pending.finish(ended=False)


def _read_at(file: int, length: int, position: int) -> bytes:
    """Bytes from a place of an open file; nobody else moves about in it."""
    if hasattr(os, "pread"):
        return os.pread(file, length, position)
    os.lseek(file, position, os.SEEK_SET)
    return os.read(file, length)


class _Pending:
    """The line whose end was not seen yet."""

    __slots__ = ("_limit", "_parts", "length", "start")

    def __init__(self, start: int, limit: int) -> None:
        self._limit = limit
        self.start = start
        self.length = 0
        self._parts: list[bytes] = []

    def restart(self, start: int, data: bytes) -> None:
        self.start = start
        self.length = 0
        self._parts.clear()
        self.add(data)

    def add(self, data: bytes) -> None:
        self.length += len(data)
        if self.length > self._limit:
            self._parts.clear()
        elif data:
            self._parts.append(data)

    def finish(self, *, ended: bool = True) -> RawLine:
        """The line so far; the next one starts behind it."""
        start, stop = self.start, self.start + self.length + ended
        dropped = self.length if self.length > self._limit else 0
        data = b"".join(self._parts)
        if ended and data.endswith(b"\r"):
            data = data[:-1]
        self.restart(stop, b"")
        return RawLine(start, stop, data, dropped=dropped, finished=ended)
