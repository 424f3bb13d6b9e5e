"""What the plugin brings: the sources of Zed's threads, and the parser of their records."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The database of threads with the agent, and the files of text threads."""
    from cloxy_plugins.zed.source import create_text_threads, create_threads

    yield SourceProvider(
        name="zed",
        summary="Threads with the agent of Zed",
        agent="zed",
        parser="zed-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Zed",
        create=create_threads,
    )
    yield SourceProvider(
        name="zed-text-threads",
        summary="Text threads of Zed, as older versions had them",
        agent="zed",
        parser="zed-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Zed",
        create=create_text_threads,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the sources make."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="zed-records",
        summary="Records of threads of Zed",
        create=create_turn_parser,
    )
