"""Numbers in a text, with their units and the words around them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cloxy_plugins.web.operations_units import LETTERS, MULTIPLIERS, unit_of
from cloxy_plugins.web.operations_words import words

AROUND: Final = 40
"""Characters on either side in which the words are looked for that tell what is counted."""
CLOCK: Final = "time of day"

_CURRENCY: Final = r"(?P<currency>US\$|[$€£¥₹])"
_DIGITS: Final = (
    r"(?P<digits>\d{1,3}(?:(?P<mark>[,.'’ \u00a0\u2009\u202f])\d{3}(?!\d))"
    r"(?:(?P=mark)\d{3}(?!\d)){0,5}"
    r"(?:[.,]\d{1,15}(?!\d))?|\d{1,18}(?:[.,]\d{1,15})?)"
)
_MANY: Final = "|".join(sorted(map(re.escape, MULTIPLIERS), key=len, reverse=True))
_NUMBER: Final = re.compile(
    rf"(?<![A-Za-z_\u00c0-\u024f\u0370-\u04ff])(?<!\d[.,:])(?<!\d)(?:(?<![\w)])(?P<minus>[-−–](?=[\d$€£¥])))?"
    rf"(?:{_CURRENCY} ?)?{_DIGITS}"
    rf"(?:(?:st|nd|rd|th)\b)?"
    rf"(?:(?P<letter>(?(currency)[kKmMbB]|[kKMB])(?![^\W_]|/))"
    rf"| ?(?P<many>(?:{_MANY})(?![^\W_]|/)|[千万萬亿億兆])\.?)?"
    rf"(?:[ \u00a0\u202f-]?(?P<unit>per cent|[°℃℉%‰$€£¥₹][CFcf]?|[^\W\d_]+(?:/[a-z]+)?))?"
)
_TIME: Final = re.compile(
    r"(?<![\w:.])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?"
    r"(?: ?(?P<half>[ap])\.?m\b)?(?![\w:])",
    re.IGNORECASE,
)
_SPELLED: Final = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30,
    "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_WORD_NUMBER: Final = re.compile(
    rf"(?<![\w-])(?P<word>{'|'.join(sorted(_SPELLED, key=len, reverse=True))})"
    rf"(?: (?P<many>thousand|million|billion|trillion))?(?![\w])"
    rf"(?:[ -](?P<unit>per cent|[^\W\d_]+))?",
    re.IGNORECASE,
)
_ABOUT: Final = re.compile(
    r"(?:about|around|roughly|nearly|almost|approximately|approx\.?|circa|ca\.?|~|≈|etwa|rund|约)\s*\Z",
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    r"(?:more than|over|above|at least|exceeds?|exceeding|no less than|[>≥]=?|mehr als"
    r"|mindestens)\s*\Z",
    re.IGNORECASE,
)
_LESS: Final = re.compile(
    r"(?:less than|fewer than|under|below|at most|up to|no more than|[<≤]=?|weniger als"
    r"|höchstens)\s*\Z",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[.!?;:,()\n。！？；，、|]")


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text.

    Attributes:
        text: as it stands there, with its unit.
        start: offset.
        end: offset after it.
        bare: what its digits may mean, unit left aside.
        values: what it may be in the base unit.
        unit: what it measures; empty for a count.
        near: words beside it.
        bound: `>` or `<` where only a limit is said.
        about: whether it is said to be inexact.
        is_plain: whether it is four digits and nothing else, as a year is.
    """

    text: str
    start: int
    end: int
    bare: frozenset[float]
    values: frozenset[float]
    unit: str
    near: frozenset[str]
    bound: str = ""
    about: bool = False
    is_plain: bool = False


def numbers(text: str) -> Iterator[Number]:
    """Numbers of a text, in no order."""
    times = list(_TIME.finditer(text))
    for match in times:
        yield _time(text, match)
    taken = [match.span() for match in times]
    for match in _NUMBER.finditer(text):
        if not any(match.start() < end and match.end() > start for start, end in taken):
            yield _number(text, match, _values(match["digits"], match["mark"]))
    for match in _WORD_NUMBER.finditer(text):
        yield _number(text, match, frozenset({float(_SPELLED[match["word"].casefold()])}))


def _number(text: str, match: re.Match[str], digits: frozenset[float]) -> Number:
    groups = match.groupdict()
    factor = -1.0 if groups.get("minus") else 1.0
    factor *= LETTERS.get((groups.get("letter") or "").casefold(), 1.0)
    factor *= MULTIPLIERS.get((groups.get("many") or "").casefold(), 1.0)
    bare = frozenset(value * factor for value in digits)
    before_it, after_it = groups.get("currency"), groups.get("unit")
    measured = unit_of(before_it or after_it or "")
    end = match.end() if measured and after_it and not before_it else _end(match)
    what, sizes = measured or ("", (1.0,))
    before = text[max(match.start() - AROUND, 0) : match.start()]
    shown = text[match.start() : end].strip()
    return Number(
        text=shown,
        start=match.start(),
        end=end,
        bare=bare,
        values=frozenset(value * size for value in bare for size in sizes),
        unit=what,
        near=_near(before, text[end : end + AROUND]),
        bound=">" if _MORE.search(before) else "<" if _LESS.search(before) else "",
        about=_ABOUT.search(before) is not None,
        is_plain=not what and re.fullmatch(r"\d{4}", shown) is not None,
    )


def _end(match: re.Match[str]) -> int:
    """Where a number ends, the word after it left aside."""
    names = match.re.groupindex.keys() & {"digits", "word", "letter", "many"}
    return max(match.end(name) for name in names)


def _time(text: str, match: re.Match[str]) -> Number:
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].casefold() == "p" else 0)
    minutes = frozenset({float(hour * 60 + int(match["minute"]))})
    return Number(match[0], match.start(), match.end(), minutes, minutes, CLOCK, frozenset())


def _values(digits: str, mark: str | None) -> frozenset[float]:
    """What digits may mean: some write 1,500 for what others write 1.500."""
    found: set[float] = set()
    if mark is not None:
        whole = digits.replace(mark, "")
        found.add(float(whole.replace(",", ".")))
        if digits.count(mark) > 1 or mark not in ",." or len(re.split(r"[.,]", digits)) > 2:
            return frozenset(found)
    found.add(float(digits.replace(",", ".")))
    return frozenset(found)


def _near(before: str, after: str) -> frozenset[str]:
    """The words that tell what a number counts: two before it, three after, of its clause."""
    left = _CLAUSE.split(before)[-1].split()[-3:]
    right = _CLAUSE.split(after)[0].split()[:3]
    return words(" ".join(left)) | words(" ".join(right))
