"""The file's form: names, limits, times, and one line as bytes."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from cloxy_core.escaping import safe_json

FORMAT: Final = "cloxy-export"
VERSION: Final = 1
LINE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of the longest line that is read."""

IMPORTED: Final = "import"
"""Stands for the plugin in the rows of source files that are only known by their name."""

UNNAMED: Final = "(not named)"
"""Stands for the address of a source file that an import does not name."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def encode(value: Mapping[str, object]) -> bytes:
    """One line, its line feed included; no text can break it, or act on a terminal."""
    return safe_json(value, compact=True).encode("utf-8") + b"\n"


def time_text(at: int | None) -> str | None:
    """Milliseconds as ISO 8601 in UTC; None for no time, or one outside of the calendar."""
    if at is None:
        return None
    try:
        moment = _EPOCH + at * _MILLISECOND
    except OverflowError:
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_time(text: str) -> int:
    """Milliseconds of an ISO 8601 time.

    Raises:
        ValueError: it is none, or does not say its offset.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("without an offset")
    return (moment - _EPOCH) // _MILLISECOND
