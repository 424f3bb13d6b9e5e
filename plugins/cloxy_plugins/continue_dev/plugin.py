"""What the plugin brings: the source of Continue's sessions, and the parser of their records."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """Sessions of the editors' extensions and of the command line, which share a folder."""
    from cloxy_plugins.continue_dev.source import create_source

    yield SourceProvider(
        name="continue",
        summary="Sessions of Continue: VS Code, JetBrains and the command line",
        agent="continue",
        parser="continue-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Continue",
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the source makes."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="continue-records",
        summary="Records of sessions of Continue",
        create=create_turn_parser,
    )
