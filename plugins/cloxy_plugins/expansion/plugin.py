"""Reads more out of a question than its words: literals, dates, a wish for the newest."""

from collections.abc import Iterable

from cloxy_hookspecs import ExpanderProvider, hookimpl


@hookimpl
def cloxy_expanders() -> Iterable[ExpanderProvider]:
    """Yield the readers; literals come first, since a date inside of one is no date."""
    from cloxy_plugins.expansion.expanders import Latest, Literals, TimeHints

    yield ExpanderProvider(
        name="literals",
        summary="Compound literals, to be found verbatim",
        order=10,
        create=lambda _context: Literals(),
    )
    yield ExpanderProvider(
        name="time-hints",
        summary="Dates and relative dates as a window of time",
        order=20,
        create=lambda _context: TimeHints(),
    )
    yield ExpanderProvider(
        name="latest",
        summary="Newest first when the question asks for the latest",
        order=30,
        create=lambda _context: Latest(),
    )
