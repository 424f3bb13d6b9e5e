"""The chunkers: whole messages for transcripts, natural borders for long text."""

from collections.abc import Iterable

from cloxy_hookspecs import ChunkerProvider, hookimpl


@hookimpl
def cloxy_chunkers() -> Iterable[ChunkerProvider]:
    """Yield the chunker of transcripts and the one of notes."""
    from cloxy_plugins.chunking.messages import TARGET, MessageChunker
    from cloxy_plugins.chunking.notes import NoteChunker

    yield ChunkerProvider(
        name="messages",
        summary="Whole messages packed to about 1,500 characters",
        target=TARGET,
        create=lambda _context: MessageChunker(),
    )
    yield ChunkerProvider(
        name="notes",
        summary="A text as it is, split near 1,500 characters when it is long",
        target=TARGET,
        create=lambda _context: NoteChunker(),
    )
