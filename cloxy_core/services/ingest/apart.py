"""Memories of their own for what our model said."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from cloxy_hookspecs import Chunk, Chunker, Message

OWN: Final = "own"


class OwnApart:
    """Packs as another chunker does, but never what our model said with what others said.

    A memory is shown as a whole: one that held both would tell our model's words to a model again.
    """

    def __init__(self, chunker: Chunker) -> None:
        """Pack by another chunker."""
        self._chunker = chunker

    def pack(self, new: Sequence[Message], tail: str | None) -> Sequence[Chunk]:
        """Pack messages in order; see `cloxy_hookspecs.Chunker`. An open tail is of others."""
        chunks: list[Chunk] = []
        for own, run in groupby(new, key=lambda message: message.author == OWN):
            if not own:
                chunks += self._chunker.pack(list(run), tail)
            else:
                if tail is not None:
                    chunks.append(Chunk(tail, (), continues=True, open=False))
                elif chunks:
                    chunks[-1] = replace(chunks[-1], open=False)
                chunks += [replace(c, open=False) for c in self._chunker.pack(list(run), None)]
            tail = None
        return chunks
