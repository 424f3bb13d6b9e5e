"""A file as sections: who speaks, and what is said, without what is not kept."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cloxy_plugins.specstory.blocks import Blocks
from cloxy_plugins.specstory.marks import (
    MESSAGE_ID,
    SEPARATOR,
    SIGNS,
    Head,
    Moment,
    Speaker,
    head_of,
    speaker_of,
    title_in,
)

# Uses of tools, as older versions wrote them: without a mark where they end.
_TOOL = re.compile(r"Tool use: \*\*|\*\*Agent task list:\*\*")
_TOOL_LINE = re.compile(r"(?:Read file|Listed directory|Searched codebase|Deleted file): \S")
_GAP = "\0gap"
"""Stands where something is left out."""


@dataclass(slots=True)
class Section:
    """What one spoke.

    Attributes:
        speaker: who.
        uid: id of the message, if the file tells it.
        lines: what is kept of it.
        code: numbers of the lines that are part of fenced code.
    """

    speaker: Speaker
    uid: str | None = None
    lines: list[str] = field(default_factory=list[str])
    code: set[int] = field(default_factory=set[int])

    def begun(self) -> bool:
        """Whether it has said anything so far."""
        return any(line.strip() for line in self.lines)

    def texts(self) -> Sequence[str]:
        """The things that it says, each verbatim, without empty lines around it."""
        if self.speaker.user:
            text = _trimmed(self._kept(0, len(self.lines)))
            return [text] if text else []
        found: list[str] = []
        start = 0
        for number in range(len(self.lines) + 1):
            at_end = number == len(self.lines)
            if at_end or self._divides(number):
                found.append(_trimmed(self._kept(start, number)))
                start = number + 1
        if self.speaker.goes_on and all(self._is_code(number) for number in range(len(self.lines))):
            return []  # an edit, or a command and its output
        return [text for text in found if text]

    def _divides(self, number: int) -> bool:
        line = self.lines[number]
        if line == _GAP:
            return True
        return self.speaker.bubbles and number not in self.code and bool(SEPARATOR.match(line))

    def _is_code(self, number: int) -> bool:
        line = self.lines[number]
        return (
            number in self.code or not line.strip() or line == _GAP or bool(SEPARATOR.match(line))
        )

    def _kept(self, start: int, end: int) -> list[str]:
        """The lines of a part, without lines of `---` around it."""
        while start < end and self._is_border(start):
            start += 1
        while start < end and self._is_border(end - 1):
            end -= 1
        return self.lines[start:end]

    def _is_border(self, number: int) -> bool:
        line = self.lines[number]
        return number not in self.code and (not line.strip() or bool(SEPARATOR.match(line)))


@dataclass(slots=True)
class Talk:
    """A conversation.

    Attributes:
        head: what its comment tells.
        title: its title; empty when it has none.
        moment: the time beside the title.
        sections: in order.
    """

    head: Head | None = None
    title: str = ""
    moment: Moment | None = None
    sections: list[Section] = field(default_factory=list[Section])


def is_saved(lines: Sequence[str]) -> bool:
    """Whether a file is one of SpecStory's."""
    first = [line for line in lines[:200] if line.strip()][:6]
    if any(line.startswith(SIGNS) or head_of(line) is not None for line in first):
        return True
    return any(speaker_of(line) is not None for line in lines)


def talks_of(lines: Sequence[str]) -> Iterator[Talk]:
    """The conversations of a file, which is one but for files that somebody put together."""
    blocks = Blocks(lines)
    talk = Talk()
    number = 0
    while number < len(lines):
        line = lines[number]
        speaker = speaker_of(line)
        head = head_of(line)
        if speaker is not None:
            talk.sections.append(Section(speaker))
        elif head is not None or line.startswith(SIGNS[0]):
            if talk.sections:
                yield talk
                talk = Talk()
            talk.head = head or talk.head
        elif not talk.sections:
            _introduce(talk, line)
        else:
            number = _take(talk.sections[-1], lines, number, blocks)
            continue
        number += 1
    yield talk


def _introduce(talk: Talk, line: str) -> None:
    """Take what stands before the first section."""
    found = title_in(line)
    if found is not None and not talk.title and talk.moment is None:
        talk.title, talk.moment = found


def _take(section: Section, lines: Sequence[str], number: int, blocks: Blocks) -> int:
    """Take what begins at a line; the number of the line behind it."""
    line = lines[number]
    if section.uid is None and (found := MESSAGE_ID.match(line)) and not section.begun():
        section.uid = found[1]
        return number + 1
    end = blocks.code(number)
    if end is not None:
        section.code.update(range(len(section.lines), len(section.lines) + end - number + 1))
        section.lines.extend(lines[number : end + 1])
        return end + 1
    if not section.speaker.user:
        if (hidden := blocks.hidden(number)) is not None:
            section.lines.append(_GAP)
            return hidden + 1
        if _TOOL.match(line):
            return _behind_tool(section, lines, number, blocks)
        if section.speaker.bubbles and _TOOL_LINE.match(line):
            section.lines.append(_GAP)
            return number + 1
    section.lines.append(line)
    return number + 1


def _behind_tool(section: Section, lines: Sequence[str], number: int, blocks: Blocks) -> int:
    """The line behind a use of a tool that goes on to the end of its section, or its bubble."""
    section.lines.append(_GAP)
    number += 1
    while number < len(lines) and speaker_of(lines[number]) is None:
        if section.speaker.bubbles and SEPARATOR.match(lines[number]):
            return number
        end = blocks.code(number)
        number = number + 1 if end is None else end + 1
    return number


def _trimmed(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip("\n").rstrip()
