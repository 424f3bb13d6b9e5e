r"""The chats of a history, as blocks: what was typed, what was answered, what was shown.

Aider appends each thing with one write, and each in a form of its own:

* the start of a chat: an empty line, `# aider chat started at <local time>`, an empty line;
* what was typed: an empty line, then every line behind `#### ` and before two blanks;
* what was shown: a line behind `> ` and before two blanks. Of a text of several lines, only the
  first stands behind `> `, and only the last before two blanks;
* an answer: an empty line, its text, an empty line.

So the two blanks tell a heading or a quotation of an answer from what was typed or shown. An
editor that trims lines takes them away: in a chat without any, the beginning of a line decides.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cloxy_plugins.aider.fences import (
    EDIT_END,
    EDIT_START,
    THOUGHTS_END,
    THOUGHTS_START,
    Fence,
    fence_of,
)

_START = "# aider chat started at "
_HEADER = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[ \t]*\Z")
_TYPED = re.compile(r"####(?: |\Z)")
_SHOWN = re.compile(r">(?: |\Z)")
_USAGE = re.compile(r"> Tokens: .* received\b")
_BLANKS = "  "

Kind = Literal["typed", "answer", "shown"]


@dataclass(slots=True)
class Block:
    """A run of lines of one kind, without what marks them.

    Attributes:
        kind: what they are.
        lines: their text.
        fenced: of an answer, first and last line of each fenced block.
    """

    kind: Kind
    lines: list[str] = field(default_factory=list[str])
    fenced: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.lines)


@dataclass(slots=True)
class Chat:
    """One run of Aider.

    Attributes:
        started: local time, `YYYY-MM-DD HH:MM:SS`; None of what stands before the first start.
        blocks: in order.
        trimmed: whether blanks at the ends of its lines were taken away.
        damage: what Aider never writes so, each reason once.
    """

    started: str | None
    blocks: list[Block] = field(default_factory=list[Block])
    trimmed: bool = False
    damage: dict[str, None] = field(default_factory=dict[str, None])

    @property
    def first(self) -> int:
        """Place of what was typed first; the number of blocks when nothing was."""
        places = (n for n, block in enumerate(self.blocks) if block.kind == "typed")
        return next(places, len(self.blocks))


def chats_of(text: str) -> Sequence[Chat]:
    """The chats of a history."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[-1] and _TYPED.match(lines[-1]):
        lines[-1] = ""  # still being written
    return _Reading(lines).chats()


def _hand_back(before: Chat, chat: Chat) -> None:
    """Give answers that stand before anything was typed to the chat before, if it waits for one.

    Two Aiders write to one history: what the first was asked is answered behind the second's start.
    """
    typed = [place for place, block in enumerate(before.blocks) if block.kind == "typed"]
    waits = bool(typed) and all(block.kind != "answer" for block in before.blocks[typed[-1] :])
    early = [block for block in chat.blocks[: chat.first] if block.kind == "answer"]
    if waits:
        before.blocks.extend(early)
        chat.blocks = [block for block in chat.blocks if all(block is not each for each in early)]


