r"""Lines of a compressed rollout, unpacked piece by piece and within bounds."""

import errno
from collections.abc import Iterator

from cloxy_hookspecs import RawLine
from cloxy_hookspecs.logs.zstandard import PIECE, TooLargeError, unpacked

MOST = 2 << 30
"""Bytes that one rollout may have unpacked; the longest known has some hundred millions."""
LINE_LIMIT = 16 << 20


def lines_of(
    data: bytes, path: str, *, most: int = MOST, limit: int = LINE_LIMIT, piece: int = PIECE
) -> Iterator[RawLine]:
    """Unpack lines; their offsets are ordinal numbers.

    Args:
        data: compressed bytes, in one frame or several.
        path: where they are from, for errors.
        most: bytes to unpack.
        limit: longest line to keep; of a longer one only its length is told.
        piece: bytes to unpack at once.

    Raises:
        OSError: the data is damaged, or larger than `most`; lines before the damage came already.
    """
    number = length = 0
    kept: list[bytes] = []
    for part in _unpacked(data, path, most, piece):
        first, *others = part.split(b"\n")
        length += len(first)
        if length <= limit:
            kept.append(first)
        else:
            kept.clear()
        for other in others:
            yield _line(number, kept, length, limit)
            number += 1
            length, kept = len(other), [other] if len(other) <= limit else []
    if length:
        yield _line(number, kept, length, limit)


def _line(number: int, kept: list[bytes], length: int, limit: int) -> RawLine:
    dropped = length if length > limit else 0
    return RawLine(number, number + 1, b"".join(kept).removesuffix(b"\r"), dropped=dropped)


def _unpacked(data: bytes, path: str, most: int, piece: int) -> Iterator[bytes]:
    try:
        yield from unpacked(data, most, piece)
    except TooLargeError as error:
        raise OSError(errno.EFBIG, str(error), path) from error
    except ValueError as error:
        raise OSError(errno.EIO, f"the compressed rollout {error}", path) from error
