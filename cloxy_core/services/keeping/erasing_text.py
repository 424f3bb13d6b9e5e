"""Finding and blotting out words in files that are no databases: logs, rows kept by a repair."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

_SHORTEST: Final = 8
_LONGEST: Final = 48
_MOST: Final = 500
_BLOCK: Final = 1 << 20
BLOT: Final = b"#"


def fragments(texts: Iterable[str]) -> Sequence[bytes] | None:
    """Pieces by which texts are recognised in bytes; None when there are too many to look for.

    A piece is a part of one line: files of lines hold a text in several. Lines of fewer than 8
    bytes are not looked for, since they say nothing.
    """
    found: dict[bytes, None] = {}
    for text in texts:
        for piece in _pieces(text):
            found[piece] = None
            if len(found) > _MOST:
                return None
    return list(found)


def holds(path: Path, pieces: Sequence[bytes]) -> bool:
    """Whether a file holds one of some pieces.

    Raises:
        OSError: it cannot be read.
    """
    if not pieces:
        return False
    overlap = max(map(len, pieces))
    with path.open("rb") as file:
        tail = b""
        while block := file.read(_BLOCK):
            data = tail + block
            if any(piece in data for piece in pieces):
                return True
            tail = data[-overlap:]
    return False


def blot_log(path: Path, pieces: Sequence[bytes] | None) -> bool:
    """Overwrite whole lines of a log that hold one of some pieces; whether any did.

    The length stays, so that whoever appends to the file need not know. For None, which stands
    for too many pieces, every line is overwritten.

    Raises:
        OSError: it cannot be read or written.
    """
    if pieces is not None and not holds(path, pieces):
        return False
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    changed = False
    with os.fdopen(os.open(path, flags), "r+b") as file:
        for start, line in _lines(file.read()):
            if pieces is None or any(piece in line for piece in pieces):
                file.seek(start)
                file.write(BLOT * len(line.rstrip(b"\n")))
                changed = True
        file.flush()
        os.fsync(file.fileno())
    return changed


def says(value: object, texts: Sequence[str], ids: frozenset[str]) -> bool:
    """Whether a decoded line of JSON holds one of some texts or ids."""
    if isinstance(value, str):
        return value in ids or any(text in value for text in texts)
    if isinstance(value, dict):
        return any(says(item, texts, ids) for item in value.values())
    return isinstance(value, list) and any(says(item, texts, ids) for item in value)


def keep_lines(path: Path, texts: Sequence[str], ids: frozenset[str]) -> bytes | None:
    """A file of JSON lines without those that hold it; None when none does.

    Raises:
        OSError: it cannot be read.
    """
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not _line_says(line, texts, ids)]
    return b"".join(kept) if len(kept) < len(lines) else None


def _line_says(line: bytes, texts: Sequence[str], ids: frozenset[str]) -> bool:
    try:
        return says(json.loads(line), texts, ids)
    except ValueError:
        # A line that was cut off tells nothing that could be used.
        return True


def _pieces(text: str) -> Iterator[bytes]:
    for line in text.splitlines():
        data = line.strip().encode("utf-8", "surrogatepass")
        if len(data) >= _SHORTEST:
            yield data[:_LONGEST]
            if len(data) > 2 * _LONGEST:
                middle = len(data) // 2
                yield data[middle : middle + _LONGEST]
                yield data[-_LONGEST:]


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    start = 0
    for line in data.splitlines(keepends=True):
        yield start, line
        start += len(line)
