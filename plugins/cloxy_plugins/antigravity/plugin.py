"""What the plugin brings: two sources of Antigravity's conversations, and their parser."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The transcripts, and the databases of conversations that have none."""
    from cloxy_plugins.antigravity.store import create_store
    from cloxy_plugins.antigravity.transcripts import create_transcripts

    yield SourceProvider(
        name="antigravity",
        summary="Transcripts of Antigravity, its sub-agents among them",
        agent="antigravity",
        parser="antigravity-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Antigravity",
        create=create_transcripts,
    )
    yield SourceProvider(
        name="antigravity-store",
        summary="Databases of conversations of Antigravity that have no transcript",
        agent="antigravity",
        parser="antigravity-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Antigravity",
        create=create_store,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the sources make."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="antigravity-records",
        summary="Records of conversations of Antigravity",
        create=create_turn_parser,
    )
