"""Dates in a question, read as a window of time.

The reader is careful rather than complete: what may be something else (a version, a file name,
the verb "may") is no date. All words are read in the asker's time zone, relative to the asker's
present. A month or weekday without a year is the last one that has begun.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo

from cloxy_hookspecs import Window
from cloxy_plugins.expansion import calendar
from cloxy_plugins.expansion.calendar import Days
from cloxy_plugins.expansion.spans import Span, overlaps

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?"
    r"|sat(?:urday)?|sun(?:day)?)"
)
_YEAR = r"(?:19|20)\d\d"
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "couple": 2, "three": 3, "few": 3,
    "several": 4, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12,
}  # fmt: skip
_COUNT = (
    r"(?:\d{1,3}|(?:a\s+)?(?:couple(?:\s+of)?|few)|"
    + "|".join(name for name in _NUMBERS if not name.startswith(("couple", "few")))
    + r")"
)
_UNIT = r"(?:hour|day|week|month|year)"
_BEFORE = r"(?<![\w./\\:@#=+-])"
_AFTER = r"(?![\w/\\@=+-]|[.:]\w)"
_LEAD = r"(?:(?:in|on|from|during|of|at|around|about|for|since|after|before|until|till|by)\s+)?"
_PREPOSITION = r"(?:in|during|from|of|since|after|before|until|till|by|last|this|early|late|mid)"
_ORDINAL = r"(?:st|nd|rd|th)?"


Reading = Callable[[re.Match[str], date], Days]


@dataclass(frozen=True, slots=True)
class Hint:
    """A window of time, read from a question.

    Attributes:
        window: from the first to the last moment of it.
        spans: places of all words that it was read from.
        relative: those of relative ones ("last week"), by which no text is found; by a date
            it is, because what is indexed says when it was said.
    """

    window: Window
    spans: tuple[Span, ...]
    relative: tuple[Span, ...]


def find_window(text: str, now: int, zone: tzinfo, protected: Sequence[Span] = ()) -> Hint | None:
    """The window that a question speaks of; None when it names no date.

    Several dates give the span from the first to the last of them.

    Args:
        text: the question.
        now: the asker's present, milliseconds.
        zone: the asker's time zone.
        protected: places that are literals and hold no dates.
    """
    today = calendar.local_date(now, zone)
    found: list[tuple[Span, Days]] = []
    relative: list[Span] = []
    for pattern, read in _READINGS:
        for match in pattern.finditer(text):
            taken = [*protected, *(span for span, _ in found)]
            if overlaps(match.span(), taken):
                continue
            if days := _read(read, match, today):
                found.append((match.span(), _bounded(days, match.group())))
                if read in _RELATIVE:
                    relative.append(match.span())
    if not found:
        return None
    window = _window([days for _, days in found], zone)
    spans = tuple(span for span, _ in found)
    return Hint(window, spans, tuple(relative)) if window else None


def _read(read: Reading, match: re.Match[str], today: date) -> Days | None:
    """The days of one match; None for a date that does not exist."""
    try:
        return read(match, today)
    except (ValueError, OverflowError):
        return None


def _bounded(days: Days, words: str) -> Days:
    """Open the span where "since", "after", "before" or "until" say so."""
    lead = words.split(maxsplit=1)[0].lower() if words.split() else ""
    if lead == "since":
        return Days(days.first, None)
    if lead == "after":
        return Days(days.end, None)
    if lead == "before":
        return Days(None, days.first)
    if lead in {"until", "till", "by"}:
        return Days(None, days.end)
    return days


def _window(spans: Sequence[Days], zone: tzinfo) -> Window | None:
    """From the first to the last day of all; open bounds narrow what is bounded otherwise."""
    firsts = [days.first for days in spans if days.first]
    ends = [days.end for days in spans if days.end]
    first = min(firsts, default=None)
    end = max(ends, default=None)
    if first and end and first >= end:
        return None
    since = calendar.instant(first, zone) if first else None
    until = calendar.instant(end, zone) if end else None
    return Window(since, until)


def _count(words: str) -> int:
    """The number that a word or digits say."""
    words = " ".join(words.lower().split())
    words = words.removeprefix("a ")
    return int(words) if words.isdigit() else _NUMBERS[words]


def _years_back(today: date, years: int) -> date:
    return date(today.year - years, today.month, min(today.day, 28))


def _iso_day(match: re.Match[str], _today: date) -> Days:
    return calendar.day(date(int(match["y"]), int(match["m"]), int(match["d"])))


def _iso_month(match: re.Match[str], _today: date) -> Days:
    return calendar.month(int(match["y"]), _in_range(int(match["m"]), 12))


def _named_day(match: re.Match[str], today: date) -> Days:
    number, month_day = calendar.month_number(match["month"]), int(match["d"])
    if match["y"]:
        return calendar.day(date(int(match["y"]), number, month_day))
    this_year = date(today.year, number, month_day)
    if this_year > today:
        this_year = date(today.year - 1, number, month_day)
    return calendar.day(this_year)


def _named_month(match: re.Match[str], today: date) -> Days:
    number = calendar.month_number(match["month"])
    if match["y"]:
        return calendar.month(int(match["y"]), number)
    return calendar.month(today.year - (number > today.month), number)


def _lone_year(match: re.Match[str], _today: date) -> Days:
    return calendar.whole_year(int(match["y"]))


def _quarter(match: re.Match[str], today: date) -> Days:
    number = "1234".index(match["q"]) + 1 if match["q"].isdigit() else _ordinal(match["q"])
    if match["y"]:
        return calendar.quarter(int(match["y"]), number)
    current = (today.month + 2) // 3
    return calendar.quarter(today.year - (number > current), number)


def _ordinal(word: str) -> int:
    return ("first", "second", "third", "fourth").index(word.lower()) + 1


def _day_word(match: re.Match[str], today: date) -> Days:
    word = " ".join(match["word"].lower().split())
    back = {"day before yesterday": 2, "前天": 2, "yesterday": 1, "last night": 1, "昨天": 1}
    return calendar.day(today - timedelta(days=back.get(word, 0)))


def _calendar_unit(match: re.Match[str], today: date) -> Days:
    """This or the last week, weekend, month, quarter or year."""
    back = match["which"].lower() != "this"
    unit = match["unit"].lower()
    if unit == "weekend":
        monday = today - timedelta(days=today.weekday())
        saturday = monday + timedelta(days=5)
        start = saturday - timedelta(days=7 * (back or saturday > today))
        return Days(start, start + timedelta(days=2))
    if unit == "week":
        return calendar.week(today - timedelta(days=7 * back))
    if unit == "month":
        return calendar.month(today.year, today.month - back)
    if unit == "quarter":
        return calendar.quarter(today.year, (today.month + 2) // 3 - back)
    return calendar.whole_year(today.year - back)


def _ago(match: re.Match[str], today: date) -> Days:
    """Around so many units ago: the day itself, else half a unit to either side."""
    count, unit = _count(match["n"]), match["unit"].lower()
    if unit in {"hour", "day"}:
        return calendar.day(today - timedelta(days=count if unit == "day" else count // 24))
    if unit == "week":
        middle = today - timedelta(weeks=count)
        return Days(middle - timedelta(days=4), middle + timedelta(days=5))
    if unit == "month":
        return calendar.month(today.year, today.month - count)
    return calendar.whole_year(today.year - count)


def _recent(match: re.Match[str], today: date) -> Days:
    """The last so many units up to now."""
    count, unit = _count(match["n"]), match["unit"].lower()
    tomorrow = today + timedelta(days=1)
    if unit in {"hour", "day"}:
        days = count if unit == "day" else -(-count // 24)
        return Days(today - timedelta(days=days), tomorrow)
    if unit == "week":
        return Days(today - timedelta(weeks=count), tomorrow)
    if unit == "month":
        start = calendar.month(today.year, today.month - count).first or today
        return Days(start + timedelta(days=min(today.day, 28) - 1), tomorrow)
    return Days(_years_back(today, count), tomorrow)


def _weekday(match: re.Match[str], today: date) -> Days:
    back = (today.weekday() - calendar.weekday_number(match["day"])) % 7
    if back == 0 and (match["which"] or "").lower() in {"last", "past", "previous"}:
        back = 7
    return calendar.day(today - timedelta(days=back))


def _chinese_day(match: re.Match[str], today: date) -> Days:
    number, month_day = int(match["m"]), int(match["d"]) if match["d"] else None
    year = int(match["y"]) if match["y"] else today.year - (number > today.month)
    if month_day:
        return calendar.day(date(year, number, month_day))
    return calendar.month(year, _in_range(number, 12))


def _chinese_unit(match: re.Match[str], today: date) -> Days:
    word = match.group()
    back = word[0] in "上去"
    if "周" in word or "星期" in word or "週" in word:
        return calendar.week(today - timedelta(days=7 * back))
    if "月" in word:
        return calendar.month(today.year, today.month - back)
    return calendar.whole_year(today.year - back)


def _chinese_ago(match: re.Match[str], today: date) -> Days:
    digits = "零一二三四五六七八九十"
    text = match["n"]
    count = int(text) if text.isdigit() else 2 if text == "两" else digits.index(text)
    if match["unit"] == "天":
        return calendar.day(today - timedelta(days=count))
    if match["unit"] in {"周", "星期"}:
        return calendar.week(today - timedelta(weeks=count))
    return calendar.month(today.year, today.month - count)


def _in_range(number: int, most: int) -> int:
    if not 1 <= number <= most:
        raise ValueError(number)
    return number


def _pattern(body: str) -> re.Pattern[str]:
    return re.compile(_BEFORE + body + _AFTER, re.IGNORECASE)


_READINGS: tuple[tuple[re.Pattern[str], Reading], ...] = (
    (
        _pattern(_LEAD + rf"(?P<y>{_YEAR})([-/.])(?P<m>\d\d?)\2(?P<d>\d\d?)(?:[T ]\d\d:\d\d\S*)?"),
        _iso_day,
    ),
    (_pattern(_LEAD + rf"(?P<y>{_YEAR})[-/](?P<m>\d\d)"), _iso_month),
    (
        _pattern(
            _LEAD + rf"(?:the\s+)?(?P<d>\d\d?){_ORDINAL}(?:\s+of)?\s+(?P<month>{_MONTH}),?"
            rf"(?:\s+(?P<y>{_YEAR}))?"
        ),
        _named_day,
    ),
    (
        _pattern(
            _LEAD + rf"(?P<month>{_MONTH})\s+(?:the\s+)?(?P<d>\d\d?){_ORDINAL}"
            rf"(?:,?\s+(?P<y>{_YEAR}))?"
        ),
        _named_day,
    ),
    (_pattern(_LEAD + rf"(?P<month>{_MONTH}),?(?:\s+of)?\s+(?P<y>{_YEAR})"), _named_month),
    (
        _pattern(rf"{_PREPOSITION}\s+(?:the\s+month\s+of\s+)?(?P<month>{_MONTH})(?P<y>\b$)?"),
        _named_month,
    ),
    (
        _pattern(_LEAD + rf"(?:the\s+)?(?:q(?P<q>[1-4]))(?:(?:\s+of)?\s+(?P<y>{_YEAR}))?"),
        _quarter,
    ),
    (
        _pattern(
            _LEAD + r"(?:the\s+)?(?P<q>first|second|third|fourth)\s+quarter"
            rf"(?:(?:\s+of)?\s+(?P<y>{_YEAR}))?"
        ),
        _quarter,
    ),
    (
        _pattern(
            _LEAD + rf"(?:the\s+)?(?:last|past|previous)\s+(?P<n>{_COUNT})\s+(?P<unit>{_UNIT})s?"
        ),
        _recent,
    ),
    (
        _pattern(
            rf"(?:(?:since|before|until|after|about|around)\s+)?(?P<n>{_COUNT})\s+(?P<unit>{_UNIT})s?\s+(?:ago|back|earlier)"
        ),
        _ago,
    ),
    (
        _pattern(
            _LEAD + r"(?:the\s+)?(?P<which>this|last|past|previous)\s+"
            r"(?P<unit>weekend|week|month|quarter|year)"
        ),
        _calendar_unit,
    ),
    (
        _pattern(
            _LEAD + r"(?:the\s+)?(?P<word>day\s+before\s+yesterday|yesterday|last\s+night|today|"
            r"tonight|this\s+(?:morning|afternoon|evening))"
        ),
        _day_word,
    ),
    (
        _pattern(
            r"(?:on|since|after|before|until|till|by|from)\s+(?:(?P<which>this|last|past|previous)\s+)?"
            rf"(?P<day>{_WEEKDAY})"
        ),
        _weekday,
    ),
    (_pattern(rf"(?P<which>this|last|past|previous)\s+(?P<day>{_WEEKDAY})"), _weekday),
    (
        _pattern(rf"(?:in|during|from|since|after|before|until|till|by)\s+(?P<y>{_YEAR})"),
        _lone_year,
    ),
    (
        re.compile(r"(?:(?P<y>\d{4})年)?(?P<m>\d\d?)月(?:份|(?P<d>\d\d?)[日号號])?"),
        _chinese_day,
    ),
    (re.compile(r"(?P<word>前天|昨天|今天)"), _day_word),
    (
        re.compile(r"(?:上个?|上個|这个?|這個?|本)(?:周|週|星期|月)|去年|今年"),
        _chinese_unit,
    ),
    (
        re.compile(
            r"(?P<n>\d{1,3}|[一二两三四五六七八九十])个?(?P<unit>天|周|星期|月)(?:之|以)?前"
        ),
        _chinese_ago,
    ),
)

_RELATIVE = frozenset(
    {_recent, _ago, _calendar_unit, _day_word, _weekday, _chinese_unit, _chinese_ago}
)
