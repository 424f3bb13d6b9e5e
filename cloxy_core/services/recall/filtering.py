"""Hard filters as the channels get them."""

from dataclasses import replace
from typing import Final

from cloxy_hookspecs import Author, Filters, Window

WITHOUT_SUBAGENTS: Final[tuple[Author, ...]] = ("human", "assistant", "program", "summary")


WITH_SUBAGENTS: Final[tuple[Author, ...]] = (*WITHOUT_SUBAGENTS, "subagent")


def resolved(filters: Filters) -> Filters:
    """The filters with the default about authors written out: nothing that our model said."""
    if filters.authors:
        return filters
    authors = WITH_SUBAGENTS if filters.subagents else WITHOUT_SUBAGENTS
    return replace(filters, authors=authors)


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
