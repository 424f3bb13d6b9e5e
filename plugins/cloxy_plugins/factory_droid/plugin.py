"""What the plugin brings: the source of session logs, and their parser."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The session logs of Droid."""
    from cloxy_plugins.factory_droid.source import create_source

    yield SourceProvider(
        name="factory-droid",
        summary="Sessions of Droid, the agent of Factory, sub-agents among them",
        agent="factory-droid",
        parser="factory-droid-records",
        chunker="messages",
        origin="transcript",
        title="Factory Droid",
        resume=("droid", "--resume", "{session}"),
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The format of those files."""
    from cloxy_plugins.factory_droid.parser import create_parser

    yield ParserProvider(
        name="factory-droid-records",
        summary="Session logs of Factory Droid, one record a line",
        create=create_parser,
    )
