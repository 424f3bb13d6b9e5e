"""Dates in a text, in the forms in which people write them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

Date = tuple[int | None, int | None, int | None]
"""Year, month and day, each None when it is not said."""

_NAMES: Final = (
    ("january", "januar", "jan", "jänner", "janvier", "janv", "enero", "ene"),
    ("february", "februar", "feb", "février", "fevrier", "févr", "febrero"),
    ("march", "märz", "mar", "mrz", "mars", "marzo"),
    ("april", "apr", "avril", "avr", "abril", "abr"),
    ("may", "mai", "mayo"),
    ("june", "juni", "jun", "juin", "junio"),
    ("july", "juli", "jul", "juillet", "juil", "julio"),
    ("august", "aug", "août", "aout", "agosto", "ago"),
    ("september", "sept", "sep", "septembre", "septiembre"),
    ("october", "oktober", "oct", "okt", "octobre", "octubre"),
    ("november", "nov", "novembre", "noviembre"),
    ("december", "dezember", "dec", "dez", "décembre", "decembre", "diciembre", "dic"),
)
_MONTHS: Final = {name: number for number, names in enumerate(_NAMES, 1) for name in names}
_MONTH: Final = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?(?![^\W\d_])"
_YEAR: Final = r"(?P<year>[12]\d{3})(?!\d)"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er)?"
_FORMS: Final = tuple(
    re.compile(rf"(?<![\w.,/-]){form}", re.IGNORECASE)
    for form in (
        rf"{_YEAR}(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}})(?![\d-])",
        r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second>\d{1,2})(?P=mark)(?P<year>[12]\d{3})(?!\d)",
        r"(?P<year>[12]\d{3}) ?[年년] ?"
        r"(?:(?P<month>\d{1,2}) ?[月월] ?(?:(?P<day>\d{1,2}) ?[日일])?)?",
        rf"{_DAY}(?:\.|,)? (?:of |de )?{_MONTH}(?:,? (?:de )?{_YEAR})?",
        rf"{_MONTH} {_DAY}(?!\d)(?:,? {_YEAR})?",
        rf"{_MONTH},? (?:of |de )?{_YEAR}",
    )
)


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date in a text, and what it may be: day and month can be either way round."""

    start: int
    end: int
    readings: frozenset[Date]


def dates(text: str) -> list[FoundDate]:
    """Dates of a text, in order; a year alone is not one."""
    found = [date for form in _FORMS for date in _of_form(form, text)]
    # Where two forms fit, the longer one is meant.
    found.sort(key=lambda date: (date.start - date.end, date.start))
    kept: list[FoundDate] = []
    for date in found:
        if all(date.end <= other.start or date.start >= other.end for other in kept):
            kept.append(date)
    return sorted(kept, key=lambda date: date.start)


def agree(wanted: Date, said: Date) -> bool:
    """Whether a date says all that another does."""
    return all(part is None or part == other for part, other in zip(wanted, said, strict=True))


def contradict(wanted: Date, said: Date) -> bool:
    """Whether both cannot be the same day."""
    return any(
        part is not None and other is not None and part != other
        for part, other in zip(wanted, said, strict=True)
    )


def _of_form(form: re.Pattern[str], text: str) -> Iterator[FoundDate]:
    for match in form.finditer(text):
        readings = frozenset(date for date in _readings(match.groupdict()) if _exists(date))
        if readings:
            yield FoundDate(match.start(), match.end(), readings)


def _readings(groups: dict[str, str | None]) -> Iterator[Date]:
    year = _number(groups.get("year"))
    if groups.get("first"):
        first, second = _number(groups["first"]), _number(groups["second"])
        yield year, second, first
        if groups["mark"] == "/":
            yield year, first, second
        return
    month = groups.get("month") or ""
    yield year, _MONTHS.get(month.casefold()) or _number(month), _number(groups.get("day"))


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None


def _exists(date: Date) -> bool:
    _year, month, day = date
    return (month is None or 1 <= month <= 12) and (day is None or 1 <= day <= 31)
