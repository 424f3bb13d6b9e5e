"""Times as the original wrote them, in milliseconds since the epoch."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def milliseconds(text: str | None) -> int | None:
    """Read `2026-03-05 08:00:00` or ISO 8601; without a zone it is UTC. None when it is no time."""
    if not text:
        return None
    try:
        said = datetime.fromisoformat(text.strip())
        aware = said if said.tzinfo is not None else said.replace(tzinfo=UTC)
        return (aware - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        return None
