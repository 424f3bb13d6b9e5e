"""The keyword channel on SQLite's FTS5."""

from collections.abc import Iterable

from cloxy_hookspecs import (
    Check,
    CheckProvider,
    CommitIndex,
    CommitIndexProvider,
    HostContext,
    Migration,
    Setting,
    hookimpl,
)


def _seconds(text: str) -> float:
    """A time limit in seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.01 <= seconds <= 60:
        raise ValueError("a number of seconds from 0.01 to 60")
    return seconds


TIME_LIMIT = Setting(
    name="fts5.time-limit",
    default=0.25,
    parse=_seconds,
    help="Seconds of work a keyword statement may take before only the newest part is searched.",
)


@hookimpl
def cloxy_settings() -> Iterable[Setting[float]]:
    """Yield the time limit."""
    yield TIME_LIMIT


@hookimpl
def cloxy_migrations() -> Iterable[Migration]:
    """Yield the tables."""
    from cloxy_plugins.fts5.migrations import create_tables

    yield Migration(owner="fts5", number=1, summary="the keyword index", apply=create_tables)


@hookimpl
def cloxy_indexes() -> Iterable[CommitIndexProvider]:
    """Yield the channel `keyword`."""

    def create(context: HostContext) -> CommitIndex:
        from cloxy_plugins.fts5.index import KeywordIndex

        return KeywordIndex(context.store, context.settings[TIME_LIMIT])

    yield CommitIndexProvider(
        name="fts5",
        summary="Words, names and phrases with SQLite's FTS5",
        channel="keyword",
        weight=0.7,
        create=create,
    )


@hookimpl
def cloxy_checks() -> Iterable[CheckProvider]:
    """Yield the check of the index."""

    def create(context: HostContext) -> Check:
        from cloxy_plugins.fts5.check import KeywordIndexCheck

        return KeywordIndexCheck(context.store)

    yield CheckProvider(
        name="fts5", summary="Keyword index in step with the passages", create=create
    )
