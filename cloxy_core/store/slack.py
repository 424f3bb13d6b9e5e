"""Erasing what SQLite leaves in the unused middle of its pages.

`secure_delete` overwrites what is deleted. But when SQLite moves rows to another page, to make
room or to close gaps, their old bytes stay in the middle of the page that they left, between the
list of its rows and the rows themselves. What is deleted later is overwritten in its new place
only. No pragma reaches these bytes, and VACUUM would write the whole database anew, twice.

So they are overwritten here, in the file itself. No byte that has a meaning is touched, which is
why readers may go on, and why it may be killed anywhere. SQLite relies in the same way on disks
that change no byte but those which are written (its "powersafe overwrite").

What has a meaning may change only while nobody can write: the caller holds SQLite's own lock of
writers, and the log is empty, so that no process has anything to move into the file.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_BLOCK_BYTES: Final = 1 << 20
_HEADER_BYTES: Final = 100
_LEAF_TABLE: Final = 13
_LEAF_INDEX: Final = 10
_POINTER_BYTES: Final = 5
_LIST_STARTS: Final = {2: 12, 5: 12, _LEAF_INDEX: 8, _LEAF_TABLE: 8}
"""Where the list of rows begins, by the first byte of a page; other pages have no such list."""

_LOCKED_BYTE: Final = 0x40000000
_MOST_PAGES: Final = 1 << 24
"""From here on the first byte of a page of another kind could look like one of ours."""


@dataclass(frozen=True, slots=True)
class Slack:
    """A part of the file that has no meaning and is not empty."""

    offset: int
    length: int


class SlackEraser:
    """Erases in one database file.

    The file is opened once and stays open: closing it would drop every lock that this process
    holds on it. So `close` is for when all its connections are closed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def erase(self) -> int:
        """Erase, and have it on disk; how many pages were cleaned.

        The caller is in a write transaction that changed nothing, the log is empty, and the cache
        of pages of its connection was dropped before, so that no old page is written again.

        Raises:
            OSError: the file cannot be read or written.
        """
        if self._file is None:
            flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
            self._file = os.open(self._path, flags | getattr(os, "O_CLOEXEC", 0))
        found = list(find_slack(self._file))
        for slack in found:
            os.lseek(self._file, slack.offset, os.SEEK_SET)
            _write(self._file, bytes(slack.length))
        if found:
            os.fsync(self._file)
        return len(found)

    def close(self) -> None:
        """Close the file; idempotent."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def find_slack(file: int) -> Iterator[Slack]:
    """Parts without meaning that are not empty, in the order of the file.

    Args:
        file: descriptor of a database whose log is empty.
    """
    header = _read(file, 0, _HEADER_BYTES)
    if len(header) < _HEADER_BYTES:
        return
    size = int.from_bytes(header[16:18], "big")
    size = 65_536 if size == 1 else size
    pages = min(int.from_bytes(header[28:32], "big"), os.fstat(file).st_size // size)
    if pages >= _MOST_PAGES:
        return
    usable = size - header[20]
    pointers = _is_vacuumed(header)
    for start in range(0, pages * size, max(_BLOCK_BYTES, size)):
        block = _read(file, start, min(max(_BLOCK_BYTES, size), pages * size - start))
        for place in range(0, len(block) - size + 1, size):
            offset = start + place
            if offset <= _LOCKED_BYTE < offset + size:
                continue
            if pointers and _is_pointers(offset // size + 1, size, usable):
                continue
            slack = _slack_of(block[place : place + size], usable, first=offset == 0)
            if slack is not None:
                yield Slack(offset + slack.offset, slack.length)


def _is_vacuumed(header: bytes) -> bool:
    """Whether the database vacuums itself; then some of its pages say where others belong."""
    return header[52:56] != bytes(4)


def _is_pointers(number: int, size: int, usable: int) -> bool:
    """Whether a page is one of those; its first byte looks like that of a page of rows."""
    if number < 2:
        return False
    told = usable // _POINTER_BYTES + 1
    place = (number - 2) // told * told + 2
    if place == _LOCKED_BYTE // size + 1:
        place += 1
    return number == place


def _slack_of(page: bytes, usable: int, *, first: bool) -> Slack | None:
    base = _HEADER_BYTES if first else 0
    head = _LIST_STARTS.get(page[base])
    if head is None:
        return None
    rows = int.from_bytes(page[base + 3 : base + 5], "big")
    end = int.from_bytes(page[base + 5 : base + 7], "big") or 65_536
    begin = base + head + 2 * rows
    # A page that is not what it seems is left alone.
    if not begin < end <= usable or not page[begin:end].strip(b"\0"):
        return None
    return Slack(begin, end - begin)


def _read(file: int, offset: int, length: int) -> bytes:
    os.lseek(file, offset, os.SEEK_SET)
    parts = []
    while length > 0 and (part := os.read(file, length)):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
