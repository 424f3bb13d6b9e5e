"""Watching for the texts before which an answer ends."""

from collections.abc import Sequence


class StopWatch:
    """Lets text through until it meets one of the texts before which the answer ends.

    What may be the beginning of one is held back until it is clear.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self.matched: str | None = None

    def take(self, text: str) -> str:
        """The text that can be shown now; nothing more comes once one was met."""
        if self.matched is not None:
            return ""
        self._held += text
        found = [(at, stop) for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if found:
            # The one that is complete first, as a model that stops at it would see it.
            at, self.matched = min(found, key=lambda one: (one[0] + len(one[1]), one[0]))
            shown, self._held = self._held[:at], ""
            return shown
        keep = max((_overlap(self._held, stop) for stop in self._stops), default=0)
        cut = len(self._held) - keep
        shown, self._held = self._held[:cut], self._held[cut:]
        return shown

    def rest(self) -> str:
        """What was held back and turned out to be plain text."""
        shown, self._held = self._held, ""
        return shown


def _overlap(text: str, stop: str) -> int:
    """Characters at the end of a text that may become the stop."""
    longest = min(len(text), len(stop) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(stop[:size])), 0)
