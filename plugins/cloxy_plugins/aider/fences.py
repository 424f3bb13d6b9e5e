"""Blocks in answers: fenced code, edits, and thoughts."""

import re
from dataclasses import dataclass

_OPENING = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([^`]*)\Z")
_CLOSING = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*\Z")
EDIT_START = re.compile(r"[ \t]*<{5,9} (?:SEARCH|ORIGINAL|HEAD)>?[ \t]*\Z")
EDIT_END = re.compile(r"[ \t]*>{5,9} (?:REPLACE|UPDATED|updated)[ \t]*\Z")
_TAG = "think|thinking|thinking-content-[0-9a-f]+"
THOUGHTS_START = re.compile(rf"[ \t]*(?:<(?:{_TAG})>|► \*\*THINKING\*\*)")
THOUGHTS_END = re.compile(rf".*?(?:</(?:{_TAG})>|► \*\*ANSWER\*\*)")


@dataclass(frozen=True, slots=True)
class Fence:
    """The first line of a block.

    Attributes:
        mark: the characters of the fence.
        info: what stands behind them, such as a language.
    """

    mark: str
    info: str

    def ends(self, line: str) -> bool:
        """Whether a line ends the block."""
        closing = _CLOSING.match(line)
        return closing is not None and closing[1].startswith(self.mark)


def fence_of(line: str) -> Fence | None:
    """The fence that a line opens, if it does."""
    found = _OPENING.match(line)
    return None if found is None else Fence(found[1], found[2].strip())
