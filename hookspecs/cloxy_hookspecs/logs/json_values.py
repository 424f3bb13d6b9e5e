"""From bytes to JSON, whatever state they are in, and from JSON to values of a known kind."""

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeAlias, TypeGuard, cast

import orjson

Record: TypeAlias = dict[str, object]
"""A JSON object."""

ID_LIMIT = 200
"""Characters of the longest id or name that is taken."""

TEXT_LIMIT = 4096
"""Characters of the longest short text: a path, a branch."""

_NEAR = 0.75
_INTEGER_DIGITS = 300
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u([dD][89a-fA-F])[0-9a-fA-F]{2}"
    r"|\\[\s\S]"
)


def decode(data: bytes | str) -> object:
    """The value of a JSON text; what orjson refuses takes a slower way that repairs texts.

    Repaired are halves of surrogate pairs, control characters inside strings, bytes that are no
    UTF-8, a byte order mark, NaN and very long integers.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        return orjson.loads(data)
    except ValueError:
        pass
    text = repaired(data).lstrip("\ufeff")
    try:
        return DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def encode(record: Mapping[str, object]) -> bytes:
    """A record as one line of JSON; halves of characters become the replacement character."""
    try:
        return orjson.dumps(record)
    except TypeError:
        return repaired(json.dumps(record)).encode()


def repaired(data: bytes | str) -> str:
    """A JSON text whose escapes stand for whole characters only."""
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    return _ESCAPE.sub(_without_half, text)


def is_record(value: object) -> TypeGuard[Record]:
    """Whether a decoded value is a JSON object."""
    return isinstance(value, dict)


def record_of(value: object) -> Record:
    """The value as a JSON object; an empty one for anything else."""
    return value if is_record(value) else {}


def list_of(value: object) -> list[object]:
    """The value as a JSON array; an empty one for anything else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def words_of(record: Mapping[str, object], key: str) -> str:
    """A field that holds words, however many; empty for anything else and for blanks."""
    value = record.get(key)
    return value if isinstance(value, str) and value.strip() else ""


def text_of(record: Mapping[str, object], key: str) -> str | None:
    """A field that holds a short text, such as a path; else None."""
    value = record.get(key)
    usable = isinstance(value, str) and value.strip() and len(value) <= TEXT_LIMIT
    return str(value) if usable else None


def id_of(record: Mapping[str, object], key: str) -> str | None:
    """A field that can serve as an id or a name, else None."""
    return usable_id(record.get(key))


def usable_id(value: object) -> str | None:
    """An id as programs make them, else None."""
    usable = isinstance(value, str) and 0 < len(value) <= ID_LIMIT and value.isprintable()
    return str(value) if usable and str(value).strip() else None


def has_nearly(record: Mapping[str, object], key: str) -> bool:
    """Whether a record lacks a key, but has one that is nearly it, as damage leaves it."""
    return key not in record and bool(get_close_matches(key, record, n=1, cutoff=_NEAR))


def whole_of(record: Mapping[str, object], key: str) -> int | None:
    """A field that is a whole number, else None; true and false are none."""
    value = record.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _without_half(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape[1] else escape[0]


def _integer(digits: str) -> int | float:
    # int() refuses very many digits, and its time grows with their square.
    return int(digits) if len(digits) < _INTEGER_DIGITS else float(digits)


DECODER = json.JSONDecoder(parse_int=_integer, strict=False)
"""Takes control characters in strings, and integers of any length."""
