"""Points in time, as logs write them."""

import re
from datetime import UTC, datetime, timedelta

EARLIEST = 946_684_800_000
"""The year 2000: no agent said anything before."""

_DAY = 86_400_000
_NANOSECONDS = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
# Seconds pass this number in the year 5138; milliseconds passed it in 1973.
_SECONDS_BELOW = 100_000_000_000
_NEVER = 10**15
_UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.I)


def instant(value: object, latest: int) -> int | None:
    """Milliseconds since the epoch, UTC; None for what is no plausible point in time.

    Args:
        value: an ISO 8601 text (without an offset it is UTC), or seconds or milliseconds since
            the epoch as a number or as text.
        latest: the last plausible point; a message from the future would be the newest for ever.
    """
    if isinstance(value, str):
        moment = _from_text(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        moment = _from_number(value)
    else:
        return None
    return moment if moment is not None and EARLIEST <= moment <= latest else None


def latest_instant(now_ms: int, changed_ns: int) -> int:
    """The last plausible point in time of what a thing says, in milliseconds.

    A day later than now, or than the thing was changed: clocks differ, and so do time zones.

    Args:
        now_ms: the present in milliseconds.
        changed_ns: when the thing was changed last, in nanoseconds.
    """
    return max(now_ms, changed_ns // _NANOSECONDS) + _DAY


def instant_of_iso(text: str) -> int | None:
    """Milliseconds of an ISO 8601 text, without an offset in UTC; None for any other text.

    However early or late it is; `instant` takes only what is plausible.
    """
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return instant_of_moment(moment)
    except (ValueError, OverflowError):
        return None


def instant_of_moment(moment: datetime) -> int:
    """Milliseconds of a moment whose zone is known."""
    return (moment - _EPOCH) // _MILLISECOND


def _from_text(text: str) -> int | None:
    moment = instant_of_iso(text)
    if moment is not None:
        return moment
    try:
        return _from_number(float(text))
    except ValueError:
        return None


def _from_number(number: float) -> int | None:
    if not abs(number) < _NEVER:  # infinities and NaN among them
        return None
    return int(number * 1000) if abs(number) < _SECONDS_BELOW else int(number)


def instant_of_uuid(value: object) -> int | None:
    """The milliseconds in a UUID of version 7 (its first 48 bits, RFC 9562); else None."""
    if not isinstance(value, str) or not _UUID7.fullmatch(value):
        return None
    return int(value[:8] + value[9:13], 16)
