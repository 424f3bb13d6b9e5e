"""The blobs that a blob lists, from its Protocol Buffers form (protobuf.dev/programming-guides)."""

from collections.abc import Sequence

_LIST = 1
_DIGEST = 32
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIDTHS = {_FIXED64: 8, _FIXED32: 4}
_VARINT_BYTES = 10


def children(data: bytes) -> Sequence[str]:
    """Names of the blobs in the field that lists messages; what is damaged ends the list."""
    found: list[str] = []
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        kind = tag & 7
        if kind == _BYTES:
            length, position = _varint(data, position)
            if tag >> 3 == _LIST and length == _DIGEST and position + length <= len(data):
                found.append(data[position : position + length].hex())
            position += length
        elif kind == _VARINT:
            _value, position = _varint(data, position)
        elif kind in _WIDTHS:
            position += _WIDTHS[kind]
        else:
            break
    return found


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends; the end of the data where it does not."""
    value = 0
    for count in range(_VARINT_BYTES):
        if position + count >= len(data):
            break
        byte = data[position + count]
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, position + count + 1
    return value, len(data)
