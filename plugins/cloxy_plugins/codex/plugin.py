"""What the plugin brings: two sources of rollouts, and their parser."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl

_RESUME = ("codex", "resume", "{session}")


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The rollouts of Codex, as they grow and as they are compressed later."""
    from cloxy_plugins.codex.compressed import create_compressed_source
    from cloxy_plugins.codex.source import create_source

    yield SourceProvider(
        name="codex",
        summary="Sessions of Codex: command line, editors and desktop",
        agent="codex",
        parser="codex-rollout",
        chunker="messages",
        origin="transcript",
        title="Codex CLI",
        resume=_RESUME,
        create=create_source,
    )
    yield SourceProvider(
        name="codex-compressed",
        summary="Sessions of Codex that it has compressed",
        agent="codex",
        parser="codex-rollout",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Codex CLI",
        resume=_RESUME,
        create=create_compressed_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The format of those files."""
    from cloxy_plugins.codex.parser import create_parser

    yield ParserProvider(
        name="codex-rollout",
        summary="Session logs of Codex, one JSON object a line",
        create=create_parser,
    )
