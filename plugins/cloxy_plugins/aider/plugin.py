"""What the plugin brings: the source of Aider's histories, and the parser of their records."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The histories in the folders of projects."""
    from cloxy_plugins.aider.source import create_source

    yield SourceProvider(
        name="aider",
        summary="Chat histories of Aider in the folders of known projects",
        agent="aider",
        parser="aider-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Aider",
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the source makes."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="aider-records",
        summary="Records of chats of Aider",
        create=create_turn_parser,
    )
