"""Small changes of a text that can be taken back exactly."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_LINE_END: Final = re.compile("\n")


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of text put in the place of another.

    Attributes:
        start: where, in characters from the beginning of the text before any edit.
        removed: what stood there; empty for a pure insertion.
        inserted: what stands there then; empty for a pure removal.
    """

    start: int
    removed: str
    inserted: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits done; they may not overlap.

    Raises:
        ValueError: the text does not hold what an edit takes away.
    """
    parts, position = [], 0
    for edit in sorted(edits, key=lambda each: each.start):
        end = edit.start + len(edit.removed)
        if edit.start < position or text[edit.start : end] != edit.removed:
            raise ValueError("the text is another one")
        parts += [text[position : edit.start], edit.inserted]
        position = end
    return "".join([*parts, text[position:]])


def inverse(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits that lead back, for the text that these edits made."""
    shift, back = 0, []
    for edit in sorted(edits, key=lambda each: each.start):
        back.append(Edit(edit.start + shift, edit.inserted, edit.removed))
        shift += len(edit.inserted) - len(edit.removed)
    return tuple(back)


def remove(text: str, start: int, end: int) -> Edit:
    """The edit that takes a span out of a text."""
    return Edit(start, text[start:end], "")


class Lines:
    """Lines and columns of places in a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
