"""Brotli, and the form of it whose window is larger than the standard of the web has it.

The library's Python side reads the common form only. The large one (RFC 9841) is read through the
same library's own functions, where its build shows them; elsewhere such a body is an error like
any other that cannot be unpacked.
"""

import ctypes
import importlib.util
import weakref
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import brotli  # type: ignore[import-untyped]

PIECE: Final = 65_536
ERRORS: Final = (brotli.error,)
_LARGE: Final = 0x11
"""First byte of the large form: a window size that the common form does not have."""
_SLICE: Final = 8
"""Bytes that are unpacked at a time of the large form. The decoder gives away what it has when it
has used up its input, and until then its window grows by up to 16 MB with every block: blocks of
zeros have 13 bytes."""
_MOST: Final = 8 * 1024 * 1024
"""Bytes that are unpacked of the large form, which are all in its window: far more than is read of
any page."""
_LARGE_WINDOW: Final = 1
_FAILED, _FINISHED = 0, 1
_NATIVE: Final = "_brotli"


class Brotli:
    """Unpacks either form."""

    def __init__(self) -> None:
        """Unpack nothing yet."""
        self._inner: _Common | _Large | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the stream has come to its end."""
        return self._inner is not None and self._inner.is_complete

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What becomes of some more bytes, in pieces of about 64 KiB."""
        if not data:
            return
        if self._inner is None:
            self._inner = _Large(_library()) if data[0] == _LARGE else _Common()
        yield from self._inner.feed(data)


class _Common:
    def __init__(self) -> None:
        self._inner = brotli.Decompressor()

    @property
    def is_complete(self) -> bool:
        return bool(self._inner.is_finished())

    def feed(self, data: bytes) -> Iterator[bytes]:
        piece: bytes = self._inner.process(data, output_buffer_limit=PIECE)
        while piece:
            yield piece
            piece = self._inner.process(b"", output_buffer_limit=PIECE)


class _Large:
    def __init__(self, library: Any) -> None:  # noqa: ANN401 - functions of C
        self._library = library
        self._state = library.BrotliDecoderCreateInstance(None, None, None)
        if not self._state:
            raise MemoryError
        weakref.finalize(self, library.BrotliDecoderDestroyInstance, self._state)
        library.BrotliDecoderSetParameter(self._state, _LARGE_WINDOW, 1)
        self._room = ctypes.create_string_buffer(PIECE)
        self.is_complete = False
        self._total = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _SLICE):
            yield from self._unpacked(data[start : start + _SLICE])

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        given = ctypes.create_string_buffer(data, len(data))
        left, at = ctypes.c_size_t(len(data)), ctypes.c_void_p(ctypes.addressof(given))
        is_full = True
        while is_full:
            free, into = ctypes.c_size_t(PIECE), ctypes.c_void_p(ctypes.addressof(self._room))
            numbers = (ctypes.byref(each) for each in (left, at, free, into))
            outcome = self._library.BrotliDecoderDecompressStream(self._state, *numbers, None)
            if outcome == _FAILED or (self.is_complete and left.value):
                raise brotli.error("brotli: decoder failed")
            self.is_complete = outcome == _FINISHED
            # It asks for more input, too, while it has output that there was no room for.
            is_full = free.value == 0
            self._total += PIECE - free.value
            if self._total > _MOST:
                raise brotli.error("brotli: a large window that goes on and on")
            if free.value < PIECE:
                yield self._room.raw[: PIECE - free.value]


@cache
def _library() -> Any:  # noqa: ANN401 - functions of C
    """The functions of the library.

    Raises:
        brotli.error: its build does not show them.
    """
    found = importlib.util.find_spec(_NATIVE)
    try:
        library = ctypes.CDLL(found.origin if found else None)
        create, destroy = library.BrotliDecoderCreateInstance, library.BrotliDecoderDestroyInstance
        choose, unpack = library.BrotliDecoderSetParameter, library.BrotliDecoderDecompressStream
    except (OSError, AttributeError) as error:
        raise brotli.error("brotli: this build does not read large windows") from error
    pointer, number = ctypes.c_void_p, ctypes.c_int
    create.argtypes, create.restype = [pointer] * 3, pointer
    destroy.argtypes, destroy.restype = [pointer], None
    choose.argtypes, choose.restype = [pointer, number, ctypes.c_uint32], number
    unpack.argtypes, unpack.restype = [pointer] * 6, number
    return library
