"""What the plugin brings: the source of event logs, and their parser."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The event logs of the GitHub Copilot CLI."""
    from cloxy_plugins.copilot_cli.source import create_source

    yield SourceProvider(
        name="copilot-cli",
        summary="Sessions of the GitHub Copilot CLI, its sub-agents among them",
        agent="copilot-cli",
        parser="copilot-cli-events",
        chunker="messages",
        origin="transcript",
        title="GitHub Copilot CLI",
        resume=("copilot", "--resume", "{session}"),
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The format of those files."""
    from cloxy_plugins.copilot_cli.parser import create_parser

    yield ParserProvider(
        name="copilot-cli-events",
        summary="Session logs of the GitHub Copilot CLI, one event a line",
        create=create_parser,
    )
