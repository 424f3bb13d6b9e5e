"""Data that is compressed with Zstandard (RFC 8878), unpacked within bounds."""

import importlib
from collections.abc import Iterator
from functools import cache
from types import ModuleType

PIECE = 1 << 20
_WINDOW = 27
"""A larger window (2**27 bytes) is used of no log, and would be held in memory."""


class TooLargeError(ValueError):
    """It unpacks to more than it may."""


def unpacked(data: bytes, most: int, piece: int = PIECE) -> Iterator[bytes]:
    """Unpack data, piece by piece.

    Args:
        data: compressed bytes, in one frame or several.
        most: bytes that it may have unpacked.
        piece: bytes to unpack at once.

    Raises:
        TooLargeError: it is larger than `most`.
        ValueError: it ends too early, or is damaged; the reason goes on from the name of the thing.
            Pieces before the damage came already.
    """
    library = _library()
    size = 0
    rest = data
    try:
        while rest:
            options = {library.DecompressionParameter.window_log_max: _WINDOW}
            unpacker = library.ZstdDecompressor(options=options)
            given = rest
            while not unpacker.eof:
                part: bytes = unpacker.decompress(given, piece)
                given = b""
                if not part and unpacker.needs_input:
                    raise ValueError("ends too early")
                size += len(part)
                if size > most:
                    raise TooLargeError(f"unpacks to more than {most:,} bytes")
                yield part
            rest = unpacker.unused_data
    except library.ZstdError as error:
        raise ValueError("is damaged") from error


@cache
def _library() -> ModuleType:
    """Loaded with the first thing that is compressed; most people have none."""
    try:
        return importlib.import_module("compression.zstd")
    except ImportError:  # before Python 3.14
        return importlib.import_module("backports.zstd")
