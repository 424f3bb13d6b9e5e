"""The readers as expanders: each fills soft fields of the query and leaves the hard ones."""

from dataclasses import replace

from cloxy_hookspecs import Query, Window
from cloxy_plugins.expansion.latest import find_newest
from cloxy_plugins.expansion.literals import find_literals
from cloxy_plugins.expansion.small_talk import is_small_talk
from cloxy_plugins.expansion.spans import Span, cut, overlaps
from cloxy_plugins.expansion.time_hints import find_window

LONGEST_FIRM = 32 * 86_400_000
"""Milliseconds up to which a relative time surely says when a thing was spoken of."""


class Literals:
    """Notes what is to be found verbatim."""

    async def expand(self, query: Query) -> Query:
        """The query with its literals."""
        found = [literal for literal, _ in find_literals(_text(query))]
        return replace(query, literals=tuple(dict.fromkeys([*query.literals, *found])))


class TimeHints:
    """Turns dates into a soft window, and takes relative ones out of the words."""

    async def expand(self, query: Query) -> Query:
        """The query with a window, if its text names a date."""
        text = _text(query)
        hint = find_window(text, query.now, query.zone, _protected(text, query.literals))
        if hint is None:
            return query
        # Beside the name of a thing the window says it all; in prose the date is a word as well.
        spans = hint.spans if query.literals else hint.relative
        # A date that is written out is found by its words, in what was said later, too; and
        # who says "years ago" means when it happened.
        firm = hint.relative == hint.spans and _is_short(hint.window, query.now)
        return replace(
            query,
            window=hint.window,
            window_firm=firm,
            browse=firm and not query.literals and is_small_talk(cut(text, hint.spans)),
            search_text=_without(text, spans),
        )


class Latest:
    """Asks for the newest first when the text does."""

    async def expand(self, query: Query) -> Query:
        """The query in order of time, if its text asks for the latest."""
        if query.browse:
            return query
        text = _text(query)
        protected = _protected(text, query.literals)
        spans = [span for span in find_newest(text) if not overlaps(span, protected)]
        if not spans:
            return query
        return replace(query, order="newest", search_text=_without(text, spans))


def _is_short(window: Window, now: int) -> bool:
    """Whether a window is a month at the most; an open end is the present."""
    end = now if window.until is None else window.until
    return window.since is not None and end - window.since <= LONGEST_FIRM


def _text(query: Query) -> str:
    return query.search_text or query.text


def _without(text: str, spans: "list[Span] | tuple[Span, ...]") -> str:
    """The rest of the words, or all of them when nothing would be left to search for."""
    rest = cut(text, spans)
    return rest if any(char.isalnum() for char in rest) else text


def _protected(text: str, literals: tuple[str, ...]) -> list[Span]:
    """Places of literals in a text."""
    spans: list[Span] = []
    for literal in literals:
        start = text.find(literal)
        while start >= 0:
            spans.append((start, start + len(literal)))
            start = text.find(literal, start + len(literal))
    return spans
