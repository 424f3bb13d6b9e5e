"""What the plugin brings: two sources of Goose's sessions, and the parser of their records."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The database of Goose, and the files of versions before 1.10."""
    from cloxy_plugins.goose.source import create_database, create_files

    yield SourceProvider(
        name="goose",
        summary="Sessions of Goose, from its database",
        agent="goose",
        parser="goose-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Goose",
        resume=("goose", "session", "--resume", "--session-id", "{session}"),
        create=create_database,
    )
    yield SourceProvider(
        name="goose-files",
        summary="Sessions of Goose before 1.10, from files that its database does not have",
        agent="goose",
        parser="goose-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Goose",
        create=create_files,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the sources make."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="goose-records",
        summary="Records of sessions of Goose",
        create=create_turn_parser,
    )
