"""What the plugin brings: the folders of notes as a source, their parser, origin and setting."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import OriginPolicy, ParserProvider, Setting, SourceProvider, hookimpl


@hookimpl
def cloxy_settings() -> Iterable[Setting[Any]]:
    """Yield which folders hold notes."""
    from cloxy_plugins.notes.settings import DIRS

    yield DIRS


@hookimpl
def cloxy_origins() -> Iterable[OriginPolicy]:
    """Yield notes that the user keeps: the file says how they are, nothing else changes them."""
    yield OriginPolicy(
        name="markdown", kind="reference", tier="working", immutable=True, deduplicates=False
    )


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The folders of notes."""
    from cloxy_plugins.notes.source import create_source

    yield SourceProvider(
        name="notes",
        summary="Notes in Markdown, in folders that you name",
        agent="notes",
        parser="notes-records",
        chunker="notes",
        origin="markdown",
        rewritten=True,
        title="Markdown notes",
        own_folders=True,
        note="reads only folders that the setting notes.dirs (CLOXY_NOTES_DIRS) names",
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the source makes."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="notes-records",
        summary="Records of sections of notes",
        create=create_turn_parser,
    )
