"""Vectors as one byte a dimension, and their products.

A row is scaled by its own greatest component, since a cosine does not depend on the length. The
product of two rows of codes is then a whole number, the same on every machine.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cloxy_hookspecs import Float32Matrix, Float32Vector

Codes: TypeAlias = NDArray[np.int8]
"""Shape (n, d) or (d,)."""

_STEPS = 127
_BLOCK = 512
"""Rows that are widened at once without simsimd: they stay in the cache of the processor."""

_UNIT_TOLERANCE = 0.05


def _simsimd() -> ModuleType | None:
    """The library of products, where there is one for this machine that multiplies as expected."""
    try:
        library = importlib.import_module("simsimd")
        rows = np.array([[_STEPS, 1], [-_STEPS, 2]], dtype=np.int8)
        made = library.cdist(rows[:1], rows, "dot", out_dtype="float32")
        expected = [[_STEPS * _STEPS + 1.0, 2.0 - _STEPS * _STEPS]]
        return library if np.asarray(made).tolist() == expected else None
    except Exception:
        # Not there, or of another kind than known: numpy can do the same.
        return None


SIMSIMD: ModuleType | None = _simsimd()
"""Multiplies bytes at the speed of the memory; numpy takes five times as long."""


@dataclass(frozen=True, slots=True)
class Quantised:
    """Rows of codes.

    Attributes:
        codes: shape (n, d).
        scales: what makes a row of codes a unit vector, shape (n,).
        lost: squared length of what rounding took from each unit vector, shape (n,).
    """

    codes: Codes
    scales: Float32Vector
    lost: Float32Vector

    def part(self, places: NDArray[np.intp]) -> "Quantised":
        """Some of the rows."""
        return Quantised(self.codes[places], self.scales[places], self.lost[places])


def quantise(vectors: Float32Matrix) -> Quantised:
    """Round unit vectors, shape (n, d), to codes."""
    steps = np.abs(vectors).max(axis=1, keepdims=True, initial=0) / np.float32(_STEPS)
    wide = np.rint(vectors / steps)
    lost = vectors - wide * steps
    return Quantised(wide.astype(np.int8), np.reciprocal(lengths(wide)), _squares(lost))


def lengths(vectors: Float32Matrix) -> Float32Vector:
    """Length of each row."""
    return np.sqrt(_squares(vectors))


def unit_rows(blobs: Sequence[bytes], dim: int) -> tuple[Float32Matrix, NDArray[np.intp]]:
    """Stored vectors as a matrix.

    Args:
        blobs: `float32` little endian each.
        dim: length of a vector.

    Returns:
        Unit vectors, and the places in `blobs` that they come from. Left out is what has another
        dimension, what is not finite, and what is not of unit length.
    """
    fitting = [place for place, blob in enumerate(blobs) if len(blob) == 4 * dim]
    joined = b"".join([blobs[place] for place in fitting])
    matrix = np.frombuffer(joined, dtype="<f4").reshape(len(fitting), dim).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        long = lengths(matrix)
        good = np.flatnonzero(np.abs(long - 1) <= _UNIT_TOLERANCE)
    if len(good) < len(fitting):
        matrix, long = matrix[good], long[good]
    matrix /= long[:, None]
    return matrix, np.array(fitting, dtype=np.intp)[good]


def unit_vector(vector: "Float32Vector | None", dim: int) -> "Float32Vector | None":
    """A question's vector with length 1; None when it cannot be compared with stored ones."""
    if vector is None or vector.shape != (dim,):
        return None
    wide = vector.astype(np.float64)
    length = float(np.sqrt(wide @ wide))
    return (wide / length).astype(np.float32) if 0 < length < np.inf else None


def products(codes: Codes, query: Codes, out: Float32Vector) -> None:
    """Products of every row of codes, shape (n, d), with a query of shape (d,), into `out`."""
    if SIMSIMD is not None:
        # Its own argument `out` takes a reference to None away at each call, until Python aborts.
        made = SIMSIMD.cdist(query.reshape(1, -1), codes, "dot", out_dtype="float32")
        out[:] = np.asarray(made)[0]
        return
    wide = query.astype(np.float32)
    for start in range(0, len(codes), _BLOCK):
        block = codes[start : start + _BLOCK].astype(np.float32)
        # Unlike a product of matrices, einsum starts no threads.
        np.einsum("ij,j->i", block, wide, out=out[start : start + _BLOCK])


def _squares(matrix: Float32Matrix) -> Float32Vector:
    squares: Float32Vector = np.einsum("ij,ij->i", matrix, matrix)
    return squares
