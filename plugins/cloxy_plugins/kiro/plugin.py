"""What the plugin brings: three sources of Kiro's sessions, and the parser of their records."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The session logs, the database of older versions, and the chats of the editor."""
    from cloxy_plugins.kiro.ide import create_chats
    from cloxy_plugins.kiro.sessions import create_sessions
    from cloxy_plugins.kiro.store import create_store

    yield SourceProvider(
        name="kiro",
        summary="Session logs of Kiro, its sub-agents among them",
        agent="kiro",
        parser="kiro-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Kiro",
        resume=("kiro-cli", "chat", "--resume-id", "{session}"),
        create=create_sessions,
    )
    yield SourceProvider(
        name="kiro-store",
        summary="Conversations in the database of the Kiro CLI and of the Amazon Q Developer CLI",
        agent="kiro",
        parser="kiro-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Kiro",
        create=create_store,
    )
    yield SourceProvider(
        name="kiro-ide",
        summary="Chats of Kiro, the editor",
        agent="kiro",
        parser="kiro-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Kiro",
        create=create_chats,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the sources make."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="kiro-records",
        summary="Records of sessions of Kiro",
        create=create_turn_parser,
    )
