"""Scores with all digits, from the stored vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cloxy_hookspecs import Float32Vector, Hit
from cloxy_plugins.exact_index.codes import lengths, unit_rows
from cloxy_plugins.exact_index.rows import vectors
from cloxy_plugins.exact_index.snapshot import SMOOTHING, Snapshot

if TYPE_CHECKING:
    from sqlalchemy import Connection

_DIGITS = 6
"""Of a score; equal vectors then have equal scores, whatever the order of their sums."""

_NOBODY = -1


def exact_hits(
    connection: "Connection",
    snapshot: Snapshot,
    query: Float32Vector,
    rows: NDArray[np.intp],
) -> Sequence[Hit]:
    """Cosines of a unit vector with smoothed stored vectors, best first, equal ones by passage.

    Args:
        connection: reads the vectors.
        snapshot: tells the neighbours.
        query: shape (d,).
        rows: rows of the snapshot; those without a stored vector are left out.
    """
    if not len(rows):
        return []
    own, before, after = _passages(snapshot, rows)
    stored = vectors(connection, np.unique(np.concatenate([own, before, after])).tolist())
    matrix, good = unit_rows([blob for _, blob in stored], snapshot.dim)
    there = np.array([stored[place][0] for place in good], dtype=np.int64)
    # Row -1 stands for nobody, and adds nothing.
    matrix = np.concatenate([matrix, np.zeros((1, snapshot.dim), dtype=np.float32)])
    found = _places(there, own)
    kept = found != _NOBODY
    smoothed = matrix[_places(there, before[kept])] + matrix[_places(there, after[kept])]
    smoothed *= np.float32(SMOOTHING)
    smoothed += matrix[found[kept]]
    scores = np.einsum("ij,j->i", smoothed, query) / lengths(smoothed)
    scores = np.round(scores.astype(np.float64), _DIGITS)
    ids = own[kept]
    order = np.lexsort((ids, -scores))
    return [
        Hit(passage_id, score)
        for passage_id, score in zip(ids[order].tolist(), scores[order].tolist(), strict=True)
    ]


def _passages(snapshot: Snapshot, rows: NDArray[np.intp]) -> tuple[NDArray[np.int64], ...]:
    """Passages of rows, and of their neighbours."""
    found = [snapshot.ids[rows]]
    for neighbours in (snapshot.before[rows], snapshot.after[rows]):
        ids = snapshot.ids[neighbours]
        found.append(np.where(neighbours == _NOBODY, _NOBODY, ids))
    return tuple(found)


def _places(there: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where numbers stand in a sorted list; -1 for those that do not."""
    if not len(there):
        return np.full(len(wanted), _NOBODY, dtype=np.intp)
    places = np.minimum(np.searchsorted(there, wanted), len(there) - 1)
    return np.where(there[places] == wanted, places, _NOBODY)
