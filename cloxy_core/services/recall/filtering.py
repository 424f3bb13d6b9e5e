"""Hard filters as the channels get them."""

from dataclasses import replace
from typing import Final

from cloxy_hookspecs import Author, Filters, Window

WITHOUT_SUBAGENTS: Final[tuple[Author, ...]] = ("human", "assistant", "program", "summary")


def resolved(filters: Filters) -> Filters:
    """The filters with the default about sub-agents written out as authors."""
    if filters.authors or filters.subagents:
        return filters
    return replace(filters, authors=WITHOUT_SUBAGENTS)


def narrowed(filters: Filters, window: Window | None) -> Filters | None:
    """The filters within a soft window too; None when there is none or nothing can be in both."""
    if window is None:
        return None
    hard = filters.window
    since = max((at for at in (hard.since, window.since) if at is not None), default=None)
    until = min((at for at in (hard.until, window.until) if at is not None), default=None)
    if since is not None and until is not None and since >= until:
        return None
    return replace(filters, window=Window(since, until))