class _Reading:
    """The lines of a history on the way to chats."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._headers = list(_headers(lines))
        self._is_header = frozenset(self._headers)
        self._firm = frozenset(each for each in self._headers if self._starts_firmly(each))
        self._marked = [
            number
            for number, line in enumerate(lines)
            if line.endswith(_BLANKS) and (_TYPED.match(line) or _SHOWN.match(line))
        ]
        self._chat = Chat(None)
        self._trimmed = False
        # Up to which line thoughts, and a block with such a fence, are known not to end.
        self._thinking = 0
        self._open: dict[str, tuple[int, int]] = {}

    def chats(self) -> Sequence[Chat]:
        """All chats."""
        found = [self._chat]
        self._trimmed = self._is_trimmed(0)
        number = 0
        while number < len(self._lines):
            if number in self._is_header:
                self._settle(found)
                header = _HEADER.match(self._lines[number])
                self._chat = Chat(header[1] if header else None)
                found.append(self._chat)
                self._trimmed = self._is_trimmed(number + 1)
                number += 1
            else:
                number = self._take(number)
        self._settle(found)
        return found

    def _settle(self, found: Sequence[Chat]) -> None:
        """End a chat. Of one that was trimmed, nobody knows what is an answer at its start."""
        if self._chat.started is None and self._chat.blocks:
            self._chat.damage["text before the first start"] = None
        if self._trimmed:
            return
        if len(found) > 1:
            _hand_back(found[-2], found[-1])
        if any(block.kind == "answer" for block in self._chat.blocks[: self._chat.first]):
            self._chat.damage["text before anything was typed"] = None

    def _take(self, number: int) -> int:
        """Take what begins at a line; the number of the line behind it."""
        line = self._lines[number]
        if _TYPED.match(line) and self._is_marked(line):
            return self._take_typed(number)
        if _SHOWN.match(line) and (self._is_marked(line) or self._goes_on(number)):
            return self._take_shown(number)
        return self._take_answer(number)

    def _take_typed(self, number: int) -> int:
        block = Block("typed")
        while number < len(self._lines) and _TYPED.match(self._lines[number]):
            block.lines.append(self._lines[number][5:].removesuffix(_BLANKS))
            number += 1
        if not self._trimmed and number < len(self._lines) and not self._may_follow(number):
            self._chat.damage["text right behind what was typed"] = None
        self._chat.blocks.append(block)
        return number

    def _take_shown(self, number: int) -> int:
        last = self._chat.blocks[-1] if self._chat.blocks else None
        block = last if last is not None and last.kind == "shown" else Block("shown")
        if block is not last:
            self._chat.blocks.append(block)
        end = self._end_of_shown(number)
        # An answer never begins without an empty line before it.
        while end < len(self._lines) and self._lines[end].strip() and not self._is_mark(end):
            end = self._end_of_shown(end)
        # The last line of all may still be written.
        is_whole = self._trimmed or self._lines[end - 1].endswith(_BLANKS)
        if not is_whole and end < len(self._lines) - 1:
            self._chat.damage["a text of Aider's without its end"] = None
        block.lines.extend(_shown(line) for line in self._lines[number:end])
        return end

    def _may_follow(self, number: int) -> bool:
        """Whether a line may stand right behind what was typed."""
        line = self._lines[number]
        return not line.strip() or _SHOWN.match(line) is not None or number in self._is_header

    def _end_of_shown(self, number: int) -> int:
        """The number of the line behind a text that was shown."""
        end = number
        if _SHOWN.match(self._lines[number]) and self._goes_on(number):
            while not self._lines[end].endswith(_BLANKS):
                end += 1
        return end + 1

    def _goes_on(self, number: int) -> bool:
        """Whether a line that was shown is the first of a text with several."""
        line = self._lines[number]
        last = self._chat.blocks[-1] if self._chat.blocks else None
        if self._trimmed or line.endswith(_BLANKS) or (last is not None and last.kind == "answer"):
            return False
        for place in range(number + 1, len(self._lines)):
            if self._is_mark(place):
                return False
            if self._lines[place].endswith(_BLANKS):
                return True
        return False

    def _take_answer(self, number: int) -> int:
        line = self._lines[number]
        last = self._chat.blocks[-1] if self._chat.blocks else None
        if last is None or last.kind != "answer":
            if not line.strip():
                return number + 1
            last = Block("answer")
            self._chat.blocks.append(last)
        if line.startswith(_START):
            self._chat.damage["the start of a chat is damaged"] = None
        fence = fence_of(line)
        end = number
        if THOUGHTS_START.match(line):
            end = self._end_of_thoughts(number)
        elif fence is not None:
            end = self._end_of_fence(number, fence)
        if fence is not None and end > number:
            last.fenced.append((len(last.lines), len(last.lines) + end - number))
        last.lines.extend(self._lines[number : end + 1])
        return end + 1

    def _end_of_thoughts(self, number: int) -> int:
        """The last line of thoughts; their first when they have no end."""
        if number < self._thinking:
            return number
        place = number
        for place in range(number, len(self._lines)):
            if self._is_end(place):
                break
            if THOUGHTS_END.match(self._lines[place]):
                return place
        self._thinking = place
        return number

    def _end_of_fence(self, number: int, fence: Fence) -> int:
        """The last line of a fenced block; its first when it was never closed."""
        for edits in (True, False):
            end = self._search_end(number, fence, edits=edits)
            if end is not None:
                return end
        return number

    def _search_end(self, number: int, fence: Fence, *, edits: bool) -> int | None:
        """The line that closes a block.

        Args:
            number: its first line.
            fence: what stands there.
            edits: whether what stands in blocks of edits does not close it.
        """
        kind = f"{fence.mark[0]}{edits}"
        until, length = self._open.get(kind, (0, 0))
        if number < until and len(fence.mark) >= length:
            return None
        editing = marked = False
        for place in range(number + 1, len(self._lines)):
            line = self._lines[place]
            if self._is_end(place):
                break
            if edits and EDIT_START.match(line):
                editing = True
            elif edits and EDIT_END.match(line):
                editing = False
            elif not editing and fence.ends(line):
                return place
            elif self._is_mark(place):
                marked = True
            elif marked and (other := fence_of(line)) and other.info:
                return None  # the answer to something that was typed since
        else:
            place = len(self._lines)
        self._open[kind] = (place, len(fence.mark))
        return None

    def _is_end(self, number: int) -> bool:
        """Whether a line stands behind the end of any answer, whatever is still open."""
        line = self._lines[number]
        return number in self._firm or (bool(_USAGE.match(line)) and self._is_marked(line))

    def _is_mark(self, number: int) -> bool:
        """Whether a line surely begins something else than an answer."""
        line = self._lines[number]
        if number in self._is_header:
            return True
        return bool(_TYPED.match(line) or _SHOWN.match(line)) and self._is_marked(line)

    def _is_marked(self, line: str) -> bool:
        return self._trimmed or line.endswith(_BLANKS)

    def _is_trimmed(self, number: int) -> bool:
        """Whether no line of the chat that begins at a line has two blanks at its end."""
        place = bisect_right(self._headers, number - 1)
        end = self._headers[place] if place < len(self._headers) else len(self._lines)
        first = bisect_right(self._marked, number - 1)
        return first == len(self._marked) or self._marked[first] >= end

    def _starts_firmly(self, number: int) -> bool:
        """Whether what follows a start is what Aider shows then; else it may be a quotation."""
        for line in self._lines[number + 1 :]:
            if line.strip():
                return line.endswith(_BLANKS) or bool(_HEADER.match(line))
        return True


def _shown(line: str) -> str:
    found = _SHOWN.match(line)
    return (line[found.end() :] if found else line).rstrip()


def _headers(lines: Sequence[str]) -> Iterator[int]:
    """Lines that start a chat, unless they stand in a fenced block."""
    for number, line in enumerate(lines):
        if _HEADER.match(line) and not (number and lines[number - 1].strip()):
            behind = lines[number + 1] if number + 1 < len(lines) else ""
            if not behind.strip():
                yield number
