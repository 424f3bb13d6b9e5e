"""The logs that a log begins with a copy of.

Going back to an earlier prompt begins a new session, whose log starts with the messages that came
before it, under the ids that they have. They are told as those of the session that said them first.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cloxy_hookspecs import LogReader, LogTree, SourceItem
from cloxy_hookspecs.logs.repositories import is_there
from cloxy_plugins.kiro.cards import FAR, Card, card_of
from cloxy_plugins.kiro.lines import first_id
from cloxy_plugins.kiro.places import BUCKETED, LOG, converted_from, log_of, session_of

_GENERATIONS = 20
_KNOWN = 5_000


@dataclass(frozen=True, slots=True)
class Elder:
    """A session that a log may begin with a copy of.

    Attributes:
        key: its key.
        path: its log.
        converted: whether the log was made of it in another form, with other ids.
    """

    key: str
    path: Path
    converted: bool = False


class Family:
    """Finds the elders of a log."""

    def __init__(self, reader: LogReader) -> None:
        """Nothing is read.

        Args:
            reader: opens files.
        """
        self._reader = reader
        self._firsts: dict[Path, str] = {}

    def elders(self, root: Path, path: Path, card: Card) -> Sequence[Elder]:
        """Sessions that were before it and whose logs are there, the oldest first.

        Args:
            root: folder below which the logs lie.
            path: the log.
            card: its facts.
        """
        found: list[Elder] = []
        met = {path}
        for _ in range(_GENERATIONS):
            elder = self._elder(root, path, card)
            if elder is None or elder.path in met or not elder.path.is_relative_to(root):
                break
            found.insert(0, elder)
            path = elder.path
            met.add(path)
            card = card_of(self._reader, root, path)
        return found

    def _elder(self, root: Path, path: Path, card: Card) -> Elder | None:
        if card.parent is not None:
            log = log_of(card.parent, path)
            return Elder(card.parent, log) if is_there(log) else None
        origin = converted_from(path)
        if origin is not None and is_there(origin):
            return Elder(session_of(origin), origin, converted=True)
        return self._twin(root, path, card)

    def _twin(self, root: Path, path: Path, card: Card) -> Elder | None:
        """An older session with the same first message, for logs that name no parent."""
        if path.name == BUCKETED:
            return None
        firsts = self._firsts_in(root, path.parent)
        first = firsts.get(path)
        twins = [each for each, other in firsts.items() if other == first and each != path]
        if first is None or not twins:
            return None
        ages = {each: _age(card_of(self._reader, root, each), each) for each in twins}
        oldest = min(twins, key=lambda each: ages[each])
        return Elder(session_of(oldest), oldest) if ages[oldest] < _age(card, path) else None

    def _firsts_in(self, root: Path, folder: Path) -> Mapping[Path, str]:
        """Ids of the first messages of the logs in a folder, by log."""
        try:
            names = [name for name in os.listdir(folder) if name.endswith(LOG)]  # noqa: PTH208
        except OSError:
            return {}
        if len(self._firsts) > _KNOWN:
            self._firsts.clear()
        paths = [folder / name for name in names]
        for path in paths:
            if path not in self._firsts and (first := self._first_of(root, path)) is not None:
                self._firsts[path] = first
        return {path: self._firsts[path] for path in paths if path in self._firsts}

    def _first_of(self, root: Path, path: Path) -> str | None:
        tree = LogTree(root, lambda _parts: True)
        logs = self._reader.lines([tree])
        try:
            items: Sequence[SourceItem] = list(logs.discover([], path))
            lines = iter(logs.read(items[0], 0)) if items else iter(())
            line = next(lines, None)
        except OSError:
            return None
        return first_id(line.data, flat=True) if line is not None and line.finished else None


def _age(card: Card, path: Path) -> tuple[int, str]:
    """What tells which of two sessions is older; without a time it is the younger one."""
    return (FAR if card.created is None else card.created, path.name)
