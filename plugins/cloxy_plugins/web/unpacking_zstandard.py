"""Zstandard, frame after frame, whatever size a frame says that it has."""

import sys
from collections.abc import Iterator
from typing import Final

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PIECE: Final = 65_536
ERRORS: Final = (zstd.ZstdError, EOFError)
_WINDOW: Final = 23
"""Eight megabytes, as the standard of this way to pack has it (RFC 9659)."""

# Layout of a frame header: RFC 8878, section 3.1.1.1.
_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_SINGLE_SEGMENT: Final = 0b0010_0000
_SIZE_FLAG: Final = 0b1100_0000
_DICTIONARY_BYTES: Final = (0, 1, 2, 4)
_SIZE_BYTES: Final = (0, 2, 4, 8)
_WINDOW_DESCRIPTOR: Final = bytes([(_WINDOW - 10) << 3])


class Zstandard:
    """Unpacks frames; the size that a header states is not looked at.

    The decoder gives nothing at all of a frame that is longer than it says. What it says is of no
    use here, where every piece is counted, so it is taken out before the decoder sees it.
    """

    def __init__(self) -> None:
        """Unpack nothing yet."""
        self._inner = _decoder()
        self._head: bytes | None = b""

    @property
    def is_complete(self) -> bool:
        """Whether the last frame has come to its end."""
        return self._inner.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What becomes of some more bytes, in pieces of at most 64 KiB."""
        while True:
            if self._inner.eof:
                if not data:
                    return
                self._inner, self._head = _decoder(), b""
            if self._head is not None:
                self._head += data
                data = without_size(self._head)
                if not data:
                    return
                self._head = None
            piece = self._inner.decompress(data, PIECE)
            if piece:
                yield piece
            data = self._inner.unused_data if self._inner.eof else b""
            if not data and (self._inner.eof or self._inner.needs_input):
                return


def without_size(frame: bytes) -> bytes:
    """A frame whose header states no size; nothing while its header has not come whole.

    Args:
        frame: its beginning; of another kind than that of packed data, it stays as it is.
    """
    if not frame.startswith(_MAGIC):
        return b"" if _MAGIC.startswith(frame) else frame
    place = len(_MAGIC)
    if len(frame) <= place:
        return b""
    descriptor = frame[place]
    is_single = bool(descriptor & _SINGLE_SEGMENT)
    windows = 0 if is_single else 1
    dictionary = _DICTIONARY_BYTES[descriptor & 0b11]
    # One byte of size where the flag says none and there is no window either.
    size = _SIZE_BYTES[descriptor >> 6] or int(is_single)
    rest = place + 1 + windows + dictionary
    if len(frame) < rest + size:
        return b""
    window = _WINDOW_DESCRIPTOR if is_single else frame[place + 1 : place + 2]
    told = bytes([descriptor & ~(_SIZE_FLAG | _SINGLE_SEGMENT) & 0xFF])
    return _MAGIC + told + window + frame[rest - dictionary : rest] + frame[rest + size :]


def _decoder() -> "zstd.ZstdDecompressor":
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW})
