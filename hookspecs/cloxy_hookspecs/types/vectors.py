"""Meaning as numbers: where vectors can be compared, and how they reach an index.

A vector is `float32` and of unit length; rows of a matrix are vectors. Similarity is the cosine,
-1..1.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Float32Vector: TypeAlias = NDArray[np.float32]
    Float32Matrix: TypeAlias = NDArray[np.float32]
else:
    # The contract loads no numpy; shapes are (d,) and (n, d).
    Float32Vector = Float32Matrix = Any


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """What two vectors must share to be compared. A database keeps to one of them.

    Attributes:
        model: the model's usual name, for example `sentence-transformers/all-MiniLM-L6-v2`.
        revision: which weights, for example a hash of their file.
        dim: length of a vector.
        query_prefix: put before a question.
        passage_prefix: put before a passage.
    """

    model: str
    revision: str
    dim: int
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def fingerprint(self) -> str:
        """The same for equal spaces, in every version of Cloxy: 64 hexadecimal digits."""
        facts = [self.model, self.revision, self.dim, self.query_prefix, self.passage_prefix]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """What is known of an embedder before its model is loaded.

    Attributes:
        space: what its vectors can be compared with.
        weight: share of meaning in the fusion, beside the shares of the other channels.
        floor: similarity under which a passage has nothing to do with a question.
        batch: texts that are best embedded in one call.
        characters: characters of a passage that matter to it; what follows is not given to it.
        sure: similarity from which the best passage surely answers. Below it the weight shrinks,
            down to nothing at the floor, so that a weak likeness never outdoes a word that is
            there. None: the weight counts in full from the floor on.
    """

    space: EmbeddingSpace
    weight: float
    floor: float
    batch: int
    characters: int
    sure: float | None = None


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A passage as a vector index sees it.

    Attributes:
        passage_id: the passage.
        vector: `float32` little endian, unit length, as it is stored: 4 bytes a dimension.
        previous: passage before it in its session, if any, whether it has a vector or not.
        following: passage after it.
    """

    passage_id: int
    vector: bytes
    previous: int | None = None
    following: int | None = None


@dataclass(frozen=True, slots=True)
class VectorChange:
    """One change to a vector index: a row to put (insert or replace), or a passage to remove."""

    passage_id: int
    row: VectorRow | None
