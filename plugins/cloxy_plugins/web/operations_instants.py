"""Instants as text."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def iso(at: int) -> str:
    """Milliseconds since the epoch as `2026-05-08T13:56:00.000Z`."""
    moment = EPOCH + timedelta(milliseconds=at)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
