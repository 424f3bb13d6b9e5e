"""Pages that were read a while ago."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from cloxy_hookspecs import ReadPage, Target

ENTRIES = 200
CHARACTERS = 40_000_000
SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Kept:
    """A page, and every hop that led to it, to be judged again before it is given away."""

    page: ReadPage
    hops: tuple[Target, ...]
    at: float


class PageCache:
    """The pages read last, at most 200 of them and 40 million characters, for 15 minutes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._characters = 0

    def __len__(self) -> int:
        """How many pages are kept."""
        return len(self._kept)

    def get(self, key: Hashable) -> Kept | None:
        """A page that is not too old; None when there is none."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if self._clock() - kept.at > SECONDS:
            self.drop(key)
            return None
        self._kept.move_to_end(key)
        return kept

    def put(self, key: Hashable, page: ReadPage, hops: tuple[Target, ...]) -> None:
        """Keep a page, and let go of the oldest ones when there are too many."""
        self.drop(key)
        self._kept[key] = Kept(page, hops, self._clock())
        self._characters += _size(page)
        while len(self._kept) > ENTRIES or self._characters > CHARACTERS:
            self.drop(next(iter(self._kept)))

    def drop(self, key: Hashable) -> None:
        """Let go of a page, if it is there."""
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._characters -= _size(kept.page)


def _size(page: ReadPage) -> int:
    texts = (page.content, page.title, page.url, page.final_url, *page.matches, *page.notes)
    return sum(map(len, texts))
