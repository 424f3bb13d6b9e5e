"""The sections of a note: what stands below each heading of the first two levels."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_HEADING = re.compile(r" {0,3}(#{1,2})(?=[ \t]|\Z)")
_UNDERLINE = re.compile(r" {0,3}(={3,}|-{3,})[ \t]*\Z")
_NO_PARAGRAPH = re.compile(r"\s|[-*+>|#=<]|\d+[.)]\s|```|~~~")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})(.*)\Z")
_COMMENT, _COMMENT_END = "<!--", "-->"


@dataclass(slots=True)
class Section:
    """A part of a note.

    Attributes:
        path: heading of the first level, or empty, and that of the second, if it has one; nothing
            for what stands before the first heading.
        lines: all of its lines, the heading among them.
        body: whether something stands below the heading.
    """

    path: tuple[str, ...]
    lines: list[str] = field(default_factory=list[str])
    body: bool = False

    @property
    def text(self) -> str:
        """Its text, verbatim, without empty lines around it."""
        return "\n".join(self.lines).strip("\n").rstrip()


def sections_of(lines: Sequence[str]) -> Sequence[Section]:
    """The sections of a note, in order, those without a word left out."""
    hidden = _hidden(lines)
    found = [Section(())]
    number = 0
    while number < len(lines):
        heading = None if number in hidden else _heading_at(lines, number, hidden)
        if heading is None:
            found[-1].lines.append(lines[number])
            found[-1].body = found[-1].body or bool(lines[number].strip())
            number += 1
            continue
        level, name, height = heading
        above = found[-1].path[:1] or ("",)
        path = (name,) if level == 1 else (*above, name)
        found.append(Section(path, list(lines[number : number + height])))
        number += height
    return [section for section in found if section.text]


def _heading_at(
    lines: Sequence[str], number: int, hidden: frozenset[int]
) -> tuple[int, str, int] | None:
    """Level, name and number of lines of a heading of the first two levels."""
    line = lines[number]
    marked = _HEADING.match(line)
    if marked is not None:
        return len(marked[1]), _name(line[marked.end() :].strip()), 1
    below = number + 1
    if below >= len(lines) or below in hidden or _NO_PARAGRAPH.match(line) or not line.strip():
        return None
    if number and lines[number - 1].strip() and _HEADING.match(lines[number - 1]) is None:
        return None  # the last line of a paragraph of several
    underline = _UNDERLINE.match(lines[below])
    if underline is None:
        return None
    return (1 if underline[1][0] == "=" else 2), line.strip(), 2


def _name(text: str) -> str:
    """A heading without the marks that may close it."""
    bare = text.rstrip("#")
    return bare.rstrip() if bare != text and (not bare or bare[-1] in " \t") else text


def _hidden(lines: Sequence[str]) -> frozenset[int]:
    """Lines inside of fenced code and of comments; what is never closed hides nothing."""
    ends = _Ends(lines)
    hidden: set[int] = set()
    number = 0
    while number < len(lines):
        end = ends.of(number)
        hidden.update(range(number, end + 1) if end > number else ())
        number = max(number, end) + 1
    return frozenset(hidden)


class _Ends:
    """Where fences and comments end, each found without looking through everything again."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._closing: dict[str, list[tuple[int, int]]] = {"`": [], "~": []}
        self._comments = [number for number, line in enumerate(lines) if _COMMENT_END in line]
        self._open: dict[str, int] = {}
        for number, line in enumerate(lines):
            found = _FENCE.match(line)
            if found is not None and not found[2].strip():
                self._closing[found[1][0]].append((number, len(found[1])))

    def of(self, number: int) -> int:
        """The last line of what begins at a line; the line itself when nothing does."""
        line = self._lines[number]
        fence = _FENCE.match(line)
        if fence is not None:
            return self._fence(number, fence[1])
        if line.lstrip().startswith(_COMMENT) and _COMMENT_END not in line:
            place = bisect_right(self._comments, number)
            return self._comments[place] if place < len(self._comments) else number
        return number

    def _fence(self, number: int, mark: str) -> int:
        shortest = self._open.get(mark[0])
        if shortest is not None and len(mark) >= shortest:
            return number  # one of this length is known never to be closed any more
        closing = self._closing[mark[0]]
        for place, length in closing[bisect_right(closing, (number, len(mark) + 1_000_000)) :]:
            if length >= len(mark):
                return place
        self._open[mark[0]] = len(mark)
        return number


def names_of(section: Section) -> Iterator[str]:
    """The path of a section as it counts for its id: white space and case do not."""
    return (" ".join(name.split()).casefold() for name in section.path)
