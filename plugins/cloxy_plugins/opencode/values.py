"""Values of rows and files, which may be anything."""

import json
from collections.abc import Mapping

import orjson

Record = Mapping[str, object]

LARGEST = 8 << 20
"""Most bytes of one message or part; a larger one is damage."""

_LATEST = 9_000_000_000_000
_ID_LIMIT = 200
_SEPARATORS = frozenset("#/\\")


def decode(data: object) -> Record | None:
    """The object that a JSON text holds; None when it holds none. Never raises."""
    if not isinstance(data, str | bytes):
        return None
    try:
        value = orjson.loads(data)
    except ValueError:
        value = _slowly(data)
    return value if isinstance(value, dict) else None


def _slowly(data: str | bytes) -> object:
    """JSON that has halves of surrogate pairs, control characters or bytes that are no UTF-8."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig", "replace")
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def text_in(record: Record, key: str) -> str:
    """A text field, made valid Unicode; empty when there is none."""
    value = record.get(key)
    if not isinstance(value, str):
        return ""
    # A half of a surrogate pair becomes the mark for what is no character.
    return (
        value
        if value.isascii()
        else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def id_in(record: Record, key: str) -> str | None:
    """A field that can serve as an id, else None."""
    return usable_id(record.get(key))


def usable_id(value: object) -> str | None:
    """An id as programs make them, else None."""
    usable = isinstance(value, str) and 0 < len(value) <= _ID_LIMIT and value.isprintable()
    return str(value) if usable and _SEPARATORS.isdisjoint(str(value)) else None


def record_in(record: Record, key: str) -> Record:
    """A field that is an object itself; an empty one when it is none."""
    value = record.get(key)
    return value if isinstance(value, Mapping) else {}


def milliseconds(value: object) -> int:
    """A point in time, in milliseconds; 0 for what cannot be one."""
    if isinstance(value, float) and 0 < value < _LATEST:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 < value < _LATEST else 0
