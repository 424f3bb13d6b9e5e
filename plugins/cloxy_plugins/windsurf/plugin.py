"""What the plugin brings: transcripts of Windsurf as a source, and the parser of their records."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """Transcripts; conversations that are encrypted are only counted."""
    from cloxy_plugins.windsurf.source import create_source

    yield SourceProvider(
        name="windsurf",
        summary="Transcripts of Cascade in Windsurf, which a hook of Windsurf's lets it write",
        agent="windsurf",
        parser="windsurf-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Windsurf",
        note=(
            "Windsurf encrypts its conversations, so they cannot be read; with its hook"
            " post_cascade_response_with_transcript it also writes transcripts, which are read"
        ),
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the source makes."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="windsurf-records",
        summary="Records of transcripts of Windsurf",
        create=create_turn_parser,
    )
