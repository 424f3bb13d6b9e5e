"""How far `cloxy reembed` is: one line on a terminal, a few elsewhere."""

import sys
import time

from cloxy_core.cli import fields, output
from cloxy_core.cli.line import Line, bar

_STEPS = 10
"""Lines of progress where it cannot be one that changes."""


class FillProgress(Line):
    """Shows on standard error how far it is: one line on a terminal, a few elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self._watched = output.is_terminal(sys.stderr)
        self._began = time.monotonic()
        self._done = self._total = self._told = 0
        self._said = ""

    def __call__(self, done: int, total: int, rate: float | None = None) -> None:
        """So many passages of so many have been embedded.

        Args:
            done: passages embedded.
            total: passages to embed in all.
            rate: passages a second; by default as this saw it.
        """
        if not self._done:
            # The model has been loaded by now, which says nothing about the rate.
            self._began = time.monotonic()
        first, self._done, self._total = not self._done, done, total
        elapsed = 0.0 if first else time.monotonic() - self._began
        line = fill_line(done, total, done / rate if rate else elapsed)
        step = _STEPS * done // max(1, total)
        if self._watched:
            self.draw(line)
        elif step > self._told:
            self._told = step
            output.print_line(line, error=True)

    def say(self, words: str) -> None:
        """Tell what goes on besides, once for each change; safe for a terminal."""
        words = output.escape(words)
        if self._watched:
            self.draw(words)
        elif words != self._said:
            output.print_line(words, error=True)
        self._said = words

    def reached(self) -> str:
        """How far it came, in words."""
        if not self._total:
            return "no passage has been embedded yet"
        return f"{self._done:,} of {self._total:,} passages have been embedded"


def fill_line(done: int, total: int, elapsed: float) -> str:
    """One line: bar, passages, passages a second, time left.

    Args:
        done: passages embedded.
        total: passages to embed in all.
        elapsed: seconds that they took; 0 when it is not known.
    """
    line = f"{bar(done, total)} {done:,}/{total:,} passages"
    if done and elapsed > 0:
        rate = done / elapsed
        line += f" · {rate:,.1f} a second"
        if total > done:
            line += f" · about {fields.duration((total - done) / rate)} left"
    return line
