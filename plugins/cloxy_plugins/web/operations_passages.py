"""A text in sentences, and in passages of whole sentences.

Everything is offsets into the text, so that what is shown is really there.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

TARGET: Final = 600
"""Weight of a passage: characters, of which one of Chinese or Japanese counts more."""
CJK_WEIGHT: Final = 2.5
PART: Final = 4_000
"""Characters of a part, about."""

_CJK: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_BORDER: Final = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'»”’)\]]{0,3}(?=[ \t\u00a0])"
    r"|[。！？｡．]+[」』”’）]{0,3}|[\n\r\u2028\u2029]+"
)
_SPACE: Final = re.compile(r"\s*")
_LAST_WORD: Final = re.compile(r"[\w.]{1,20}\Z")
_INITIAL: Final = re.compile(r"(?:\w\.)*\w")
_ABBREVIATIONS: Final = frozenset(
    """
    mr mrs ms dr prof st jr sr vs etc eg ie e.g i.e cf al approx ca no nos fig figs eq ch sec
    vol pp ed eds inc ltd co corp dept est gen gov sen rep rev jan feb mar apr jun jul aug sep
    sept oct nov dec u.s u.k z.b d.h bzw usw nr abb bd hrsg vgl evtl ggf inkl m.e p.ej
    """.split()  # noqa: SIM905 - a long list of strings would hide the words
)


class Span(NamedTuple):
    """A stretch of a text: from `start` up to `end`, without white space at either side."""

    start: int
    end: int


def sentences(text: str) -> list[Span]:
    """The sentences of a text; a line ends one in every case."""
    found: list[Span] = []
    start = 0
    for border in _BORDER.finditer(text):
        if _ends(text, start, border):
            found.extend(_trimmed(text, start, border.end()))
            start = border.end()
    found.extend(_trimmed(text, start, len(text)))
    return found


def passages(text: str) -> list[Span]:
    """Passages of whole sentences, in order; none overlaps another.

    A sentence that is too long for one is cut between words.
    """
    found: list[Span] = []
    current: Span | None = None
    filled = 0.0
    for sentence, weight in _short(text, sentences(text)):
        if current is not None:
            gap = text[current.end : sentence.start]
            if not _is_full(text, filled, gap, sentence.start, weight):
                current = Span(current.start, sentence.end)
                filled += len(gap) + weight
                continue
            found.append(current)
        current, filled = sentence, weight
    return found if current is None else [*found, current]


def parts(text: str) -> list[str]:
    """A text in pieces that join to it, cut at lines where there are any; none for no text."""
    if not text.strip():
        return []
    pieces: list[str] = []
    start = 0
    while len(text) - start > PART:
        lowest, limit = start + PART // 2, start + PART
        place = text.rfind("\n", lowest, limit)
        end = place + 1 if place >= 0 else limit
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]]


def _ends(text: str, start: int, border: re.Match[str]) -> bool:
    """Whether a border is the end of a sentence: not the dot of an abbreviation or initial."""
    mark = border[0]
    if mark[0] not in ".!?…":
        return True
    if (following := _SPACE.match(text, border.end())) and text[
        following.end() : following.end() + 1
    ].islower():
        return False
    if mark[0] != "." or mark.startswith(".."):
        return True
    word = _LAST_WORD.search(text, max(start, border.start() - 20), border.start())
    if word is None:
        return True
    before = word[0].casefold().strip(".")
    return before not in _ABBREVIATIONS and not (
        _INITIAL.fullmatch(before) and not before.isdecimal()
    )


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    stretch = text[start:end]
    bare = stretch.strip()
    if bare:
        left = start + stretch.index(bare[0]) if stretch[0].isspace() else start
        yield Span(left, left + len(bare))


def _short(text: str, spans: Sequence[Span]) -> Iterator[tuple[Span, float]]:
    """Spans of which none weighs more than a passage may, and their weights."""
    for span in spans:
        left = span
        while (weight := _weight(text, left.start, left.end)) > TARGET:
            end = _cut(text, left.start, left.end)
            for part in _trimmed(text, left.start, end):
                yield part, _weight(text, part.start, part.end)
            left = next(iter(_trimmed(text, end, left.end)), Span(left.end, left.end))
        if left.end > left.start:
            yield left, weight


def _cut(text: str, start: int, end: int) -> int:
    """Where a stretch that is too heavy is cut."""
    step = _fitting(text, start, end)
    place = text.rfind(" ", start + step // 2, start + step)
    return place if place >= 0 else start + step


def _fitting(text: str, start: int, end: int) -> int:
    """How many characters weigh as much as a passage may, or a little less."""
    light = min(end - start, TARGET)
    heavy = _weight(text, start, start + light)
    return max(1, int(light * min(1.0, TARGET / heavy)))


def _is_full(text: str, filled: float, gap: str, start: int, weight: float) -> bool:
    """Whether the sentence at `start`, behind a gap, belongs to the next passage."""
    if text.startswith("#", start) and "\n" in gap:
        return True  # a heading goes with what it stands above
    if gap.count("\n") > 1 and filled > TARGET / 2:
        return True
    return filled + len(gap) + weight > TARGET


def _weight(text: str, start: int, end: int) -> float:
    length = end - start
    if length > 4 * TARGET:
        return float(length)
    stretch = text[start:end]
    return length if stretch.isascii() else length + (CJK_WEIGHT - 1) * len(_CJK.findall(stretch))
