"""The items of a long JSON array, one in memory at a time."""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from cloxy_core.services.exchange.foreign_item import ItemBytes
from cloxy_core.services.exchange.foreign_limits import LIMITS, ForeignLimits, ForeignTrouble

_BLOCK: Final = 1 << 20
_MARK: Final = b"\xef\xbb\xbf"
_BETWEEN: Final = b" \t\r\n,"
_OPENING: Final = b"[{"
_OUTSIDE: Final = re.compile(rb'["{}\[\]]')
_INSIDE: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)


def split_array(stream: BinaryIO, limits: ForeignLimits = LIMITS) -> Iterator[bytes | str]:
    """The objects of an array, as they stand in the file.

    Args:
        stream: bytes of a JSON array; it is read once.
        limits: on the size and the depth of an item.

    Yields:
        The bytes of an item, or in words why there are none.

    Raises:
        ForeignTrouble: it is no array, or ends too early.
    """
    splitter = _Splitter(limits)
    while block := stream.read(_BLOCK):
        yield from splitter.feed(block)
    splitter.finish()


class _Splitter:
    """Where in the array the reading stands."""

    def __init__(self, limits: ForeignLimits) -> None:
        self._limits = limits
        self._depth = 0
        self._in_string = False
        self._rest = b""
        self._begun = False
        self._ended = False
        self._item = ItemBytes(limits.conversation_bytes)
        self._stray = False

    def feed(self, block: bytes) -> Iterator[bytes | str]:
        """Items that end in the next bytes."""
        if self._ended:
            self._behind(block)
            return
        data = self._rest + block
        self._rest = b""
        at = 0 if self._begun else self._begin(data)
        kept = at
        while at < len(data):
            if self._in_string:
                at = self._string(data, at)
                continue
            found = _OUTSIDE.search(data, at)
            if found is None:
                at = len(data)
                break
            at = found.end()
            mark = data[found.start()]
            if self._depth == 1 and mark != ord("]"):
                self._between(data[kept : found.start()])
                kept = found.start()
            if mark == ord('"'):
                self._in_string = True
                self._stray |= self._depth == 1
            elif mark in _OPENING:
                self._open(mark)
            else:
                self._depth -= 1
                if self._depth == 1:
                    self._item.keep(data[kept:at])
                    kept = at
                    yield self._item.taken()
                elif self._depth == 0:
                    self._between(data[kept : found.start()])
                    self._finish_array(mark, data[at:])
                    return
        end = len(data) - len(self._rest)
        if self._depth == 1:
            self._between(data[kept:end])
        else:
            self._item.keep(data[kept:end])

    def finish(self) -> None:
        """There are no more bytes.

        Raises:
            ForeignTrouble: the array is not at its end.
        """
        if not self._ended:
            raise ForeignTrouble("the file is cut: its list of conversations does not end")

    def _begin(self, data: bytes) -> int:
        """Pass over what stands before the array."""
        start = len(_MARK) if data.startswith(_MARK) else 0
        while start < len(data) and data[start : start + 1].isspace():
            start += 1
        if data[start : start + 1] != b"[":
            raise ForeignTrouble("it holds no list of conversations")
        self._begun, self._depth = True, 1
        return start + 1

    def _string(self, data: bytes, at: int) -> int:
        """Go on behind a string, or to the end of the data."""
        found = _INSIDE.match(data, at)
        at = at if found is None else found.end()
        if at < len(data) and data[at] == ord('"'):
            self._in_string = False
            return at + 1
        if at < len(data):
            # A backslash, and what it stands before is still to come.
            self._rest = data[at:]
        return len(data)

    def _open(self, mark: int) -> None:
        if self._depth == 1 and mark != ord("{"):
            self._item.trouble = "it is no object"
        self._depth += 1
        if self._depth - 1 > self._limits.depth:
            self._item.trouble = "it is nested too deep"

    def _between(self, data: bytes) -> None:
        """What stands between items must be nothing."""
        if self._in_string or data.strip(_BETWEEN):
            self._stray = True

    def _finish_array(self, mark: int, behind: bytes) -> None:
        if mark != ord("]"):
            raise ForeignTrouble("the file is damaged: its brackets do not fit")
        self._behind(behind)
        if self._stray:
            raise ForeignTrouble("the file is damaged: its list holds more than objects")
        self._ended = True

    def _behind(self, data: bytes) -> None:
        if data.strip():
            raise ForeignTrouble("the file is damaged: something stands behind its list")
