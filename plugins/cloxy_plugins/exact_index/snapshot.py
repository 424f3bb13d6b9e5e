"""What a search sees of the index: nothing in it changes any more."""

from dataclasses import dataclass
from math import hypot, sqrt

import numpy as np
from numpy.typing import NDArray

from cloxy_hookspecs import Float32Vector
from cloxy_plugins.exact_index.codes import Codes, products, quantise

SEGMENT = 16_384
"""Rows of one piece of memory. Growing adds a piece, and copies nothing."""

SMOOTHING = 0.3
"""Share of each of the two neighbours in a session. A passage is short; what was said before and
after it tells what it is about."""

NOTHING = np.float32(-np.inf)
"""Score of what must not be found."""

_DEVIATIONS = 6.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Rows at one moment, in order of arrival.

    Attributes:
        dim: length of a vector.
        segments: codes, `SEGMENT` rows each.
        ids: passage of each row, shape (n,).
        scales: what makes a row of codes a unit vector, shape (n,).
        before: row of the previous passage of the session, -1 for none, shape (n,).
        after: row of the following passage.
        weights: one over the length of the smoothed vector, shape (n,).
        dead: rows that were removed or replaced.
        rounding: mean length of what rounding took from a unit vector.
    """

    dim: int
    segments: tuple[Codes, ...]
    ids: NDArray[np.int64]
    scales: Float32Vector
    before: NDArray[np.int32]
    after: NDArray[np.int32]
    weights: Float32Vector
    dead: NDArray[np.intp]
    rounding: float

    @property
    def live(self) -> int:
        """Passages in the index."""
        return len(self.ids) - len(self.dead)

    def scores(self, query: Float32Vector) -> tuple[Float32Vector, float]:
        """Cosine of a unit vector with every smoothed row, and how far it may be off.

        With c the cosine of a row and p, f those of its neighbours, the smoothed vector
        v + 0.3 (v_p + v_f) has the cosine (c + 0.3 (p + f)) / |v + 0.3 (v_p + v_f)|. Rows can
        therefore stay as they are when a neighbour arrives.

        Returns:
            Shape (n,), and a margin: rounding errors of two scores hardly ever add up to more.
        """
        asked = quantise(query[None, :])
        size = len(self.ids)
        # Row -1 is the last place, which holds the cosine of no neighbour.
        cosines = np.empty(size + 1, dtype=np.float32)
        cosines[size] = 0
        for number, segment in enumerate(self.segments):
            first = number * SEGMENT
            held = segment[: size - first]
            products(held, asked.codes[0], cosines[first : first + len(held)])
        own = cosines[:size]
        own *= self.scales
        own *= asked.scales[0]
        scores = cosines.take(self.before, mode="wrap")
        scores += cosines.take(self.after, mode="wrap")
        scores *= np.float32(SMOOTHING)
        scores += own
        scores *= self.weights
        scores[self.dead] = NOTHING
        lost = hypot(self.rounding, sqrt(float(asked.lost[0])))
        return scores, _DEVIATIONS * lost / sqrt(self.dim)


def empty(dim: int = 0) -> Snapshot:
    """An index without rows."""
    rows = np.empty(0, dtype=np.int32)
    numbers = np.empty(0, dtype=np.float32)
    return Snapshot(
        dim, (), rows.astype(np.int64), numbers, rows, rows, numbers, rows.astype(np.intp), 0.0
    )
