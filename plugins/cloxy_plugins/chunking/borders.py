"""Splitting a long text at natural borders, losing nothing.

The pieces joined are the text again: white space stays at the end of the piece before it.
"""

from collections.abc import Iterator

BORDERS = ("\n\n", "\n", ". ", "! ", "? ", "。", " ")


def split(text: str, target: int) -> Iterator[str]:
    """Cut a text into pieces of at most `target` characters.

    A piece ends after the last border in its second and third thirds, paragraphs before lines
    before sentences before words; a run without any border is cut at `target`.

    Args:
        text: any text.
        target: most characters in a piece, at least 2.
    """
    start = 0
    while len(text) - start > target:
        end = _cut(text, start, start + target)
        yield text[start:end]
        start = end
    yield text[start:]


def _cut(text: str, start: int, limit: int) -> int:
    """The offset after the best border, between a third of the way and the limit."""
    lowest = start + (limit - start) // 3
    for border in BORDERS:
        place = text.rfind(border, lowest, limit)
        if place >= 0:
            return place + len(border)
    # Never between the halves of a composed character: stay before a combining mark or joiner.
    while limit > lowest and text[limit] in "\u200d\ufe0f\u0300\u0301\u0308":
        limit -= 1
    return limit
