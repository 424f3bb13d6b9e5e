"""Points in time, as Cursor writes them before a prompt."""

import re
from datetime import datetime, timedelta, timezone

from cloxy_hookspecs.logs.instants import instant_of_iso, instant_of_moment

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORDS = re.compile(
    r"(?:[A-Za-z]{3,9},?\s+)?([A-Za-z]{3,9})\.?\s+(\d{1,2}),?\s+(\d{4}),?\s+(?:at\s+)?"
    r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([AaPp][Mm])?\s*\(?(?:UTC|GMT)\s*([+-]\d{1,2})?(?::?(\d{2}))?\)?"
)
_NOON = 12


def instant_of_words(text: str) -> int | None:
    """The time in a note before a prompt (`Tuesday, Sep 8, 2026, 10:04 AM (UTC+2)`), or in ISO."""
    found = _WORDS.search(text)
    if found is None:
        return instant_of_iso(text.strip())
    month, day, year, hour, minute, second, half, offset, rest = found.groups()
    try:
        number = _MONTHS.index(month[:3].lower()) + 1
        hours = int(hour) % _NOON + (_NOON if half.lower() == "pm" else 0) if half else int(hour)
        minutes = int(rest or 0) * (-1 if (offset or "").startswith("-") else 1)
        zone = timezone(timedelta(hours=int(offset or 0), minutes=minutes))
        moment = datetime(
            int(year), number, int(day), hours, int(minute), int(second or 0), tzinfo=zone
        )
        return instant_of_moment(moment)
    except (ValueError, OverflowError):
        return None
