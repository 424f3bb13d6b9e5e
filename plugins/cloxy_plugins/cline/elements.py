"""The messages of a file that is one JSON array, also when a part of it is damaged."""

import json
import re
from dataclasses import dataclass

from cloxy_hookspecs.logs.json_values import DECODER, decode, list_of, repaired

# Attempts to find a whole message behind a damaged one; each may cost a scan of the file.
_ATTEMPTS = 16
_BETWEEN = re.compile(r"[\s,\0]*")
_START = re.compile(r'\{\s*"(?:ts|role)"\s*:')


@dataclass(frozen=True, slots=True)
class Elements:
    """What an array holds.

    Attributes:
        values: its elements that are whole, in order.
        damage: what was passed over; None when nothing was.
        headless: whether the first of them may be missing.
    """

    values: list[object]
    damage: str | None = None
    headless: bool = False


def elements_of(data: bytes) -> Elements:
    """The elements of an array; never raises."""
    try:
        value = decode(data)
    except ValueError:
        return _recovered(repaired(data))
    if isinstance(value, list):
        return Elements(list_of(value))
    return Elements([], "is no list of messages", headless=True)


def _recovered(text: str) -> Elements:
    position = text.find("[") + 1
    if not position:
        return Elements([], "is not JSON", headless=True)
    values: list[object] = []
    damage = "is cut short"
    headless = False
    attempts = 0
    while True:
        between = _BETWEEN.match(text, position)
        position = between.end() if between else position
        if position == len(text):
            return Elements(values, damage, headless)
        if text[position] == "]":
            return Elements(values, "is followed by something else", headless)
        try:
            value, position = DECODER.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError, ValueError):
            damage = "is not JSON in some place"
            headless = headless or not values
            attempts += 1
            start = _START.search(text, position + 1) if attempts < _ATTEMPTS else None
            if start is None:
                return Elements(values, damage, headless)
            position = start.start()
        else:
            values.append(value)
