"""What is told of the embedding."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection

from cloxy_core.services.embedding.spaces import (
    ACTIVE,
    FILLING,
    SpaceState,
    all_spaces,
    vector_counts,
)

State = Literal["off", "loading", "ready", "failed", "paused"]
RATE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class SpaceStatus:
    """A space of vectors in the database.

    Attributes:
        id: the space in this database.
        model: its model.
        dim: length of a vector.
        query_prefix: put before a question.
        passage_prefix: put before a passage.
        state: `active` answers, `filling` will when it is full, `dormant` is kept and not used,
            `leaving` is being removed.
        vectors: how many it holds.
        backlog: passages that have none there yet; 0 for a space that gets none.
    """

    id: int
    model: str
    dim: int
    query_prefix: str
    passage_prefix: str
    state: SpaceState
    vectors: int
    backlog: int = 0


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
        spaces: every space of the database that holds vectors or is to hold some.
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
    spaces: tuple[SpaceStatus, ...] = ()


def read_spaces(connection: Connection) -> tuple[SpaceStatus, ...]:
    """The spaces of a database, with their vectors; body of a read transaction."""
    stored = all_spaces(connection)
    if len(stored) == 1:
        # Without a look at the space of each.
        vectors = connection.exec_driver_sql("SELECT count(*) FROM embeddings").scalar_one()
        counted = {stored[0].id: int(vectors)}
    else:
        counted = vector_counts(connection)
    passages = connection.exec_driver_sql("SELECT count(*) FROM passages").scalar_one()
    return tuple(
        SpaceStatus(
            id=each.id,
            model=each.space.model,
            dim=each.space.dim,
            query_prefix=each.space.query_prefix,
            passage_prefix=each.space.passage_prefix,
            state=each.state,
            vectors=counted.get(each.id, 0),
            backlog=max(0, passages - counted.get(each.id, 0))
            if each.state in (ACTIVE, FILLING)
            else 0,
        )
        for each in stored
    )


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
