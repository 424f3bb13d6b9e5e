"""What an embedder returned, checked before anything is kept of it."""

import numpy as np

from cloxy_hookspecs import Float32Matrix, Float32Vector, ModelError

TOLERANCE = 1e-3
"""By how much a length may miss 1; what misses it by less is made exact."""


def checked(matrix: Float32Matrix, count: int, dim: int) -> Float32Matrix:
    """The vectors, of unit length; shape (count, dim).

    Raises:
        ModelError: there are not as many, they have another length than they should, or one is no
            direction.
    """
    array: Float32Matrix = np.asarray(matrix, dtype=np.float32)
    if array.shape != (count, dim):
        raise ModelError(
            f"the embedder returned vectors of shape {array.shape} instead of {(count, dim)}"
        )
    lengths = np.linalg.norm(array, axis=1)
    # Also false for what is not a number.
    if not bool(np.all(np.abs(lengths - 1.0) <= TOLERANCE)):
        raise ModelError("the embedder returned a vector that is not finite or not of unit length")
    unit: Float32Matrix = array / lengths[:, np.newaxis]
    return unit


def stored_form(vector: Float32Vector) -> bytes:
    """A vector as the table `embeddings` keeps it: `float32` little endian."""
    return vector.astype("<f4").tobytes()


def cosine(vector: Float32Vector, stored: bytes) -> float:
    """How near two vectors of unit length are; the second as the table keeps it."""
    return float(np.dot(vector, np.frombuffer(stored, dtype="<f4")))
