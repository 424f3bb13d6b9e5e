"""How far something is, as one line that changes, where a person watches."""

import sys

from cloxy_core.cli import output
from cloxy_core.cli.line import Line

_EVERY = 500


class CountLine(Line):
    """A number that grows; nothing where nobody watches."""

    def __init__(self, verb: str, of: str = "") -> None:
        super().__init__()
        self._verb = verb
        self._of = of
        self._shown = output.is_terminal(sys.stderr)

    def count(self, number: int, total: int = 0) -> None:
        """It is here now; a total of 0 is not known."""
        if self._shown and number % _EVERY == 0:
            whole = f" {self._of} {total:,}" if total else ""
            self.draw(f"{self._verb} {number:,}{whole}")
