"""Points in time, as logs write them."""

from datetime import UTC, datetime, timedelta

EARLIEST = 946_684_800_000
"""The year 2000: no agent said anything before."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
# Seconds pass this number in the year 5138; milliseconds passed it in 1973.
_SECONDS_BELOW = 100_000_000_000
_NEVER = 10**15


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


def _from_text(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        pass
    try:
        return _from_number(float(text))
    except ValueError:
        return None


def _from_number(number: float) -> int | None:
    if not abs(number) < _NEVER:  # infinities and NaN among them
        return None
    return int(number * 1000) if abs(number) < _SECONDS_BELOW else int(number)
