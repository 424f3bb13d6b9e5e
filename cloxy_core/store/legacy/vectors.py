"""The vectors that an old database holds, and the space that they are of."""

import array
import math
from dataclasses import dataclass
from typing import Any, Final

from cloxy_core.store.legacy.shape import PREFIX_KEY, Shape
from cloxy_hookspecs.types.vectors import EmbeddingSpace

UNKNOWN_MODEL: Final = "unknown"
AS_FOUND: Final = "as found"
"""Stands for the weights, of which an old database says nothing."""

ORIGINAL_EMBEDDER: Final = "fastembed"
"""The only library that the original made vectors with."""

_FLOAT_BYTES: Final = 4
_UNIT_TOLERANCE: Final = 0.01
_MOST_DIMENSIONS: Final = 65_536
_LENGTHS: Final = (
    "SELECT length(embedding), count(*) FROM chunks"
    " WHERE typeof(embedding) = 'blob' GROUP BY 1 ORDER BY 2 DESC, 1"
)
_QUERY_PREFIXES: Final = {"passage: ": "query: "}


@dataclass(frozen=True, slots=True)
class OldVectors:
    """What vectors are kept.

    Attributes:
        space: where they can be compared; None when there are none.
        stated: the dimension that the database states, if it does; other than the one of `space`
            when no vector has it.
    """

    space: EmbeddingSpace | None
    stated: int | None

    def judge(self, value: object) -> str | None:
        """What is wrong with a vector; None when it can be kept as it is."""
        if value is None:
            return "missing"
        if not isinstance(value, bytes) or not value or len(value) % _FLOAT_BYTES:
            return "damaged"
        if self.space is None or len(value) != self.space.dim * _FLOAT_BYTES:
            return "of_another_length"
        length = math.hypot(*array.array("f", value))
        if not math.isfinite(length) or not length:
            return "damaged"
        # Its likeness to others could not be told from theirs.
        return None if abs(length - 1) <= _UNIT_TOLERANCE else "not_of_unit_length"


def vectors_of(connection: Any, shape: Shape) -> OldVectors:  # noqa: ANN401 - the driver's
    """Decide by what the database states and by how long its vectors are."""
    counts: dict[int, int] = {}
    for length, count in connection.execute(_LENGTHS):
        if length and not length % _FLOAT_BYTES and length <= _MOST_DIMENSIONS * _FLOAT_BYTES:
            counts[length // _FLOAT_BYTES] = count
    stated = _dimension(shape.meta.get("embed_dim"))
    if not counts:
        return OldVectors(None, stated)
    if stated in counts:
        return OldVectors(_space(shape, stated), stated)
    dimension = max(counts, key=lambda each: (counts[each], -each))
    if stated is None:
        return OldVectors(_space(shape, dimension), None)
    # What it states is not what made them: it took over the settings without a look at them.
    return OldVectors(EmbeddingSpace(UNKNOWN_MODEL, AS_FOUND, dimension), stated)


def _space(shape: Shape, dimension: int | None) -> EmbeddingSpace:
    passage = shape.meta.get(PREFIX_KEY, "")
    return EmbeddingSpace(
        model=shape.meta.get("embed_model") or UNKNOWN_MODEL,
        revision=AS_FOUND,
        dim=dimension or 0,
        # It is stored nowhere; the one that goes with the passages' is what the original used.
        query_prefix=_QUERY_PREFIXES.get(passage, ""),
        passage_prefix=passage,
    )


def _dimension(text: str | None) -> int | None:
    if text is None or not text.isascii() or not text.isdecimal():
        return None
    return int(text[:6]) or None
