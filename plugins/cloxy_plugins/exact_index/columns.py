"""A column of the index: one value a row, growing at its end."""

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)

_SMALLEST = 1024


class Column(Generic[T]):
    """Values in memory that is longer than needed, so that few appends copy.

    What `values` gave before an append stays as it is: only what lies behind it is written.
    """

    def __init__(self, kind: type[T]) -> None:
        """Make it empty."""
        self._memory: NDArray[T] = np.empty(_SMALLEST, dtype=kind)
        self._size = 0

    @property
    def values(self) -> NDArray[T]:
        """The values, shape (n,)."""
        return self._memory[: self._size]

    def append(self, more: NDArray[T]) -> None:
        """Put values at the end."""
        size = self._size + len(more)
        if size > len(self._memory):
            # Memory that was never written to takes no room.
            grown = np.empty(max(size, 2 * len(self._memory)), dtype=self._memory.dtype)
            grown[: self._size] = self.values
            self._memory = grown
        self._memory[self._size : size] = more
        self._size = size
