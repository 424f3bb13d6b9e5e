"""How often things that are rewritten in place are looked at.

A conversation that goes on changes every second, and each look at it reads it whole. So the
watcher's own looks keep a distance: the watch interval, and longer where a look costs much.
"""

import time
from collections.abc import Callable
from typing import Final

SHARE: Final = 10
"""A look may cost one part in this many of the time."""

LONGEST: Final = 60.0
CHEAP: Final = 0.02
"""Seconds of a look that found nothing which are not worth a pause."""


class Pace:
    """When each source may be looked at again."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._looks: dict[str, tuple[float, float]] = {}

    def due(self, plugin: str, interval: float) -> float | None:
        """The moment from which a source may be looked at; None when that is now.

        Args:
            plugin: name of the source.
            interval: least seconds between two looks.
        """
        if plugin not in self._looks:
            return None
        ended, cost = self._looks[plugin]
        due = ended + max(interval, min(cost * SHARE, LONGEST))
        return due if due > self._now() else None

    def took(self, plugin: str, began: float, *, found: bool) -> None:
        """Note a look that ends now.

        Args:
            plugin: name of the source.
            began: when it began.
            found: whether there was anything to look at.
        """
        now = self._now()
        if found or now - began > CHEAP:
            self._looks[plugin] = (now, now - began)
