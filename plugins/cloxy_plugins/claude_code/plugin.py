"""What the plugin brings: the source and the parser."""

from collections.abc import Iterable

from cloxy_hookspecs import (
    Check,
    CheckProvider,
    HostContext,
    ParserProvider,
    SourceProvider,
    hookimpl,
)


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The session files of Claude Code."""
    from cloxy_plugins.claude_code.source import create_source

    yield SourceProvider(
        name="claude-code",
        summary="Sessions of Claude Code, its sub-agents among them",
        agent="claude-code",
        parser="claude-code-jsonl",
        chunker="messages",
        origin="transcript",
        title="Claude Code",
        resume=("claude", "--resume", "{session}"),
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The format of those files."""
    from cloxy_plugins.claude_code.parser import create_parser

    yield ParserProvider(
        name="claude-code-jsonl",
        summary="Session logs of Claude Code, one JSON object a line",
        create=create_parser,
    )


@hookimpl
def cloxy_checks() -> Iterable[CheckProvider]:
    """How long the agent keeps its logs."""

    def create(context: HostContext) -> Check:
        del context
        from cloxy_plugins.claude_code.retention import CleanUpCheck
        from cloxy_plugins.claude_code.roots import config_folders

        return CleanUpCheck(config_folders())

    yield CheckProvider(
        name="claude-code-clean-up",
        summary="After how many days Claude Code deletes its own logs",
        create=create,
    )
