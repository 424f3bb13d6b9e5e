"""Instants as text."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def iso(at: int | None) -> str | None:
    """Milliseconds since the epoch as `2026-05-08T13:56:00.000Z`; None stays None."""
    if at is None:
        return None
    try:
        moment = EPOCH + timedelta(milliseconds=at)
    except OverflowError:
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
