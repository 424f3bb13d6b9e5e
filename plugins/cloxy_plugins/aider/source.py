"""The histories of Aider as a source: single files in the folders of projects."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cloxy_hookspecs import (
    HostContext,
    LogReader,
    LogTree,
    Parts,
    RawLine,
    Source,
    SourceFailure,
    SourceItem,
)
from cloxy_hookspecs.logs.documents import MOST
from cloxy_hookspecs.logs.folders import nowhere, touches
from cloxy_hookspecs.logs.repositories import is_there
from cloxy_hookspecs.logs.turns import raw_lines
from cloxy_plugins.aider.configured import Configured
from cloxy_plugins.aider.places import Place, Places, is_history, may_hold_histories
from cloxy_plugins.aider.records import records_of

_INPUT_MOST = 64 << 20


def create_source(context: HostContext) -> Source:
    """Make the source."""
    reader = context.service(LogReader)
    home = Path.home()
    places = Places(os.environ, home, Configured(reader, home))
    return Histories(reader, places, lambda: places.histories(reader.known_folders()))


@dataclass(frozen=True, slots=True)
class _Found:
    place: Place
    tree: LogTree


class Histories:
    """Finds histories and reads them whole; implements `FolderSource`."""

    def __init__(
        self, reader: LogReader, places: Places, histories: Callable[[], Sequence[Place]]
    ) -> None:
        """Look for single files.

        Args:
            reader: finds and opens.
            places: knows what lies beside a history.
            histories: tells the files anew for each look; they need not exist.
        """
        self._reader = reader
        self._places = places
        self._histories = histories
        self._found: Sequence[Place] | None = None

    def of(self, folder: Path) -> "FolderHistories":
        """All histories below a folder."""
        return FolderHistories(self._reader, self._places, folder)

    def roots(self) -> Sequence[Path]:
        """The files: the folders around them are not watched.

        Of a thousand projects a few have one: the others are no place to be watched.
        """
        return tuple(place.path for place in self._known())

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """As `Source.discover`."""
        for place in self._known(anew=under is None):
            if under is None or touches(place.path, under):
                tree = LogTree(place.path.parent, _only(place.path.name), nowhere)
                for item in self._reader.files([tree], failures, place.path):
                    yield from _checked(item, self._places.inputs(place), failures)

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """As `Source.read`: records of turns.

        Raises:
            OSError: the file cannot be opened or read, or is too large.
        """
        path = Path(item.uri)
        place = next((each for each in self._known() if each.path == path), None)
        if place is None:
            raise OSError(errno.EACCES, "not a history of a known project", item.uri)
        return _read(self._reader, self._places, place, offset)

    def _known(self, *, anew: bool = False) -> Sequence[Place]:
        """Histories that are there, as of the last look at all places."""
        if anew or self._found is None:
            places = self._histories()
            self._found = [each for each in places if each.named or is_there(each.path)]
        return self._found

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Not asked of things that are rewritten."""
        del item, start, end
        return b""


class FolderHistories:
    """All histories below one folder that somebody named; implements `Source`."""

    def __init__(self, reader: LogReader, places: Places, folder: Path) -> None:
        """Look below a folder.

        Args:
            reader: finds and opens.
            places: knows what lies beside a history.
            folder: absolute; it need not exist.
        """
        self._reader = reader
        self._places = places
        self._folder = Path(os.path.abspath(folder))  # noqa: PTH100  # no links resolved

    def roots(self) -> Sequence[Path]:
        """The folder."""
        return (self._folder,)

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """As `Source.discover`."""
        tree = LogTree(self._folder, is_history, may_hold_histories)
        for item in self._reader.files([tree], failures, under):
            yield from _checked(item, self._places.inputs(_alone(item)), failures)

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """As `Source.read`: records of turns.

        Raises:
            OSError: the file cannot be opened or read, or is too large.
        """
        return _read(self._reader, self._places, _alone(item), offset, self._folder)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Not asked of things that are rewritten."""
        del item, start, end
        return b""


def _alone(item: SourceItem) -> Place:
    path = Path(item.uri)
    return Place(path, path.parent)


def _only(name: str) -> Callable[[Parts], bool]:
    return lambda parts: parts == (name,)


def _checked(item: SourceItem, inputs: Path, failures: list[SourceFailure]) -> Iterator[SourceItem]:
    """The item, of which what was typed is a part: it tells the times."""
    if item.size > MOST:
        reason = f"larger than {MOST >> 20} MB; such a file is not read"
        failures.append(SourceFailure(item.uri, reason))
        return
    try:
        status = os.lstat(inputs)
    except (OSError, ValueError):
        yield item
        return
    latest = max(item.mtime_ns, status.st_mtime_ns)
    yield SourceItem(item.uri, item.identity, item.size + status.st_size, latest)


def _read(
    reader: LogReader, places: Places, place: Place, offset: int, root: Path | None = None
) -> Iterator[RawLine]:
    data = reader.content(root or place.path.parent, place.path, MOST)
    inputs = places.inputs(place)
    try:
        typed = reader.content(inputs.parent, inputs, _INPUT_MOST)
    except (OSError, ValueError):
        typed = b""  # then the times are those of the chats
    cwd = None if place.project is None else str(place.project)
    return raw_lines(records_of(data, typed, cwd), offset)
