"""Numbers, dates and versions of a claim, beside those of a passage."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from cloxy_plugins.web.operations_dates import Date, agree, contradict, dates
from cloxy_plugins.web.operations_models import Agreement, Compared
from cloxy_plugins.web.operations_numbers import Number, numbers

Kind = Literal["date", "version", "number"]
MOST_SHOWN: Final = 5
MOST_FIGURES: Final = 20
"""Figures of a claim that are compared."""
ABOUT: Final = 0.05
"""How far apart two numbers are the same when one is said to be about so much."""

_VERSION: Final = re.compile(
    r"(?<![\w.,])(?:v(?P<v>\d{1,9}(?:\.\d{1,9}){0,5})|(?P<dots>\d{1,9}(?:\.\d{1,9}){2,5})"
    r"|(?:version|release|ver\.) (?P<said>\d{1,9}(?:\.\d{1,9}){0,5}))"
    r"(?P<more>-?(?:rc|alpha|beta|a|b|dev|post)\.?\d{0,4})?(?![\w]|\.\d)",
    re.IGNORECASE,
)
_YEARS: Final = range(1900, 2100)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, date or version in a text.

    Attributes:
        kind: what it is.
        text: as it stands there.
        dates: what it is as a date; a year alone is one as well as a number.
        version: its parts.
        number: what it is as a number.
    """

    kind: Kind
    text: str
    start: int
    dates: frozenset[Date] = frozenset()
    version: tuple[str, ...] = ()
    number: Number | None = field(default=None)


def figures(text: str) -> list[Figure]:
    """Figures of a text, in order."""
    taken: list[tuple[int, int]] = []
    found: list[Figure] = []
    for date in dates(text):
        taken.append((date.start, date.end))
        found.append(Figure("date", text[date.start : date.end], date.start, dates=date.readings))
    for match in _VERSION.finditer(text):
        if not _overlaps(taken, match.start(), match.end()):
            taken.append(match.span())
            parts = (match["v"] or match["dots"] or match["said"]).split(".")
            more = (match["more"] or "").casefold().lstrip("-")
            version = (*(part.lstrip("0") or "0" for part in parts), *([more] if more else []))
            found.append(Figure("version", match[0], match.start(), version=version))
    found.extend(_numbers(text, taken))
    return sorted(found, key=lambda figure: figure.start)


def compare(wanted: Sequence[Figure], said: Sequence[Figure]) -> list[Compared]:
    """Each figure of a claim beside those of a passage."""
    return [_compared(figure, said) for figure in wanted[:MOST_FIGURES]]


def _numbers(text: str, taken: Sequence[tuple[int, int]]) -> Iterator[Figure]:
    for number in numbers(text):
        if _overlaps(taken, number.start, number.end):
            continue
        year = next(iter(number.values)) if number.is_plain else 0
        is_year = year in _YEARS
        said: frozenset[Date] = frozenset({(int(year), None, None)}) if is_year else frozenset()
        yield Figure("number", number.text, number.start, dates=said, number=number)


def _overlaps(taken: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    return any(start < until and end > since for since, until in taken)


def _compared(wanted: Figure, said: Sequence[Figure]) -> Compared:
    same = [figure for figure in said if _same(wanted, figure)]
    others = [figure for figure in said if _different(wanted, figure)]
    status: Agreement = "same" if same else "different" if others else "absent"
    shown = same or others
    texts = list(dict.fromkeys(figure.text for figure in shown))
    return Compared(claim=wanted.text, status=status, page=texts[:MOST_SHOWN])


def _same(wanted: Figure, said: Figure) -> bool:
    if wanted.version or said.version:
        short, long = wanted.version, said.version or _as_version(said)
        return bool(short or (short := _as_version(wanted))) and long[: len(short)] == short
    if any(agree(one, other) for one in wanted.dates for other in said.dates):
        return True
    if wanted.number is None or said.number is None:
        return False
    return _same_number(wanted.number, said.number)


def _different(wanted: Figure, said: Figure) -> bool:
    """Whether another figure stands where that of the claim would."""
    if wanted.version or said.version:
        return bool(wanted.version and said.version)
    if wanted.dates and said.dates:
        # A year alone, as a count of something else, says nothing about a date.
        return all(contradict(one, other) for one in wanted.dates for other in said.dates)
    if wanted.number is None or said.number is None:
        return False
    one, other = wanted.number, said.number
    if one.unit != other.unit:
        return False
    return bool(one.unit) or bool(one.near & other.near)


def _same_number(wanted: Number, said: Number) -> bool:
    if wanted.unit != said.unit and wanted.unit and said.unit:
        return False
    # A table may name the unit elsewhere: then the bare numbers are compared.
    bare = wanted.unit != said.unit
    ones = wanted.bare if bare else wanted.values
    others = said.bare if bare else said.values
    if wanted.bound == ">" and not bare:
        return max(others) >= min(ones)
    if wanted.bound == "<" and not bare:
        return min(others) <= max(ones)
    near = ABOUT if wanted.about or said.about else 1e-9
    return any(
        abs(one - other) <= near * max(abs(one), abs(other)) for one in ones for other in others
    )


def _as_version(figure: Figure) -> tuple[str, ...]:
    """A plain number such as 3.11 as a version."""
    text = figure.text.strip()
    return tuple(text.split(".")) if re.fullmatch(r"\d+(?:\.\d+)?", text) else ()
