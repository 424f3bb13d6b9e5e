"""Places in a text."""

from collections.abc import Iterable, Sequence

Span = tuple[int, int]
"""First character and the one after the last."""


def overlaps(span: Span, others: Iterable[Span]) -> bool:
    """Whether a span shares a character with any of the others."""
    return any(span[0] < end and start < span[1] for start, end in others)


def cut(text: str, spans: Sequence[Span]) -> str:
    """The text without the spans, single-spaced where something was taken out."""
    if not spans:
        return text
    kept: list[str] = []
    position = 0
    for start, end in sorted(spans):
        kept.append(text[position:start])
        position = max(position, end)
    kept.append(text[position:])
    return " ".join(" ".join(kept).split())
