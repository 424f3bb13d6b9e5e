"""The standard streams, kept for the protocol alone."""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_PIECE: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Wire:
    """Private copies of the descriptors that the client is at the other end of.

    Attributes:
        source: descriptor that messages are read from.
        target: descriptor that messages are written to.
    """

    source: int
    target: int


_claimed: list[Wire] = []


def claim() -> Wire:
    """Take both streams: what anybody else prints from now on goes to standard error.

    Nothing is flushed before: what was printed and not written yet goes to standard error too.
    Calling it again gives the same.

    Raises:
        OSError: one of the streams is closed.
    """
    if not _claimed:
        _claimed.append(Wire(_take(0, os.O_RDONLY, None), _take(1, os.O_WRONLY, 2)))
    return _claimed[0]


def _take(number: int, flags: int, instead: int | None) -> int:
    """A private copy of a standard descriptor, in whose place another one stands from now on."""
    private = os.dup(number)
    while private <= 2:  # a closed stream left its number free
        private = os.dup(private)
    nowhere = os.open(os.devnull, flags)
    try:
        os.dup2(nowhere if instead is None else instead, number)
    except OSError:
        os.dup2(nowhere, number)
    finally:
        if nowhere > 2:
            os.close(nowhere)
    return private


class Writer:
    """Writes whole lines, however many threads have some."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._lock = threading.Lock()
        self.broken = threading.Event()

    def write(self, line: bytes) -> None:
        """Write one line; its end is added. Nothing happens when the client has gone."""
        rest = memoryview(line + b"\n")
        with self._lock:
            try:
                while rest:
                    rest = rest[os.write(self._target, rest) :]
            except OSError:
                self.broken.set()


def lines(source: int, limit: int) -> Iterator[bytes | None]:
    """Lines as they come, without their ends; the last one needs none.

    Args:
        source: descriptor to read.
        limit: largest line, in bytes; a larger one is passed over and given as None.
    """
    kept = bytearray()
    too_long = False
    while piece := _read(source):
        *whole, rest = piece.split(b"\n")
        for part in whole:
            kept += part
            yield None if too_long or len(kept) > limit else bytes(kept)
            kept.clear()
            too_long = False
        kept += rest
        if len(kept) > limit:
            kept.clear()
            too_long = True
    if kept or too_long:
        yield None if too_long else bytes(kept)


def _read(source: int) -> bytes:
    try:
        return os.read(source, _PIECE)
    except OSError:
        return b""  # the other end is gone: the same as its end
