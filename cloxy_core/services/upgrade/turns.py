"""The turns of speech in a piece of a conversation as the original stored it.

Versions 2 to 4 joined turns that began with `[USER]: ` and cut the whole by length, so that a piece
may begin and end anywhere; version 5 put `[date · project · title]` on the first line and began
turns with `USER: `.
"""

import re
from collections.abc import Sequence
from typing import Final

HEADER: Final = re.compile(r"\[[^\]\n]*\d{4}-\d\d-\d\d[^\n]*\]\n|\[[^\n]* · [^\n]*\]\n")
"""The first line of a piece of version 5."""

FOREIGN: Final = "cloxy-5:"
"""With this begin ids of messages that were imported from an old database."""

_MARKS: Final = ("[USER]: ", "[ASSISTANT]: ")
_OLD_TURN: Final = re.compile(r"(?:\A|\n\n)\[(?:USER|ASSISTANT)\]: ")
_NEW_TURN: Final = re.compile(r"(?:\A|\n\n)(?:USER|ASSISTANT): ")
_CUT_MARK: Final = re.compile(r"\n+\[[A-Z]{0,9}\]?:?\Z")


def turns(text: str) -> Sequence[str]:
    """What was said, turn by turn, white space made single; turns without a word are left out."""
    header = HEADER.match(text)
    if header is not None:
        pieces = _NEW_TURN.split(text[header.end() :])
    else:
        pieces = _OLD_TURN.split(_CUT_MARK.sub("", _without_cut_mark(text)))
    return [said for piece in pieces if (said := squashed(piece))]


def squashed(text: str) -> str:
    """A text with every run of white space as one space."""
    return " ".join(text.split())


def _without_cut_mark(text: str) -> str:
    """A text without the end of a mark at its beginning, of which the cut left the rest."""
    for mark in _MARKS:
        for start in range(1, len(mark) - 2):
            if text.startswith(mark[start:]):
                return text[len(mark) - start :]
    return text
