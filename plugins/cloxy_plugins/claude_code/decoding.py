"""From the bytes of a line to JSON objects, whatever state the line is in.

A whole line goes through orjson. What orjson refuses takes the slow way, which recovers what
can be recovered: several objects glued on one line, an object behind a run of zero bytes or
behind half of another one, halves of surrogate pairs, invalid UTF-8, NaN.
"""

import json
import re
from dataclasses import dataclass

import orjson

Record = dict[str, object]

# Attempts to find a whole object behind a damaged one; each may cost a scan of the line.
_ATTEMPTS = 16
_VALUES = 10_000
_INTEGER_DIGITS = 300

_FILLING = re.compile("[\\s\ufeff\0]*")
_RECORD_START = re.compile(
    r'\{"(?:parentUuid|type|uuid|sessionId|isSidechain|cwd|message|timestamp|userType)"'
)
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u([dD][89a-fA-F])[0-9a-fA-F]{2}"
    r"|\\[\s\S]"
)


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a damaged line still holds.

    Attributes:
        records: the objects, in order.
        damage: what was passed over; None when nothing was.
    """

    records: list[Record]
    damage: str | None


def decode_line(data: bytes) -> Record | None:
    """The object of a sound line; None when the line needs `recover`."""
    try:
        value = orjson.loads(data)
    except ValueError:
        return None
    return value if type(value) is dict else None


def recover(data: bytes) -> Recovered:
    """The objects of a line that is not simply one object; never raises."""
    text = _ESCAPE.sub(_without_half, data.decode("utf-8", "replace"))
    records: list[Record] = []
    damage: str | None = None
    position = attempts = 0
    whole = True
    for _ in range(_VALUES):
        filling = _FILLING.match(text, position)
        end = filling.end() if filling else position
        if "\0" in text[position:end]:
            damage = damage or "zero bytes"
        position = end
        if position == len(text):
            return Recovered(records, damage)
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            damage = "nested too deeply" if isinstance(error, RecursionError) else "not JSON"
            attempts += 1
            start = _RECORD_START.search(text, position + 1) if attempts < _ATTEMPTS else None
            if start is None:
                return Recovered(records, damage)
            position = start.start()
            whole = False
            continue
        if isinstance(value, dict) and (whole or _is_record(value)):
            records.append(value)
            whole = True
        else:
            damage = damage or "not a JSON object"
    return Recovered(records, damage or "too many values")


def _is_record(value: Record) -> bool:
    """Whether an object in the middle of a damaged one is a record rather than a part of it."""
    return isinstance(value.get("type"), str) and isinstance(value.get("sessionId"), str)


def _without_half(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape[1] else escape[0]


def _integer(digits: str) -> int | float:
    # int() refuses very many digits, and its time grows with their square.
    return int(digits) if len(digits) < _INTEGER_DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_int=_integer, strict=False)
