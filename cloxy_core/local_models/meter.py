"""How far a download is."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_WINDOW_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is at one moment.

    Attributes:
        doing: `downloading`, `checking` or `waiting`.
        file: name of the file.
        done: bytes of all files that are here.
        total: bytes of all files.
        rate: bytes a second of late; None when that is not known yet.
    """

    doing: str
    file: str
    done: int
    total: int
    rate: float | None = None

    @property
    def left(self) -> float | None:
        """Seconds that the rest will take; None when that is not known yet."""
        return (self.total - self.done) / self.rate if self.rate else None


Tell = Callable[[Progress], None]


class Meter:
    """Counts bytes and tells of them."""

    def __init__(self, total: int, tell: Tell, clock: Callable[[], float] = time.monotonic) -> None:
        """Count up to a total.

        Args:
            total: bytes of all files.
            tell: is told of every piece.
            clock: seconds.
        """
        self._total = total
        self._tell = tell
        self._clock = clock
        self._done = 0
        self._marks: deque[tuple[float, int]] = deque()
        self._received = 0

    def begin(self, doing: str, file: str) -> None:
        """Say what is done now."""
        self._say(doing, file)

    def here(self, count: int) -> None:
        """Count bytes that were there already; a negative number takes some back."""
        self._done += count

    def received(self, count: int, file: str) -> None:
        """Count bytes that came."""
        self._done += count
        self._received += count
        now = self._clock()
        self._marks.append((now, self._received))
        while len(self._marks) > 2 and now - self._marks[0][0] > _WINDOW_SECONDS:
            self._marks.popleft()
        self._say("downloading", file)

    def _say(self, doing: str, file: str) -> None:
        self._tell(Progress(doing, file, self._done, self._total, self._rate()))

    def _rate(self) -> float | None:
        if len(self._marks) < 2:
            return None
        (first, before), (last, after) = self._marks[0], self._marks[-1]
        return (after - before) / (last - first) if last > first else None
