"""Whether a question asks for the newest of something."""

import re

from cloxy_plugins.expansion.spans import Span

_WORDS = re.compile(
    r"(?<![\w-])(?:"
    r"(?:the\s+)?(?:most\s+recent(?:ly)?|latest|newest|very\s+last)"
    r"|(?:the\s+)?(?:current|present)(?:ly)?"
    r"|(?<!at\s)last(?!\s+(?:name|names|resort|straw|line|lines|element|item|column|row|word|one|"
    r"\d|two|three|few))"
    r"|(?:right|as\s+of)\s+now|these\s+days|nowadays|up\s+to\s+date"
    r")(?![\w-])"
    r"|最新|最近|目前|当前|現在",
    re.IGNORECASE,
)


def find_newest(text: str) -> list[Span]:
    """Places of words that ask for the newest; empty when the order of time does not matter."""
    return [match.span() for match in _WORDS.finditer(text)]
