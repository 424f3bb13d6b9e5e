"""What is told of the embedding."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

State = Literal["off", "loading", "ready", "failed", "paused"]
RATE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """How the embedding is.

    Attributes:
        provider: the embedder; empty for none.
        model: its model; empty for none.
        space: fingerprint of its space; empty for none.
        state: `off` without an embedder; `paused` when passages wait, while questions go on.
        reason: why it is not `ready`, or what should be known although it is; None for nothing.
        embedded: passages with a vector in this space.
        backlog: passages that wait for theirs.
        failed: passages that the embedder could not take; they are tried again at the next start.
        rate_per_second: passages that got a vector a second, over the last minute of that work.
        eta_seconds: how long the backlog will take; None when nothing waits, while it is not worked
            on, and when it is not known.
    """

    provider: str
    model: str
    space: str
    state: State
    reason: str | None
    embedded: int = 0
    backlog: int = 0
    failed: int = 0
    rate_per_second: float = 0.0
    eta_seconds: float | None = None


class Rate:
    """Passages a second, over the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._steps: deque[tuple[float, float, int]] = deque()

    def add(self, began: float, count: int) -> None:
        """So many were done from `began`, of the same clock, until now."""
        now = self._clock()
        self._steps.append((began, now, count))
        while self._steps[0][1] < now - RATE_SECONDS:
            self._steps.popleft()

    def now(self) -> float:
        """Seconds of the clock."""
        return self._clock()

    def per_second(self) -> float:
        """The rate, of the time that the work took; 0.0 before the first."""
        seconds = sum(ended - began for began, ended, _count in self._steps)
        count = sum(count for _began, _ended, count in self._steps)
        return count / seconds if seconds > 0 else 0.0
