"""How far a download is: a line that changes where a person watches, else a line every tenth."""

import sys
import time
from typing import Final

from cloxy_core.cli import fields, output
from cloxy_core.cli.line import Line, bar
from cloxy_core.local_models.meter import Progress

_PAUSE_SECONDS: Final = 0.2
_STEPS: Final = 10


class DownloadLine(Line):
    """Shows progress on standard error; nothing when it is to be quiet."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__()
        self._quiet = quiet
        self._watched = output.is_terminal(sys.stderr)
        self._next = 0.0
        self._doing = ""
        self._step = 0

    def tell(self, progress: Progress) -> None:
        """Show how far it is; not more often than can be read."""
        if self._quiet:
            return
        if self._watched:
            now = time.monotonic()
            if now >= self._next or progress.doing != self._doing:
                self._next = now + _PAUSE_SECONDS
                self._doing = progress.doing
                self.draw(output.escape(in_words(progress)))
            return
        step = _STEPS * progress.done // max(1, progress.total)
        if progress.doing == "downloading" and step > self._step:
            self._step = step
            output.print_line(output.escape(in_words(progress)), error=True)


def in_words(progress: Progress) -> str:
    """One line: bar, bytes, rate, time left, file."""
    of = f"{fields.size(progress.done)} of {fields.size(progress.total)}"
    parts = [f"{bar(progress.done, progress.total)} {of}"]
    if progress.doing == "waiting":
        parts.append("the connection broke, trying again")
    elif progress.doing == "checking":
        parts.append("checking")
    elif progress.rate is not None:
        parts.append(f"{fields.size(int(progress.rate))}/s")
        if progress.left is not None and progress.done < progress.total:
            parts.append(f"about {fields.duration(progress.left)} left")
    return " · ".join([*parts, progress.file])
