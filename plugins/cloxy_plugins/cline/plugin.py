"""What the plugin brings: a source for each of three agents, and the parser of their records."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """Tasks of Cline, and of Roo Code and Kilo Code, which are made from it."""
    from cloxy_plugins.cline.source import create_cline, create_kilo, create_roo

    yield SourceProvider(
        name="cline",
        summary="Tasks of Cline in VS Code and its relatives, and sessions of its command line",
        agent="cline",
        parser="cline-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Cline",
        create=create_cline,
    )
    yield SourceProvider(
        name="roo-code",
        summary="Tasks of Roo Code in VS Code and its relatives",
        agent="roo-code",
        parser="cline-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Roo Code",
        create=create_roo,
    )
    yield SourceProvider(
        name="kilo-code",
        summary="Tasks of the first generation of Kilo Code",
        agent="kilo-code",
        parser="cline-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Kilo Code",
        create=create_kilo,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the sources make."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="cline-records",
        summary="Records of tasks of Cline, Roo Code and Kilo Code",
        create=create_turn_parser,
    )
