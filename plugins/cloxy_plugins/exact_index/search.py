"""One search: a first look at all rows, and an exact look at the best."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cloxy_hookspecs import Float32Vector, Hit
from cloxy_plugins.exact_index.exact import exact_hits
from cloxy_plugins.exact_index.rows import allowed, passing
from cloxy_plugins.exact_index.snapshot import NOTHING, Snapshot

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

_FEWEST = 400
"""Of the best rows that filters are first tried on, and most that are looked at exactly."""

_OVERFETCH = 2

_TRIES = 2
_SPARE = 1.5
"""A second try takes this many times the rows that are needed if as large a part of them passes."""

_DEEPEST = 10
"""Trying more than this many times the first rows costs more than asking for all that pass."""


class Search:
    """Looks for the best rows of a snapshot within conditions.

    Scores of codes say which rows can be among the best; only those are read from the store, and
    scored with all digits. What is not there any more is thereby left out.
    """

    def __init__(
        self,
        connection: "Connection",
        snapshot: Snapshot,
        query: Float32Vector,
        conditions: "Sequence[ColumnElement[bool]]",
        limit: int,
    ) -> None:
        self._connection = connection
        self._snapshot = snapshot
        self._query = query
        self._conditions = conditions
        self._limit = limit
        self._most = max(_FEWEST, _OVERFETCH * limit)
        self._scores, self._margin = snapshot.scores(query)

    def hits(self) -> Sequence[Hit]:
        """The best, best first; equal ones by passage.

        Filters usually let enough of the best pass, so they are tried on these; asking the
        database for all passages within them costs many times more.
        """
        depth = self._most if self._conditions else self._limit
        for _ in range(_TRIES):
            hits, passed = self._within(depth)
            if hits is not None:
                return hits
            depth = int(_SPARE * self._limit * depth / max(1, passed)) + 1
            if depth > _DEEPEST * self._most:
                break
        return self._among_allowed()

    def _within(self, depth: int) -> tuple[Sequence[Hit] | None, int]:
        """The best, when `depth` rows are enough to know them; and how many could be found."""
        rows, cut = self._best(depth)
        if self._conditions:
            ids = self._snapshot.ids[rows]
            rows = rows[np.isin(ids, passing(self._connection, ids, self._conditions))]
        is_all = cut == NOTHING
        if not is_all and (len(rows) < self._limit or self._least(rows) < cut):
            return None, len(rows)
        hits = self._exact(rows)
        is_enough = len(hits) == self._limit or (is_all and len(rows) <= self._limit)
        return (hits if is_enough else None), len(hits)

    def _among_allowed(self) -> Sequence[Hit]:
        """The best of the rows that are in the store and meet the conditions."""
        ids = allowed(self._connection, self._conditions)
        self._scores[~np.isin(self._snapshot.ids, ids)] = NOTHING
        rows, _cut = self._best(self._limit)
        return self._exact(rows)

    def _best(self, depth: int) -> tuple[NDArray[np.intp], float]:
        """Rows that may be among the best `depth`, best first, and the least score among them.

        The score is `NOTHING` when there are no others.
        """
        cut = float(NOTHING)
        if depth < len(self._scores):
            cut = float(np.partition(self._scores, -depth)[-depth]) - self._margin
        rows = np.flatnonzero(self._scores > NOTHING if cut == NOTHING else self._scores >= cut)
        order = np.lexsort((self._snapshot.ids[rows], -self._scores[rows]))
        return rows[order], cut

    def _exact(self, rows: NDArray[np.intp]) -> Sequence[Hit]:
        """The best of some rows, best first by the scores of their codes."""
        if len(rows) > self._limit:
            rows = rows[self._scores[rows] >= self._least(rows)][: self._most]
        return exact_hits(self._connection, self._snapshot, self._query, rows)[: self._limit]

    def _least(self, rows: NDArray[np.intp]) -> float:
        """Score from which on a row may be among the best of some, which are ordered."""
        return float(self._scores[rows[self._limit - 1]]) - self._margin
