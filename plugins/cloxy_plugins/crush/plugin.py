"""What the plugin brings: the source of Crush's sessions, and the parser of their records."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The databases that Crush keeps in projects."""
    from cloxy_plugins.crush.source import create_source

    yield SourceProvider(
        name="crush",
        summary="Sessions of Crush, from the databases in its projects",
        agent="crush",
        parser="crush-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Crush",
        resume=("crush", "--session", "{session}"),
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the source makes."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="crush-records",
        summary="Records of sessions of Crush",
        create=create_turn_parser,
    )
