"""Many values in few statements: SQLite takes only so many at once."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

T = TypeVar("T")

LOOKUP: Final = 500
"""Values of one statement."""


def lookups(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """The values in slices, each small enough for one statement."""
    for start in range(0, len(values), LOOKUP):
        yield values[start : start + LOOKUP]
