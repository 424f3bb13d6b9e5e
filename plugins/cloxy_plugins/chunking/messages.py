"""Whole messages packed to about 1,500 characters.

A chunk is what a person is shown and what is counted as a memory; its pieces are the messages
in it. A message longer than one and a half chunks stands alone and is split at natural borders,
each part a chunk of its own, so that no memory grows without bound.
"""

from collections.abc import Sequence

from cloxy_hookspecs import Chunk, Message, Piece
from cloxy_plugins.chunking.borders import split

TARGET = 1500
LONGEST = 2250
SEPARATOR = "\n\n"
LABELS = {"user": "USER", "assistant": "ASSISTANT", "summary": "SUMMARY", "note": "NOTE"}


class MessageChunker:
    """Packs the messages of one session."""

    def pack(self, new: Sequence[Message], tail: str | None) -> Sequence[Chunk]:
        """Pack messages in order; see `cloxy_hookspecs.Chunker`."""
        packer = _Packer(tail)
        for message in new:
            packer.add(message)
        return packer.finish()


class _Packer:
    """The chunk that is being filled, and those that are done."""

    def __init__(self, tail: str | None) -> None:
        self.done: list[Chunk] = []
        self.content = tail or ""
        self.continues = tail is not None
        self.pieces: list[Piece] = []

    def add(self, message: Message) -> None:
        """Put a message where it belongs."""
        label = f"{LABELS[message.role]}: "
        if len(message.text) > LONGEST:
            self._close()
            parts = list(split(message.text, TARGET))
            for part, text in enumerate(parts):
                self._append(message, part, label if part == 0 else "", text)
                self._close()
            return
        if self.content and len(self.content) + len(label) + len(message.text) > TARGET:
            self._close()
        self._append(message, 0, label, message.text)

    def finish(self) -> Sequence[Chunk]:
        """All chunks; what is still being filled stays open."""
        if self.pieces:
            self._emit(is_open=True)
        return self.done

    def _append(self, message: Message, part: int, label: str, text: str) -> None:
        lead = (SEPARATOR if self.content else "") + label
        start = len(self.content) + len(lead)
        self.content += lead + text
        self.pieces.append(Piece(message, part, start, start + len(text)))

    def _close(self) -> None:
        if self.pieces or self.continues:
            self._emit(is_open=False)
        self.content, self.pieces, self.continues = "", [], False

    def _emit(self, *, is_open: bool) -> None:
        self.done.append(Chunk(self.content, tuple(self.pieces), self.continues, is_open))
