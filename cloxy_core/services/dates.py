"""Reading the dates that callers give as `since` and `until`: the port `DateReader`.

The grammar is strict: what is not understood is refused with examples, never guessed. The
reader of free text in questions is another one on purpose; it skips what it does not understand
and lives in a plugin that the core does not import.
"""

import re
import time as clock
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from cloxy_hookspecs import FilterError, Window

EXAMPLES = (
    '2026-09-30, 2026-09, 2026-09-30T14:40Z, 1784278801, "yesterday", "3 days ago" or "last week"'
)

Span = tuple[int, int]
"""Milliseconds: the first one and the one after the last."""

_EARLIEST_MS_EPOCH = 100_000_000_000
_DAY = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})$")
_MONTH = re.compile(r"(\d{4})[-/](\d{1,2})$")
_YEAR = re.compile(r"((?:19|20)\d\d)$")
_EPOCH = re.compile(r"-?\d{5,15}(?:\.\d{1,6})?$")
_OFFSET = re.compile(r"(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d\d))?$")
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_COUNTED = re.compile(
    r"(?P<past>(?:last|past|the last|the past|previous)\s+)?(?P<count>\d{1,4}|[a-z]+)\s*"
    r"(?P<unit>minute|hour|day|week|month|year)s?(?P<ago>\s+ago)?$"
)
_UNIT = re.compile(r"(?P<which>this|last|past|previous)\s+(?P<unit>week|month|quarter|year)$")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = re.compile(r"(?:(?P<last>last|past|previous)\s+)?(?P<day>" + "|".join(_WEEKDAYS) + r")$")
_DAY_WORDS = {"today": 0, "yesterday": 1, "day before yesterday": 2}


class SystemZone(tzinfo):
    """The zone that this machine is set to, with its changes between summer and winter.

    It asks the C library, which knows the zone on every platform; the standard library's own
    local zone is only the offset of one moment.
    """

    def fromutc(self, moment: datetime) -> datetime:
        """The local time of a UTC time that carries this zone."""
        instant = moment.replace(tzinfo=UTC).timestamp()
        offset = _offset_at(instant)
        local = moment + offset
        fold = int(_offset_at(instant - 3600) > offset)
        return local.replace(fold=fold)

    def utcoffset(self, moment: datetime | None) -> timedelta:
        """What to take from local time to get UTC."""
        if moment is None:
            return _offset_at(clock.time())
        return _offset_at(moment.replace(tzinfo=None).timestamp())

    def dst(self, _moment: datetime | None) -> timedelta | None:
        """Unknown; the offset already includes it."""
        return None

    def tzname(self, moment: datetime | None) -> str:
        """The zone's abbreviation at a moment."""
        seconds = clock.time() if moment is None else moment.replace(tzinfo=None).timestamp()
        return clock.localtime(seconds).tm_zone


class Dates:
    """Reads dates in the asker's words and zone."""

    def zone(self, name: str | None) -> tzinfo:
        """The time zone of `Europe/Zurich`, `UTC` or `+02:00`; the server's own for none.

        Raises:
            FilterError: there is no such zone.
        """
        if not name:
            return SystemZone()
        try:
            return _fixed_zone(name) or ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            raise FilterError(
                f"there is no time zone {name[:80]!r}",
                hint="name one such as Europe/Zurich, UTC or +02:00",
            ) from None

    def window(
        self, since: str | float | None, until: str | float | None, *, now: int, zone: tzinfo
    ) -> Window:
        """The span from the start of `since` to the end of `until`.

        A day, week or month is meant whole: until 2026-09-30 includes that day. An instant is
        itself, and until an instant excludes it.

        Args:
            since: date, instant, epoch or relative words; None for no bound.
            until: likewise.
            now: the asker's present, milliseconds.
            zone: zone of all words and of times without an offset.

        Raises:
            FilterError: a date cannot be read, or the span is empty.
        """
        first = None if _absent(since) else read_span("since", since, now, zone)[0]
        end = None if _absent(until) else read_span("until", until, now, zone)[1]
        if first is not None and end is not None and first >= end:
            raise FilterError(
                "since lies after until, so nothing can match", hint="exchange the two"
            )
        return Window(first, end)


def read_span(field: str, value: str | float | None, now: int, zone: tzinfo) -> Span:
    """The span that a value names; an instant is a span without length.

    Raises:
        FilterError: it cannot be read; names the field.
    """
    text = " ".join(str(value).split())
    for read in _READERS:
        try:
            span = read(text.lower(), now, zone)
        except (ValueError, OverflowError, OSError):
            break
        if span is not None:
            return span
    raise FilterError(f"{field} {text[:80]!r} is not a date", hint=f"write {EXAMPLES}")


def _offset_at(instant: float) -> timedelta:
    return timedelta(seconds=clock.localtime(instant).tm_gmtoff)


def _fixed_zone(name: str) -> tzinfo | None:
    """The zone of an offset; None when the name is not one."""
    match = _OFFSET.match(name.strip())
    if not match:
        return None
    offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
    return timezone(-offset if match["sign"] == "-" else offset)


