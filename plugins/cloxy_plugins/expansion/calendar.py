"""Calendar arithmetic in the asker's time zone, in half-open spans of local time."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class Days:
    """Whole local days, the last one excluded; None means unbounded."""

    first: date | None
    end: date | None


def month_number(name: str) -> int:
    """1 to 12 for a name or its abbreviation."""
    return next(i for i, full in enumerate(MONTHS, 1) if full.startswith(name.lower()[:3]))


def weekday_number(name: str) -> int:
    """0 (Monday) to 6 for a name or its abbreviation."""
    return next(i for i, full in enumerate(WEEKDAYS) if full.startswith(name.lower()[:3]))


def day(first: date) -> Days:
    """One day."""
    return Days(first, first + timedelta(days=1))


def week(inside: date) -> Days:
    """The week, Monday to Sunday, around a day."""
    monday = inside - timedelta(days=inside.weekday())
    return Days(monday, monday + timedelta(days=7))


def month(year: int, number: int) -> Days:
    """One month; numbers beyond 1..12 run into the neighbouring years."""
    return months(year, number, 1)


def months(year: int, number: int, count: int) -> Days:
    """Some months in a row."""
    start = year * 12 + number - 1
    return Days(_first_of(start), _first_of(start + count))


def quarter(year: int, number: int) -> Days:
    """One quarter; numbers beyond 1..4 run into the neighbouring years."""
    return months(year, 3 * number - 2, 3)


def whole_year(year: int) -> Days:
    """One year."""
    return months(year, 1, 12)


def instant(day_start: date, zone: tzinfo) -> int:
    """Milliseconds since the epoch at which a local day begins."""
    return round(datetime.combine(day_start, time(), zone).timestamp() * 1000)


def local_date(milliseconds: int, zone: tzinfo) -> date:
    """The day on which an instant lies."""
    return datetime.fromtimestamp(milliseconds / 1000, zone).date()


def _first_of(month_index: int) -> date:
    return date(month_index // 12, month_index % 12 + 1, 1)
