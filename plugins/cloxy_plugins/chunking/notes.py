"""A text that somebody asked to be remembered: as it is, without a label.

A short text is one chunk; a long one is split at natural borders, each part a chunk.
"""

from collections.abc import Sequence

from cloxy_hookspecs import Chunk, Message, Piece
from cloxy_plugins.chunking.borders import split
from cloxy_plugins.chunking.messages import TARGET


class NoteChunker:
    """Packs each message for itself."""

    def pack(self, new: Sequence[Message], tail: str | None) -> Sequence[Chunk]:
        """Pack each message alone; there is no tail, since nothing is ever open."""
        del tail
        return [
            Chunk(text, (Piece(message, part, 0, len(text)),))
            for message in new
            for part, text in enumerate(split(message.text, TARGET))
        ]
