"""What a program put around the words of a person, taken off; the words stay as they were typed."""

import re
from collections.abc import Iterable

PARAGRAPH = "\n\n"
"""Between parts of one message."""

_TAIL = 200


class Wrappers:
    """Elements (`<name …>…</name>`) that a program puts before or behind what a person typed."""

    def __init__(self, names: Iterable[str], *, unclosed: bool) -> None:
        """Know the elements.

        Args:
            names: their names.
            unclosed: whether one that is never closed goes on to the end of the text; else it
                counts as typed.
        """
        name = "|".join(re.escape(each) for each in names)
        self._opening = re.compile(rf"\s*<({name})(?:\s[^<>]{{0,500}})?>")
        self._closing = re.compile(rf"</({name})>\s*\Z")
        self._unclosed = unclosed

    def taken_off(self, text: str) -> str:
        """The text without them at its beginning and end; unchanged when there is none."""
        position = 0
        while opening := self._opening.match(text, position):
            closing = f"</{opening[1]}>"
            end = text.find(closing, opening.end())
            if end < 0 and not self._unclosed:
                break
            position = len(text) if end < 0 else end + len(closing)
        if position:
            text = text[position:].lstrip()
        end = len(text)
        while closed := self._closing.search(text, max(0, end - _TAIL), end):
            start = text.rfind(f"<{closed[1]}", 0, closed.start())
            if start < 0:
                break
            end = start
        return text[:end].rstrip() if end < len(text) else text


def without_between(texts: Iterable[str], start: str, end: str) -> list[str]:
    """Texts of one message, each without what stands between two marks, and without the marks.

    What stands between them may go on over several texts; without a second mark it goes on to the
    end of the last. Line ends before a first mark go with it.
    """
    kept: list[str] = []
    inside = False
    for text in texts:
        words = ""
        rest = text
        while rest:
            before, found, rest = rest.partition(end if inside else start)
            if not inside:
                words += before.rstrip("\n") if found else before
            inside = bool(found) != inside
        kept.append(words)
    return kept


def paragraphs(texts: Iterable[str]) -> str:
    """Texts as the paragraphs of one; blank ones are left out."""
    return PARAGRAPH.join(text for text in texts if text.strip())
