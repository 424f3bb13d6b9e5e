"""Messages in the form of Protocol Buffers (protobuf.dev/programming-guides/encoding)."""

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIDTHS = {_FIXED64: 8, _FIXED32: 4}
_VARINT_BYTES = 10

Field = int | bytes


def fields(data: bytes) -> Iterator[tuple[int, Field]]:
    """Number and value of each field.

    Raises:
        ValueError: it is no such message, or its end is missing.
    """
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise ValueError("a field without a number")
        if kind == _VARINT:
            value, position = _varint(data, position)
            yield number, value
            continue
        if kind == _BYTES:
            width, position = _varint(data, position)
        elif kind in _WIDTHS:
            width = _WIDTHS[kind]
        else:
            raise ValueError("a field of an unknown kind")
        if position + width > len(data):
            raise ValueError("a field without its end")
        yield number, data[position : position + width]
        position += width


def inner(data: bytes, *path: int) -> bytes | None:
    """The last field of bytes at a path of field numbers; None when there is none.

    Raises:
        ValueError: a message on the way is damaged.
    """
    for number in path:
        values = [each for key, each in fields(data) if key == number and isinstance(each, bytes)]
        if not values:
            return None
        data = values[-1]
    return data


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for count in range(_VARINT_BYTES):
        if position + count >= len(data):
            raise ValueError("a number without its end")
        byte = data[position + count]
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, position + count + 1
    raise ValueError("a number that is too long")
