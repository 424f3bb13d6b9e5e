"""What the plugin brings: the files of SpecStory as a source, their parser and setting."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import ParserProvider, Setting, SourceProvider, hookimpl


@hookimpl
def cloxy_settings() -> Iterable[Setting[Any]]:
    """Yield which further folders hold conversations."""
    from cloxy_plugins.specstory.settings import DIRS

    yield DIRS


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The files in the folders of projects."""
    from cloxy_plugins.specstory.source import create_source

    yield SourceProvider(
        name="specstory",
        summary="Conversations that SpecStory saved in the folders of known projects",
        agent="specstory",
        parser="specstory-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="SpecStory",
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the source makes."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="specstory-records",
        summary="Records of conversations that SpecStory saved",
        create=create_turn_parser,
    )
