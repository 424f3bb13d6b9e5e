"""One part of a long answer: as many items as fit, or a window of one that never would."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cloxy_core.surfaces.mcp.pages import Piece, Place

MOST_TEXT: Final = 20_000
"""Characters of text that one answer shows."""

MOST_JSON: Final = 2 * MOST_TEXT
"""Characters of an answer as JSON, which names its members and may quote a text twice."""

LONG: Final = 1_000
"""Texts inside an item from which on they are shown by windows; shorter ones stay whole."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one answer shows.

    Attributes:
        items: places of its items in the list.
        values: its items as JSON.
        next: where the next part begins; None when this is the last.
        text: the text of a window of one item; None when it shows whole items.
        window: which window of how many, from 1.
    """

    items: slice
    values: Sequence[object]
    next: Place | None
    text: str | None = None
    window: tuple[int, int] = (1, 1)


def part_at(pieces: Sequence[Piece], place: Place) -> Part:
    """The part that begins at a place."""
    windows = _windows(pieces[place.item])
    if windows > 1:
        return _window(pieces, place, windows)
    end, text, size = place.item, 0, 0
    while end < len(pieces):
        text += len(pieces[end].text)
        size += pieces[end].size
        if end > place.item and (text > MOST_TEXT or size > MOST_JSON):
            break
        end += 1
    shown = slice(place.item, end)
    following = Place(end) if end < len(pieces) else None
    return Part(shown, [piece.value for piece in pieces[shown]], following)


def _windows(piece: Piece) -> int:
    """In how many windows an item is shown."""
    if len(piece.text) <= MOST_TEXT and piece.size <= MOST_JSON:
        return 1
    by_text = math.ceil(len(piece.text) / MOST_TEXT)
    by_value = math.ceil(_long_characters(piece.value) / MOST_JSON)
    return max(by_text, by_value, 1)


def _window(pieces: Sequence[Piece], place: Place, windows: int) -> Part:
    piece = pieces[place.item]
    number = min(place.window, windows - 1)
    text = piece.text[_span(len(piece.text), number, windows)]
    shown = _span(_long_characters(piece.value), number, windows)
    value, _end = _cut(piece.value, shown, 0)
    if number + 1 < windows:
        following: Place | None = Place(place.item, number + 1)
    elif place.item + 1 < len(pieces):
        following = Place(place.item + 1)
    else:
        following = None
    items = slice(place.item, place.item + 1)
    return Part(items, [value], following, text, (number + 1, windows))


def _span(length: int, number: int, windows: int) -> slice:
    """One of so many parts of a length that are about equal."""
    return slice(length * number // windows, length * (number + 1) // windows)


def _long_characters(value: object) -> int:
    if isinstance(value, str):
        return len(value) if len(value) > LONG else 0
    if isinstance(value, list):
        return sum(_long_characters(item) for item in value)
    if isinstance(value, dict):
        return sum(_long_characters(item) for item in value.values())
    return 0


def _cut(value: object, shown: slice, start: int) -> tuple[object, int]:
    """A value with only so much of its long texts, and where the next long text starts."""
    if isinstance(value, str) and len(value) > LONG:
        end = start + len(value)
        return value[max(shown.start - start, 0) : max(shown.stop - start, 0)], end
    if isinstance(value, list):
        items: list[object] = []
        for item in value:
            cut, start = _cut(item, shown, start)
            items.append(cut)
        return items, start
    if isinstance(value, dict):
        members: dict[str, object] = {}
        for name, item in value.items():
            members[name], start = _cut(item, shown, start)
        return members, start
    return value, start
