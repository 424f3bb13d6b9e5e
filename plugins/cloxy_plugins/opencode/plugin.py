"""What the plugin brings: the source of sessions, and the parser of its records."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The sessions of OpenCode."""
    from cloxy_plugins.opencode.source import create_source

    yield SourceProvider(
        name="opencode",
        summary="Sessions of OpenCode, from its database and its older files",
        agent="opencode",
        parser="opencode-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="OpenCode",
        resume=("opencode", "--session", "{session}"),
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The format of the source's records."""
    from cloxy_plugins.opencode.parser import create_parser

    yield ParserProvider(
        name="opencode-records",
        summary="Sessions of OpenCode, one message a record",
        create=create_parser,
    )
