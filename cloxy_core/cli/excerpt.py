"""Cutting a long memory to the part that answers the question."""

import re
from collections.abc import Sequence

LIMIT = 600
_WORD = re.compile(r"\w+")
_LEAD = 100  # characters kept before the place that matters, so that it can be understood


def excerpt(body: str, query: str, passage: tuple[int, int] | None = None) -> str:
    """At most about 600 characters around what was asked, with `…` where text is left out.

    Args:
        body: the whole text.
        query: what was asked.
        passage: start and end (characters) of the best passage, if known.
    """
    if len(body) <= LIMIT:
        return body
    start, end = passage or (0, len(body))
    if end - start <= LIMIT - 2 * _LEAD:
        focus = max(0, start - _LEAD)
    else:
        focus = start + _densest(body[start:end], _WORD.findall(query.casefold()))
    first = _word_start(body, min(focus, len(body) - LIMIT))
    last = first + LIMIT
    cut = body[first:last].strip()
    return ("… " if first > 0 else "") + cut + (" …" if last < len(body) else "")


def _densest(text: str, words: Sequence[str]) -> int:
    """Where a window of the limit's size holds most of the different words; 0 if it has none."""
    wanted = {word for word in words if len(word) > 2} or set(words)
    if not wanted:
        return 0
    folded = text.lower()  # not casefold: its length must stay that of the text
    if len(folded) != len(text):
        return 0
    alternatives = "|".join(re.escape(word) for word in sorted(wanted, key=len, reverse=True))
    found = [(match.start(), match[0]) for match in re.finditer(alternatives, folded)]
    best, best_count = 0, 0
    for index, (position, _) in enumerate(found):
        inside = {
            word for place, word in found[index : index + 60] if place < position + LIMIT - _LEAD
        }
        if len(inside) > best_count:
            best, best_count = max(0, position - _LEAD), len(inside)
    return best


def _word_start(body: str, position: int) -> int:
    """The next start of a word, if one is near."""
    if position <= 0:
        return 0
    space = body.find(" ", position - 1, position + 30)
    return position if space < 0 else space + 1
