"""Bodies unpacked piece by piece, so that little that comes never becomes much at once."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

from cloxy_hookspecs import FetchError
from cloxy_plugins.web import unpacking_brotli, unpacking_zstandard
from cloxy_plugins.web.unpacking_brotli import Brotli
from cloxy_plugins.web.unpacking_zstandard import Zstandard

PIECE: Final = 65_536
MOST_WAYS: Final = 5
IDENTITY: Final = frozenset({"", "identity"})
_GZIP: Final = b"\x1f\x8b"


class Unpacker(Protocol):
    """Unpacks one way."""

    @property
    def is_complete(self) -> bool:
        """Whether all has come that belongs to it."""
        ...

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What becomes of some more bytes, in pieces."""
        ...


class _Zlib:
    """One member after the other; what stands behind the last is no part of the page."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._inner = zlib.decompressobj(bits)
        self._behind = b""

    @property
    def is_complete(self) -> bool:
        return self._inner.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        while True:
            if self._inner.eof:
                data, self._behind = self._behind + data, b""
                if len(data) < len(_GZIP):
                    self._behind = data
                    return
                if not data.startswith(_GZIP):
                    return
                self._inner = zlib.decompressobj(self._bits)
            piece = self._inner.decompress(data, PIECE)
            if piece:
                yield piece
            data = self._inner.unused_data if self._inner.eof else self._inner.unconsumed_tail
            if not data and (self._inner.eof or len(piece) < PIECE):
                return


class _Deflate:
    """With the wrapper of zlib, as the standard says, or without, as some servers have it."""

    def __init__(self) -> None:
        self._start = b""
        self._inner: _Zlib | None = None

    @property
    def is_complete(self) -> bool:
        return self._inner is not None and self._inner.is_complete

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._inner is None:
            data = self._start + data
            if len(data) < len(_GZIP):
                self._start = data
                return
            is_wrapped = data[0] & 15 == zlib.DEFLATED and int.from_bytes(data[:2], "big") % 31 == 0
            self._inner = _Zlib(zlib.MAX_WBITS if is_wrapped else -zlib.MAX_WBITS)
        yield from self._inner.feed(data)


WAYS: Final[Mapping[str, Callable[[], Unpacker]]] = {
    "gzip": lambda: _Zlib(zlib.MAX_WBITS | 16),
    "x-gzip": lambda: _Zlib(zlib.MAX_WBITS | 16),
    "deflate": _Deflate,
    "br": Brotli,
    "zstd": Zstandard,
}
_ERRORS: Final = (zlib.error, *unpacking_brotli.ERRORS, *unpacking_zstandard.ERRORS)


class Unpacking:
    """All the ways that a body is packed in, the last of them first."""

    def __init__(self, encodings: Sequence[str]) -> None:
        """Unpack nothing yet.

        Args:
            encodings: values of the header `Content-Encoding`.

        Raises:
            FetchError: there are too many, or one is not known: packed bytes are no text.
        """
        ways = [way.strip().lower() for value in encodings for way in value.split(",")]
        if len(ways) > MOST_WAYS:
            raise FetchError("the page is packed more often than any honest one")
        if not IDENTITY.union(WAYS).issuperset(ways):
            raise FetchError("the page is packed in a way that is not known here")
        self._chain = [WAYS[way]() for way in reversed(ways) if way not in IDENTITY]
        self._is_empty = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What becomes of some more bytes, in pieces of 64 KiB at most if they are packed.

        Raises:
            FetchError: they are not packed as was said.
        """
        self._is_empty = self._is_empty and not data
        pieces: Iterable[bytes] = (data,)
        for unpacker in self._chain:
            pieces = _each(unpacker, pieces)
        try:
            yield from pieces
        except _ERRORS as error:
            raise FetchError("the page is not packed in the way that its server says") from error

    def finish(self) -> None:
        """Make sure that nothing is missing.

        Raises:
            FetchError: something is.
        """
        if not self._is_empty and not all(unpacker.is_complete for unpacker in self._chain):
            raise FetchError("the page ends in the middle of what is packed")


def _each(unpacker: Unpacker, pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield from unpacker.feed(piece)
