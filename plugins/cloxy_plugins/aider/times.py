"""Local times, and the history of what was typed, which tells when.

Times are written without a zone. They are taken as times of this machine's zone.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cloxy_plugins.aider.typed import plain

_STAMP = re.compile(r"# (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?)\s*\Z")
_FIRST, _LAST = 2000, 2999
_SLACK = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that was typed.

    Attributes:
        at: local time.
        text: as it was typed, for comparison.
    """

    at: datetime
    text: str


def local(text: str | None) -> datetime | None:
    """A time as it is written; None for what is none, or not to be believed."""
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return moment if moment is not None and _FIRST <= moment.year <= _LAST else None


def milliseconds(moment: datetime | None) -> int | None:
    """Milliseconds since the epoch of a local time of this machine."""
    try:
        return None if moment is None else int(moment.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


def entries_of(data: bytes) -> Sequence[Entry]:
    """What was typed, in order: `# <time>`, then each line behind a `+`."""
    found: list[Entry] = []
    at: datetime | None = None
    lines: list[str] = []

    def end() -> None:
        if at is not None and lines:
            found.append(Entry(at, plain("\n".join(lines))))
        lines.clear()

    for raw in data.decode("utf-8", "replace").split("\n"):
        line = raw.removesuffix("\r")
        if line.startswith("+"):
            lines.append(line[1:])
            continue
        end()
        stamp = _STAMP.match(line)
        if stamp is not None:
            at = local(stamp[1])
    end()
    return found


class Times:
    """Tells when something was typed."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._places: dict[str, list[int]] = {}
        self._entries = entries
        for number, entry in enumerate(entries):
            self._places.setdefault(entry.text, []).append(number)
        self._next = 0
        self._from: datetime | None = None
        self._to: datetime | None = None

    def begin(self, start: datetime | None, end: datetime | None) -> None:
        """Go on with another chat.

        Args:
            start: when it was started; without, nothing of it is told.
            end: when the one behind it was started.
        """
        self._from = None if start is None else start - _SLACK
        self._to = None if end is None else end + _SLACK
        self._next = 0

    def of(self, text: str) -> datetime | None:
        """When a text was typed; asked in the order of the chat."""
        if self._from is None:
            return None
        places = self._places.get(plain(text), ())
        for place in places[bisect_left(places, self._next) :]:
            at = self._entries[place].at
            if self._to is not None and at > self._to:
                continue
            if at >= self._from:
                self._next = place + 1
                return at
        return None
