"""Compound literals in a question: names, flags, paths, versions, codes."""

import re

from cloxy_plugins.expansion.spans import Span

MAX_LITERALS = 8
MAX_LENGTH = 256
"""Characters of a literal; what is longer is data, not a name."""

_CHUNK = re.compile(r"\S+")
_OPENERS = "\"'`([{<“‘«"
_CLOSERS = "\"'`)]}>”’»,;:!?…"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_JOINED = re.compile(r"[^\W_][^\w\s'’]+[^\W_]|_")
_DASHED_FLAG = re.compile(r"-{1,2}[^\W_][\w-]*(?:=\S+)?$")
_SIGNED = re.compile(r"[A-Za-z](?:\+\+|#)$")
_HANDLE = re.compile(r"[@#$~./][\w./-]*\w")
_CALL = re.compile(r"[^\W\d]\w*\(\)$")
_CAMEL = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]{2}")
_CODE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])\w{4,}$")
_CONSTANT = re.compile(r"[A-Z][A-Z\d]{4,}$")
_PROSE_DASH = re.compile(r"[^\W\d_]+(?:[-'’/&][^\W\d_]+)+$")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s|am|pm|k|x|h|m|min|ms|gb|mb|kb|%)$", re.IGNORECASE)
_NUMBER = re.compile(r"[\d.,:%$€£-]+$")
_VERSION = re.compile(r"\d+\.\d+")


def find_literals(text: str) -> list[tuple[str, Span]]:
    """Literals of a text with their places, in order, the first `MAX_LITERALS` different ones.

    A literal is a piece without spaces that a person would copy rather than phrase: it holds
    signs between its characters (`a.b:80`, `x_y`, `--no-verify`, `C++`), humps (`HttpError`), or
    letters and digits mixed (`7f3ac1`). Hyphenated prose (`well-known`) and numbers are none.
    """
    found: dict[str, Span] = {}
    for chunk in _CHUNK.finditer(text):
        literal, start = _trim(chunk.group(), chunk.start())
        if 0 < len(literal) <= MAX_LENGTH and literal not in found and is_literal(literal):
            found[literal] = (start, start + len(literal))
            if len(found) == MAX_LITERALS:
                break
    return list(found.items())


def is_literal(piece: str) -> bool:
    """Whether a piece without spaces is something to look for verbatim."""
    if _VERSION.match(piece):
        return True
    if _NUMBER.match(piece) or _ORDINAL.match(piece) or _is_prose(piece):
        return False
    if _DASHED_FLAG.match(piece) or _SIGNED.match(piece) or _HANDLE.match(piece):
        return True
    signs = (_JOINED.search, _CAMEL.search, _CODE.match, _CONSTANT.match, _CALL.match)
    return any(sign(piece) for sign in signs)


def _is_prose(piece: str) -> bool:
    """Whether it is words joined as people join them in prose."""
    return bool(_PROSE_DASH.match(piece)) and not _CAMEL.search(piece)


def _trim(piece: str, start: int) -> tuple[str, int]:
    """Without the quotes, brackets and punctuation of the sentence around it."""
    stripped = piece.lstrip(_OPENERS)
    start += len(piece) - len(stripped)
    while stripped and (stripped[-1] in _CLOSERS or stripped[-1] == "."):
        closer = stripped[-1]
        if closer in _PAIRS and stripped.count(closer) <= stripped.count(_PAIRS[closer]):
            break
        stripped = stripped[:-1]
    return stripped, start
