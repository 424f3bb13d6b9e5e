"""One line on standard error that changes in its place."""

import shutil
import sys
from types import TracebackType
from typing import Self

_BAR = 20


class Line:
    """A line that is drawn over itself, and goes away at the end of the `with` block."""

    def __init__(self) -> None:
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()

    def draw(self, text: str) -> None:
        """Replace the line; what is left of a longer one is overwritten with spaces."""
        text = text[: shutil.get_terminal_size().columns - 1]
        self._write("\r" + text + " " * (self._width - len(text)))
        self._width = len(text)

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            self.draw("")
            self._write("\r")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def bar(done: int, total: int) -> str:
    """How much is done, as a bar of twenty characters."""
    filled = min(_BAR, _BAR * done // max(1, total))
    return f"[{'#' * filled}{' ' * (_BAR - filled)}]"
