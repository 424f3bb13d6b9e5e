"""Which rows are conversations, told by their `source` and what stands beside it.

Anybody could store a text under a source that begins with `convo:`, so that a prefix is not
enough: versions 2 to 4 named pieces of conversations exactly as they named pieces of notes.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

_OLD: Final = re.compile(r"convo:(?P<session>.+):chunk(?P<number>\d{1,9})", re.ASCII | re.DOTALL)
_PIECE: Final = re.compile(r".*:chunk(?P<number>\d{1,9})", re.ASCII | re.DOTALL)
_NEW: Final = "convo:"
_TURNS: Final = (
    "SELECT source FROM chunks WHERE source >= 'convo:' AND source < 'convo;'"
    " AND (instr(content, '[USER]: ') OR instr(content, '[ASSISTANT]: '))"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row belongs.

    Attributes:
        session: the agent's id of the conversation; None for a note.
        ordinal: its number there.
    """

    session: str | None
    ordinal: int


class Sorter:
    """Tells conversations from notes."""

    def __init__(self, spoken: Collection[str]) -> None:
        """Know the sessions of versions 2 to 4 that were really conversations."""
        self._spoken = spoken

    @classmethod
    def of(cls, connection: Any) -> "Sorter":  # noqa: ANN401 - the driver's connection
        """Look which sessions hold turns of speech. The connection gives text as bytes."""
        spoken: set[str] = set()
        for (source,) in connection.execute(_TURNS):
            text = source.decode(errors="replace") if isinstance(source, bytes) else str(source)
            if found := _OLD.fullmatch(text):
                spoken.add(found["session"])
        return cls(spoken)

    def place(self, source: str, session_id: str | None, ts_start: str | None) -> Place:
        """Where a row belongs.

        Args:
            source: its source.
            session_id: of version 5, which has it for every conversation that it read itself.
            ts_start: of version 5, which gives it to all that it stored itself.
        """
        if session_id:
            number = source.removeprefix(f"{_NEW}{session_id}:")
            if number != source and number.isascii() and number.isdecimal():
                return Place(session_id, int(number[:9]))
        elif (
            ts_start is None and (old := _OLD.fullmatch(source)) and old["session"] in self._spoken
        ):
            return Place(old["session"], int(old["number"]))
        piece = _PIECE.fullmatch(source)
        return Place(None, int(piece["number"]) if piece else 0)
