"""What the plugin brings: three sources of Cursor's sessions, and the parser of their records."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The database of the editor, transcripts of agents, and chats of the command line."""
    from cloxy_plugins.cursor.chats import create_chats
    from cloxy_plugins.cursor.editor import create_editor
    from cloxy_plugins.cursor.transcripts import create_transcripts

    yield SourceProvider(
        name="cursor",
        summary="Conversations in the database of Cursor, the editor",
        agent="cursor",
        parser="cursor-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Cursor",
        create=create_editor,
    )
    yield SourceProvider(
        name="cursor-transcripts",
        summary="Transcripts of Cursor's agents",
        agent="cursor",
        parser="cursor-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Cursor",
        create=create_transcripts,
    )
    yield SourceProvider(
        name="cursor-cli",
        summary="Chats of cursor-agent, the command line of Cursor",
        agent="cursor",
        parser="cursor-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Cursor",
        resume=("cursor-agent", "--resume", "{session}"),
        create=create_chats,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the sources make."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="cursor-records",
        summary="Records of conversations of Cursor",
        create=create_turn_parser,
    )
