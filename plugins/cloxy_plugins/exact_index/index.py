"""The dense channel: all vectors in memory as codes, and in the store as they are."""

import threading
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from logging import Logger
from typing import TYPE_CHECKING

import numpy as np

from cloxy_hookspecs import Found, Probe, StorePort, VectorChange, VectorRow
from cloxy_plugins.exact_index.codes import Quantised, quantise, unit_rows, unit_vector
from cloxy_plugins.exact_index.matrix import NONE, Links, Matrix
from cloxy_plugins.exact_index.search import Search
from cloxy_plugins.exact_index.snapshot import empty

if TYPE_CHECKING:
    from sqlalchemy import Connection

_BLOCK = 1024
"""Rows of a rebuild that are held with all their digits at once."""

_DEAD_SHARE = 0.25
_FEWEST_DEAD = 1024


class ExactIndex:
    """Compares a question with every passage.

    It lives in memory and is rebuilt after a start. Readers take the snapshot of the moment and
    never wait; writers make a new one.
    """

    def __init__(self, store: StorePort, log: Logger) -> None:
        """Make it empty.

        Args:
            store: gives the conditions of filters.
            log: is told of vectors that cannot be used.
        """
        self._store = store
        self._log = log
        self._writing = threading.Lock()
        self._matrix = Matrix(0)
        self._snapshot = empty()
        self._sequence = 0
        self._refused = 0

    def search(self, connection: "Connection", probe: Probe, limit: int) -> Found:
        """Passages by the cosine of their smoothed vector with `probe.vector`, best first."""
        snapshot = self._snapshot
        query = unit_vector(probe.vector, snapshot.dim)
        if query is None or limit < 1 or not snapshot.live:
            return Found()
        conditions = self._store.filter_clause(connection, probe.filters)
        return Found(Search(connection, snapshot, query, conditions, limit).hits())

    def count(self, connection: "Connection") -> int:
        """Passages in the index."""
        del connection
        return self._snapshot.live

    def ids(self) -> Collection[int]:
        """Passages in the index, in order."""
        snapshot = self._snapshot
        return array("q", np.sort(np.delete(snapshot.ids, snapshot.dead)).tobytes())

    def checkpoint(self) -> int:
        """Last outbox number that was applied since the start; 0 for none."""
        return self._sequence

    def apply(self, changes: Sequence[VectorChange], sequence: int) -> None:
        """Apply changes up to outbox number `sequence`; the last one of a passage counts."""
        latest = {change.passage_id: change.row for change in changes}
        with self._writing:
            if latest:
                self._change(latest)
            self._sequence = max(self._sequence, sequence)

    def rebuild(self, rows: Iterable[VectorRow], sequence: int) -> None:
        """Start over from all rows; until that is done, searches see what was there before."""
        iterator = iter(rows)
        with self._writing:
            made = Matrix(0)
            while block := list(islice(iterator, _BLOCK)):
                made = self._fitting(made, block)
                made.append(*self._read(block, made.dim))
            made.drop_repeated()
            made.link()
            self._publish(made)
            self._sequence = sequence

    def _change(self, latest: dict[int, VectorRow | None]) -> None:
        rows = [row for row in latest.values() if row is not None]
        matrix = self._fitting(self._matrix, rows)
        links, vectors = self._read(rows, matrix.dim)
        changed = np.fromiter(latest, dtype=np.int64, count=len(latest))
        here = matrix.locate(links.ids)
        known = np.flatnonzero(here != NONE)
        # Most rows that come again only have another neighbour.
        same = (matrix.codes(here[known]) == vectors.codes[known]).all(axis=1)
        kept, new = known[same], np.delete(np.arange(len(here)), known[same])
        going = matrix.locate(changed)
        matrix.remove(np.setdiff1d(going[going != NONE], here[kept]))
        matrix.point(here[kept], links.part(kept))
        added = matrix.append(links.part(new), vectors.part(new))
        matrix.link(np.union1d(np.concatenate([here[kept], added]), matrix.beside(changed)))
        self._publish(matrix)

    def _publish(self, matrix: Matrix) -> None:
        dead = matrix.size - matrix.live
        if dead > max(_FEWEST_DEAD, _DEAD_SHARE * matrix.size):
            matrix = matrix.compacted()
        self._matrix, self._snapshot = matrix, matrix.snapshot()

    def _fitting(self, matrix: Matrix, rows: Sequence[VectorRow]) -> Matrix:
        """The matrix, or one for the dimension of the rows while there is nothing in it."""
        if matrix.live or not rows:
            return matrix
        sizes = Counter(len(row.vector) for row in rows)
        return Matrix(sizes.most_common(1)[0][0] // 4)

    def _read(self, rows: Sequence[VectorRow], dim: int) -> tuple[Links, Quantised]:
        """Rows that can be used; the log is told of the others, once."""
        vectors, good = unit_rows([row.vector for row in rows], dim)
        refused = len(rows) - len(good)
        if refused and not self._refused:
            example = next(n for n in range(len(rows)) if n not in set(good.tolist()))
            self._log.warning(
                "vectors that are not %d numbers of unit length are left out of the index; the "
                "first is that of passage %d. Run `cloxy reembed` to make them anew",
                dim,
                rows[example].passage_id,
            )
        self._refused += refused
        chosen = [rows[place] for place in good]
        columns = np.array(
            [(row.passage_id, _or_none(row.previous), _or_none(row.following)) for row in chosen],
            dtype=np.int64,
        ).reshape(-1, 3)
        return Links(columns[:, 0], columns[:, 1], columns[:, 2]), quantise(vectors)


def _or_none(passage_id: int | None) -> int:
    return NONE if passage_id is None else passage_id
