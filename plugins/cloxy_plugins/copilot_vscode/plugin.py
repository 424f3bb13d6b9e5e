"""What the plugin brings: the source of chat sessions, and the parser of its records."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The chat sessions of VS Code and of what is built from it."""
    from cloxy_plugins.copilot_vscode.source import create_source

    yield SourceProvider(
        name="copilot-vscode",
        summary="Chat sessions of VS Code, Insiders, VSCodium and their servers",
        agent="copilot-vscode",
        parser="copilot-vscode-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="GitHub Copilot Chat (VS Code)",
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the source makes."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="copilot-vscode-records",
        summary="Records of chat sessions of VS Code",
        create=create_turn_parser,
    )
