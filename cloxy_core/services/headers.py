"""The line above a memory: when, where and in which conversation it was said."""

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

SHORT_KEY = 8
"""Characters of a session's key that stand in for a title."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SEPARATOR = " · "
_SLASHES = re.compile(r"[\\/]+")
_DAY_MS = 86_400_000
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def header(at: int | None, project: str | None, title: str | None, session: str | None) -> str:
    """The header as shown: `[2026-05-08 13:56 · project · title]`; empty with nothing to say.

    Args:
        at: when its first message was said, milliseconds; shown in UTC to the minute.
        project: project path, of which the last component is shown.
        title: title of the session.
        session: key of the session; its first characters stand in for a missing title.
    """
    moment = _moment(at)
    when = moment.strftime("%Y-%m-%d %H:%M") if moment else ""
    parts = [when, basename(project), title or (session or "")[:SHORT_KEY]]
    shown = _SEPARATOR.join(part for part in parts if part)
    return f"[{shown}]" if shown else ""


def index_header(
    at: int | None, project: str | None, title: str | None, session: str | None, role: str
) -> str:
    """The header as indexed: what people say when they speak of a time, a place or a person.

    Args:
        at: when the passage was said, milliseconds.
        project: project path, of which the last component counts.
        title: title of the session.
        session: key of the session, used when it has no title.
        role: who spoke.
    """
    when = "" if at is None else _spoken_day(at // _DAY_MS)
    parts = [when, role, basename(project), title or (session or "")[:SHORT_KEY]]
    return f"[{_SEPARATOR.join(part for part in parts if part)}]"


@lru_cache(maxsize=1024)
def basename(project: str | None) -> str:
    """The last component of a path of either kind, or the name itself."""
    if not project:
        return ""
    return next((part for part in reversed(_SLASHES.split(project)) if part), project)


@lru_cache(maxsize=4096)
def _spoken_day(day: int) -> str:
    """A day, counted from the epoch, in the ways that people write it; never by locale."""
    try:
        said = date(1970, 1, 1) + timedelta(days=day)
    except OverflowError:
        return ""
    weekday, month = _WEEKDAYS[said.weekday()], _MONTHS[said.month - 1]
    return f"{said.isoformat()} {weekday} {said.day} {month} {said.year}"


def _moment(at: int | None) -> datetime | None:
    """The time in UTC; None when unknown or outside of the calendar."""
    if at is None:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=at)
    except OverflowError:
        return None
