"""Text out of the bytes of tokens, up to a text that ends it."""

import codecs
from collections.abc import Sequence

from cloxy_hookspecs.models.answers import TextPieces


class BytePieces:
    """Takes bytes; gives text that is whole and is no part of what ends the answer."""

    def __init__(self, stops: Sequence[str] = ()) -> None:
        """Begin an answer.

        Args:
            stops: texts that end it; they are not part of it.
        """
        self._pieces = TextPieces(stops)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    @property
    def stopped(self) -> bool:
        """Whether a text came that ends the answer."""
        return self._pieces.stopped

    def feed(self, data: bytes) -> str:
        """The text that is certain with the next bytes; may be empty."""
        return self._pieces.feed(self._decoder.decode(data))

    def end(self, *, cut: bool = False) -> str:
        """What was held back, as nothing more comes.

        Args:
            cut: whether the answer was ended from outside. Half a character is left out then; else
                it becomes a sign for that.
        """
        said = "" if cut else self._pieces.feed(self._decoder.decode(b"", final=True))
        return said + self._pieces.end()
