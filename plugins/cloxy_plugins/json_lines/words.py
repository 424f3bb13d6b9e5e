"""The words of a message: texts joined, and blocks that the program put in taken out."""

import re
from collections.abc import Iterable, Sequence

PARAGRAPH = "\n\n"
_ATTRIBUTES = r"(?:\s[^<>]{0,500})?"


def joined(texts: Iterable[object]) -> str:
    """All texts that say something, each a paragraph."""
    return PARAGRAPH.join(text for text in texts if isinstance(text, str) and text.strip())


def without_blocks(text: str, tags: Sequence[str]) -> str:
    """The text without blocks `<tag>…</tag>`; one that is cut off takes all behind it."""
    if not tags:
        return text
    opening = re.compile(rf"<({'|'.join(map(re.escape, tags))}){_ATTRIBUTES}>")
    kept: list[str] = []
    position = 0
    while found := opening.search(text, position):
        kept.append(text[position : found.start()])
        closing = f"</{found[1]}>"
        end = text.find(closing, found.end())
        position = len(text) if end < 0 else end + len(closing)
    if not position:
        return text
    kept.append(text[position:])
    return "".join(kept).strip()
