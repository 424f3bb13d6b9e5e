"""The rows of the index as they are changed, one writer at a time."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cloxy_hookspecs import Float32Matrix
from cloxy_plugins.exact_index.codes import Codes, Quantised, lengths
from cloxy_plugins.exact_index.columns import Column
from cloxy_plugins.exact_index.snapshot import SEGMENT, SMOOTHING, Snapshot

NONE = -1
"""Stands for no passage, and for no row."""

_BLOCK = 2048
"""Rows that are widened at once."""

_FEW = 8
"""Looking for less than this part of the rows is done without sorting them all."""

T = TypeVar("T", bound=np.generic)

Ids = NDArray[np.int64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Links:
    """Passages and their neighbours in the session, `NONE` for none; each of shape (n,)."""

    ids: Ids
    previous: Ids
    following: Ids

    def part(self, places: Rows) -> "Links":
        """Some of them."""
        return Links(self.ids[places], self.previous[places], self.following[places])


class Matrix:
    """Rows in order of arrival. Published parts are never written to again.

    A row that goes is only marked; one that changes goes and comes anew.
    """

    def __init__(self, dim: int) -> None:
        """Make it empty, for vectors of length `dim`."""
        self.dim = dim
        self.size = 0
        self._segments: list[Codes] = []
        self._ids: Column[np.int64] = Column(np.int64)
        self._previous: Column[np.int64] = Column(np.int64)
        self._following: Column[np.int64] = Column(np.int64)
        self._alive: Column[np.bool_] = Column(np.bool_)
        self._scales: Column[np.float32] = Column(np.float32)
        # These change when a neighbour comes or goes, and are made anew then.
        self._before = np.empty(0, dtype=np.int32)
        self._after = np.empty(0, dtype=np.int32)
        self._weights = np.empty(0, dtype=np.float32)
        self._lost = 0.0
        self._seen = 0

    @property
    def live(self) -> int:
        """Passages in the index."""
        return int(np.count_nonzero(self._alive.values))

    @property
    def rounding(self) -> float:
        """Mean length of what rounding took from a unit vector, over all that ever came in."""
        return float(np.sqrt(self._lost / self._seen)) if self._seen else 0.0

    def append(self, links: Links, rows: Quantised) -> Rows:
        """Put rows at the end, not linked yet; which rows they are."""
        first = self.size
        self._lost += float(rows.lost.sum(dtype=np.float64))
        self._seen += len(rows.codes)
        self._append_codes(rows.codes)
        self._ids.append(links.ids)
        self._previous.append(links.previous)
        self._following.append(links.following)
        self._alive.append(np.ones(len(links.ids), dtype=np.bool_))
        self._scales.append(rows.scales)
        return np.arange(first, self.size)

    def remove(self, rows: Rows) -> None:
        """Take rows out."""
        self._alive.values[rows] = False

    def point(self, rows: Rows, links: Links) -> None:
        """Give rows that stay other neighbours."""
        self._previous.values[rows] = links.previous
        self._following.values[rows] = links.following

    def codes(self, rows: Rows) -> Codes:
        """Codes of rows, shape (n, d)."""
        found = np.empty((len(rows), self.dim), dtype=np.int8)
        pieces = rows // SEGMENT
        for piece in np.unique(pieces):
            here = np.flatnonzero(pieces == piece)
            found[here] = self._segments[piece][rows[here] - piece * SEGMENT]
        return found

    def locate(self, wanted: Ids) -> Rows:
        """Rows of passages, `NONE` for what is not there."""
        ids, alive = self._ids.values, self._alive.values
        few = len(wanted) * _FEW < self.size
        rows = np.flatnonzero(np.isin(ids, wanted) & alive if few else alive)
        if not len(rows):
            return np.full(len(wanted), NONE, dtype=np.intp)
        rows = rows[np.argsort(ids[rows], kind="stable")]
        there = ids[rows]
        # Of rows of one passage the last one counts.
        places = np.maximum(np.searchsorted(there, wanted, side="right") - 1, 0)
        return np.where(there[places] == wanted, rows[places], NONE)

    def beside(self, ids: Ids) -> Rows:
        """Rows that have one of some passages as a neighbour."""
        near = np.isin(self._previous.values, ids) | np.isin(self._following.values, ids)
        return np.flatnonzero(near & self._alive.values)

    def drop_repeated(self) -> None:
        """Keep the last row of every passage."""
        last = self.locate(self._ids.values)
        self._alive.values[:] &= last == np.arange(self.size)

    def link(self, rows: Rows | None = None) -> None:
        """Find the neighbours of rows, by default of all, and their smoothed lengths."""
        self._before = _lengthened(self._before, self.size)
        self._after = _lengthened(self._after, self.size)
        self._weights = _lengthened(self._weights, self.size)
        chosen = np.flatnonzero(self._alive.values) if rows is None else rows
        self._before[chosen] = self.locate(self._previous.values[chosen])
        self._after[chosen] = self.locate(self._following.values[chosen])
        for start in range(0, len(chosen), _BLOCK):
            block = chosen[start : start + _BLOCK]
            self._weights[block] = np.reciprocal(lengths(self._smoothed(block)))

    def snapshot(self) -> Snapshot:
        """What a search sees from now on."""
        return Snapshot(
            self.dim,
            tuple(self._segments),
            self._ids.values,
            self._scales.values,
            self._before,
            self._after,
            self._weights,
            np.flatnonzero(~self._alive.values),
            self.rounding,
        )

    def compacted(self) -> "Matrix":
        """The same without the rows that are gone."""
        made = Matrix(self.dim)
        rows = np.flatnonzero(self._alive.values)
        for start in range(0, len(rows), _BLOCK):
            made._append_codes(self.codes(rows[start : start + _BLOCK]))
        moved = np.append(np.cumsum(self._alive.values) - 1, NONE).astype(np.int32)
        for name in ("_ids", "_previous", "_following", "_alive", "_scales"):
            getattr(made, name).append(getattr(self, name).values[rows])
        made._before, made._after = moved[self._before[rows]], moved[self._after[rows]]
        made._weights = self._weights[rows]
        made._lost, made._seen = self._lost, self._seen
        return made

    def _append_codes(self, codes: Codes) -> None:
        done = 0
        while done < len(codes):
            place = self.size % SEGMENT
            if not place:
                self._segments.append(np.empty((SEGMENT, self.dim), dtype=np.int8))
            part = codes[done : done + SEGMENT - place]
            self._segments[-1][place : place + len(part)] = part
            self.size += len(part)
            done += len(part)

    def _smoothed(self, rows: Rows) -> Float32Matrix:
        vectors = self._vectors(rows)
        for neighbours in (self._before[rows], self._after[rows]):
            there = np.flatnonzero(neighbours != NONE)
            vectors[there] += np.float32(SMOOTHING) * self._vectors(neighbours[there])
        return vectors

    def _vectors(self, rows: NDArray[np.integer]) -> Float32Matrix:
        vectors = self.codes(rows.astype(np.intp)).astype(np.float32)
        vectors *= self._scales.values[rows][:, None]
        return vectors


def _lengthened(values: NDArray[T], size: int) -> NDArray[T]:
    """A copy, with `NONE` behind the end."""
    made: NDArray[T] = np.full(size, NONE, dtype=values.dtype)
    made[: len(values)] = values
    return made
