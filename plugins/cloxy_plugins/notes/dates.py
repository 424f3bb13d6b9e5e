"""When a note was written: dates as people write them."""

import re
from datetime import date, datetime, time

_FIRST, _LAST = 1970, 2999
_DAY = re.compile(r"(?<!\d)(\d{4})([-/._]?)(\d\d)\2(\d\d)(?!\d)")
# Noon is on the same day in nearly all zones.
_NOON = time(12)


def moment_of(value: object) -> int | None:
    """Milliseconds since the epoch of a date, with a time or without; else None.

    A day is taken as its noon, and a time without a zone as one of this machine's zone.

    Args:
        value: a text, or a date of TOML.
    """
    if isinstance(value, str):
        value = _read(value.strip())
    if isinstance(value, datetime):
        return _milliseconds(value)
    if isinstance(value, date):
        return _milliseconds(datetime.combine(value, _NOON))
    return None


def day_in(text: str) -> int | None:
    """Milliseconds since the epoch of the first day that a name or a heading tells."""
    for found in _DAY.finditer(text):
        day = _day(found)
        if day is not None:
            return moment_of(day)
    return None


def _read(text: str) -> date | None:
    found = _DAY.match(text)
    if found is None:
        return None
    rest = text[found.end() :].strip()
    day = _day(found)
    if day is None or not rest:
        return day
    try:
        # What stands behind may be a time with a zone behind a blank, as in `10:00:00 +0200`.
        clock = rest.lstrip("Tt").strip()
        clock = re.sub(r"\s+(?=[+-]\d\d:?\d\d\Z|Z\Z)", "", clock)
        return datetime.combine(day, time.fromisoformat(clock))
    except ValueError:
        return day


def _day(found: re.Match[str]) -> date | None:
    try:
        return date(int(found[1]), int(found[3]), int(found[4]))
    except ValueError:
        return None


def _milliseconds(moment: datetime) -> int | None:
    try:
        return int(moment.timestamp() * 1000) if _FIRST <= moment.year <= _LAST else None
    except (ValueError, OverflowError, OSError):
        return None