def _absent(value: str | float | None) -> bool:
    return value is None or not str(value).strip()


def _whole(first: date, end: date, zone: tzinfo) -> Span:
    return (_start(first, zone), _start(end, zone))


def _start(day: date, zone: tzinfo) -> int:
    return round(datetime.combine(day, time(), zone).timestamp() * 1000)


def _today(now: int, zone: tzinfo) -> date:
    return datetime.fromtimestamp(now / 1000, zone).date()


def _months(year: int, month: int, count: int, zone: tzinfo) -> Span:
    """So many months from one on; numbers beyond 1..12 run into the neighbouring years."""
    start = year * 12 + month - 1
    first, end = (date(index // 12, index % 12 + 1, 1) for index in (start, start + count))
    return _whole(first, end, zone)


def _read_day(text: str, _now: int, zone: tzinfo) -> Span | None:
    if not (match := _DAY.match(text)):
        return None
    day = date(int(match[1]), int(match[2]), int(match[3]))
    return _whole(day, day + timedelta(days=1), zone)


def _read_month(text: str, _now: int, zone: tzinfo) -> Span | None:
    if match := _YEAR.match(text):
        return _months(int(match[1]), 1, 12, zone)
    if not (match := _MONTH.match(text)):
        return None
    if not 1 <= int(match[2]) <= 12:
        raise ValueError(text)
    return _months(int(match[1]), int(match[2]), 1, zone)


def _read_epoch(text: str, _now: int, _zone: tzinfo) -> Span | None:
    """Seconds since the epoch, or milliseconds from twelve digits on."""
    if not _EPOCH.match(text):
        return None
    number = float(text)
    instant = round(number if abs(number) >= _EARLIEST_MS_EPOCH else number * 1000)
    datetime.fromtimestamp(instant / 1000, UTC)
    return (instant, instant)


def _read_instant(text: str, _now: int, zone: tzinfo) -> Span | None:
    if not re.match(r"\d{4}-?\d\d-?\d\d[t ]\d", text):
        return None
    moment = datetime.fromisoformat(text.upper())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    instant = round(moment.timestamp() * 1000)
    return (instant, instant)


def _read_day_word(text: str, now: int, zone: tzinfo) -> Span | None:
    if text == "now":
        return (now, now)
    back = _DAY_WORDS.get(text.removeprefix("the "))
    if back is None:
        return None
    day = _today(now, zone) - timedelta(days=back)
    return _whole(day, day + timedelta(days=1), zone)


def _read_unit(text: str, now: int, zone: tzinfo) -> Span | None:
    """This or the last calendar week, month, quarter or year."""
    if not (match := _UNIT.match(text)):
        return None
    today, back, unit = _today(now, zone), match["which"] != "this", match["unit"]
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return _whole(monday, monday + timedelta(days=7), zone)
    if unit == "month":
        return _months(today.year, today.month - back, 1, zone)
    if unit == "quarter":
        return _months(today.year, (today.month - 1) // 3 * 3 + 1 - 3 * back, 3, zone)
    return _months(today.year - back, 1, 12, zone)


def _read_weekday(text: str, now: int, zone: tzinfo) -> Span | None:
    """The last such day that has begun; with "last", one before today."""
    if not (match := _WEEKDAY.match(text)):
        return None
    today = _today(now, zone)
    back = (today.weekday() - _WEEKDAYS.index(match["day"])) % 7
    day = today - timedelta(days=7 if match["last"] and back == 0 else back)
    return _whole(day, day + timedelta(days=1), zone)


def _read_counted(text: str, now: int, zone: tzinfo) -> Span | None:
    """So many units before now: minutes and hours to the moment, longer ones from that day on.

    "3 days ago" is that day. "Last 3 days" and plain "3 days" reach from that day up to now.
    """
    match = _COUNTED.match(text)
    if not match or (match["past"] and match["ago"]):
        return None
    word = match["count"]
    count = int(word) if word.isdigit() else _NUMBERS.get(word)
    if count is None:
        return None
    unit = match["unit"]
    if unit in {"minute", "hour"}:
        instant = now - count * (60_000 if unit == "minute" else 3_600_000)
        return (instant, instant if match["ago"] else now)
    today = _today(now, zone)
    day = _days_before(today, count, unit)
    first, end = _whole(day, day + timedelta(days=1), zone)
    return (first, end if match["ago"] else now)


def _days_before(today: date, count: int, unit: str) -> date:
    """The day so many days, weeks, months or years back; the 31st becomes the month's last."""
    if unit in {"day", "week"}:
        return today - timedelta(days=count * (7 if unit == "week" else 1))
    index = today.year * 12 + today.month - 1 - count * (12 if unit == "year" else 1)
    first = date(index // 12, index % 12 + 1, 1)
    following = date((index + 1) // 12, (index + 1) % 12 + 1, 1)
    return min(first + timedelta(days=today.day - 1), following - timedelta(days=1))


_READERS: tuple[Callable[[str, int, tzinfo], Span | None], ...] = (
    _read_day,
    _read_month,
    _read_epoch,
    _read_instant,
    _read_day_word,
    _read_unit,
    _read_weekday,
    _read_counted,
)
