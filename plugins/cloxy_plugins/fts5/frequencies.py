"""How many passages hold a term, remembered."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

MAX_REMEMBERED = 20_000
_GROWTH = 1.1


class Frequencies:
    """Document frequencies of terms in memory.

    Only their order matters, so a remembered one is good until the store has grown by a tenth.
    A term that occurred nowhere is always looked up again: it may have just been said, and not
    finding it costs next to nothing.
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._size = 0

    def reader(self, connection: "Connection") -> Callable[[str], int]:
        """A function from a quoted term to the number of passages that hold it."""
        newest = (
            connection.exec_driver_sql("SELECT max(passage_id) FROM fts_passages").scalar() or 0
        )
        if newest > self._size * _GROWTH or len(self._known) > MAX_REMEMBERED:
            self._known = {}
            self._size = newest
        known = self._known

        def frequency(term: str) -> int:
            if count := known.get(term):
                return count
            count = connection.exec_driver_sql(
                "SELECT count(*) FROM passages_fts WHERE passages_fts MATCH ?", (term,)
            ).scalar_one()
            known[term] = count
            return int(count)

        return frequency

    def forget(self) -> None:
        """Start over."""
        self._known = {}
        self._size = 0
