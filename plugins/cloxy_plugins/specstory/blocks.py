"""Blocks in what was said: code, and what is not kept, such as uses of tools and thoughts."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from cloxy_plugins.specstory.marks import SEPARATOR, speaker_of

_OPENING = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([^`]*)\Z")
_CLOSING = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*\Z")
_HIDDEN = (("<tool-use", "</tool-use>"), ("<think>", "</think>"), ("<details", "</details>"))
# How many ends are looked at, when each seems to lie in code that was never closed.
_ENDS = 40
_NEAR = 5_000


class Blocks:
    """Where blocks in the lines of a file end."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Look through the lines once.

        Args:
            lines: of the whole file.
        """
        self._lines = lines
        self._ends = {
            end: [number for number, line in enumerate(lines) if end in line]
            for _start, end in _HIDDEN
        }
        self._closings = [number for number, line in enumerate(lines) if _CLOSING.match(line)]
        self._open: dict[str, tuple[int, int]] = {}

    def hidden(self, number: int) -> int | None:
        """The last line of what begins at a line and is not kept; None for what is kept.

        A block without an end goes on to the next line that says who speaks.
        """
        line = self._lines[number]
        for start, end in _HIDDEN:
            if line.startswith(start):
                if start == "<details":
                    return self._nested(number)
                return self._end(number, end)
        return None

    def code(self, number: int) -> int | None:
        """The last line of fenced code that begins at a line; None when none does, or ends."""
        opening = _OPENING.match(self._lines[number])
        if opening is None:
            return None
        mark = opening[1]
        until, shortest = self._open.get(mark[0], (0, 0))
        if number < until and len(mark) >= shortest:
            return None
        spoken = False
        place = bisect_right(self._closings, number)
        if place == len(self._closings):
            return None
        for each in range(number + 1, self._closings[-1] + 1):
            line = self._lines[each]
            closing = _CLOSING.match(line)
            if closing is not None and closing[1].startswith(mark):
                return each
            if speaker_of(line) is not None:
                if self._is_firm(each):
                    self._open[mark[0]] = (each, len(mark))
                    return None
                spoken = True
            elif spoken and (other := _OPENING.match(line)) and other[2].strip():
                return None  # code in what somebody said since
        self._open[mark[0]] = (self._closings[-1] + 1, len(mark))
        return None

    def _is_firm(self, number: int) -> bool:
        """Whether a line says for sure who speaks: there is a line of `---` before it."""
        before = self._lines[max(0, number - 2) : number]
        return len(before) > 1 and bool(SEPARATOR.match(before[0])) and not before[1].strip()

    def _end(self, number: int, end: str) -> int:
        """The last line of a block; an end that stands in code inside of it does not count."""
        ends = self._ends[end]
        first = bisect_right(ends, number - 1)
        if first == len(ends):
            return self._to_next_speaker(number)
        wanted = iter(ends[first : first + _ENDS])
        place = next(wanted)
        fence = ""
        for each in range(number, min(ends[min(first + _ENDS, len(ends)) - 1], number + _NEAR) + 1):
            line = self._lines[each]
            closing = _CLOSING.match(line)
            opening = _OPENING.match(line)
            if fence:
                fence = "" if closing is not None and closing[1].startswith(fence) else fence
            elif opening is not None:
                fence = opening[1]
            if each == place:
                if not fence:
                    return each
                found = next(wanted, None)
                if found is None:
                    break
                place = found
        return ends[first]

    def _nested(self, number: int) -> int:
        """The last line of a `<details>` with others inside of it."""
        depth = 0
        for each in range(number, min(number + _NEAR, len(self._lines))):
            line = self._lines[each]
            depth += line.count("<details") - line.count("</details>")
            if depth <= 0:
                return each
        return self._end(number, "</details>")

    def _to_next_speaker(self, number: int) -> int:
        for each in range(number + 1, min(number + _NEAR, len(self._lines))):
            if speaker_of(self._lines[each]) is not None:
                return each - 1
        return min(number + _NEAR, len(self._lines)) - 1
