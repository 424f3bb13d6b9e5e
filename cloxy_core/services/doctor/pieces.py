"""What is left of a damaged memory: its passages in order, with what is sound of their texts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cloxy_core.services.doctor.texts import hash_of, lies_inside, uncovered

LABELS: Final = {
    "user": "USER: ",
    "assistant": "ASSISTANT: ",
    "summary": "SUMMARY: ",
    "note": "NOTE: ",
}
AUTHORS: Final = {"user": "human", "note": "program"}
SHIFT: Final = 8
"""How many characters a sound passage may have moved because of damage before it."""

_SPEAKER: Final = re.compile(r"(?:\A|\n\n)(USER|ASSISTANT|SUMMARY|NOTE): ")


@dataclass(frozen=True, slots=True)
class MemoryPiece:
    """A passage of a memory that is made anew.

    Attributes:
        passage: its id; None for text that has no passage yet.
        role: who speaks.
        labelled: whether the memory says so before it.
        text: its text, None when that is lost.
    """

    passage: int | None
    role: str
    labelled: bool
    text: str | None

    @property
    def author(self) -> str:
        """Who most likely made a passage of this role."""
        return AUTHORS.get(self.role, self.role)

    def lead(self, *, first: bool) -> str:
        """What stands before it: a separator, and who speaks."""
        label = LABELS.get(self.role, "") if self.labelled else ""
        return label if first else f"\n\n{label}"


def pieces_of(row: Any, places: Sequence[Any], *, keep_all: bool) -> list[MemoryPiece]:  # noqa: ANN401 - rows
    """Take a damaged memory apart.

    Args:
        row: the memory, text as bytes.
        places: its passages, in order.
        keep_all: whether text that belongs to no passage is kept.
    """
    data = bytes(row["content"] or b"")
    old = data.decode("utf-8", "surrogateescape")
    whole = hash_of(old).encode() == bytes(row["content_hash"] or b"")
    pieces = [_piece(old, place) for place in places]
    if not whole:
        return pieces
    # The whole is what was stored, so a passage is what lies between its neighbours.
    for number, piece in enumerate(pieces):
        if piece.text is None and (text := _between(old, pieces, places, number)):
            pieces[number] = MemoryPiece(piece.passage, piece.role, piece.labelled, text)
    if not keep_all or any(piece.text is None for piece in pieces):
        return pieces
    labelled = row["session_id"] is not None
    added = [
        (start, piece)
        for first, last in _gaps(old, places)
        for start, piece in _unplaced(old, first, last, labelled=labelled)
    ]
    if not added:
        return pieces
    placed = [(place["char_start"], piece) for place, piece in zip(places, pieces, strict=True)]
    return [piece for _, piece in sorted([*placed, *added], key=lambda pair: pair[0])]


def _gaps(old: str, places: Sequence[Any]) -> Iterator[tuple[int, int]]:
    spans = [(place["char_start"], place["char_end"]) for place in places]
    if all(lies_inside(start, end, len(old)) for start, end in spans):
        yield from uncovered(old, spans)


def _unplaced(
    old: str, first: int, last: int, *, labelled: bool
) -> Iterator[tuple[int, MemoryPiece]]:
    """Messages in a part of a text that no passage covers."""
    gap = old[first:last]
    if not labelled:
        yield first, MemoryPiece(None, "note", labelled, gap)
        return
    speakers = list(_SPEAKER.finditer(gap))
    ends = [*(speaker.start() for speaker in speakers[1:]), len(gap)]
    for speaker, end in zip(speakers, ends, strict=True):
        if text := gap[speaker.end() : end].strip("\n"):
            yield first + speaker.end(), MemoryPiece(None, speaker[1].lower(), labelled, text)


def _piece(old: str, place: Any) -> MemoryPiece:  # noqa: ANN401 - a row
    role = bytes(place["role"] or b"").decode("utf-8", "replace")
    labelled = place["session_id"] is not None and not place["part"]
    return MemoryPiece(int(place["id"]), role, labelled, _sound(old, place))


def _sound(old: str, place: Any) -> str | None:  # noqa: ANN401 - a row
    """The text of a passage if it is there as its hash says, perhaps a little off its place."""
    start, end, expected = place["char_start"], place["char_end"], place["text_hash"]
    if not isinstance(start, int) or not isinstance(end, int):
        return None
    for shift in sorted(range(-SHIFT, SHIFT + 1), key=abs):
        if lies_inside(start + shift, end + shift, len(old)):
            text = old[start + shift : end + shift]
            if text and hash_of(text).encode() == expected:
                return text
    return None


def _between(
    old: str, pieces: Sequence[MemoryPiece], places: Sequence[Any], number: int
) -> str | None:
    """What lies between two sound neighbours, without what stands before a passage."""
    start, end = 0, len(old)
    if number:
        before = pieces[number - 1].text
        if before is None or (found := old.find(before, places[number - 1]["char_start"])) < 0:
            return None
        start = found + len(before)
    if number + 1 < len(places):
        after = pieces[number + 1]
        if after.text is None:
            return None
        end = int(places[number + 1]["char_start"]) - len(after.lead(first=False))
    lead = pieces[number].lead(first=number == 0)
    text = old[start:end]
    if not text.startswith(lead) or len(text) == len(lead):
        return None
    text = text.removeprefix(lead)
    # Another one speaks in it: more than this passage was lost.
    return None if _SPEAKER.search(f" {text}") else text
