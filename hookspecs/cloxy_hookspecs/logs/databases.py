"""A source of SQLite databases of another program, each with many conversations."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from cloxy_hookspecs.errors import ForeignDatabaseError
from cloxy_hookspecs.logs.folders import absolute
from cloxy_hookspecs.logs.json_values import Record, usable_id
from cloxy_hookspecs.logs.turns import raw_lines
from cloxy_hookspecs.ports.logs import ForeignDatabase, LogReader, LogTree
from cloxy_hookspecs.types.ingest import RawLine, SourceFailure, SourceItem

_SEPARATORS = frozenset("#/\\")


class Version(NamedTuple):
    """What shows that a conversation changed.

    Attributes:
        size: grows with it, such as a number of rows or bytes.
        mtime_ns: when it changed last, nanoseconds since the epoch. It stands in for times that a
            conversation does not tell, so it must not lie in the future.
    """

    size: int
    mtime_ns: int


class Talks(Protocol):
    """What distinguishes the databases of one agent."""

    def tree(self, folder: Path) -> LogTree:
        """How databases lie below a folder."""
        ...

    def versions(self, database: ForeignDatabase) -> Mapping[str, Version]:
        """The conversations of a database by key, without reading a body.

        Raises:
            ForeignDatabaseError: it cannot be read.
        """
        ...

    def records(self, database: ForeignDatabase, path: Path, key: str) -> Iterable[Record]:
        """Records of turns of a conversation; none when it is gone.

        Raises:
            ForeignDatabaseError: it cannot be read.
        """
        ...


class Databases:
    """Finds conversations and reads them whole; implements `FolderSource`.

    A conversation that several databases have comes from the first. Its identity is its key, so
    that it stays the same thing when its database moves.
    """

    def __init__(
        self,
        reader: LogReader,
        agent: str,
        folders: Callable[[], Iterable[Path]],
        talks: Talks,
        skipped: Callable[[], Iterable[str]] = tuple,
        look: Callable[[], object] | None = None,
    ) -> None:
        """Look below folders.

        Args:
            reader: finds and opens.
            agent: name of the agent, for identities.
            folders: tells the folders anew for each look, the more important first.
            talks: what the databases are.
            skipped: tells keys of conversations that another source reads.
            look: called before a look at the whole source, such as `Repositories.look`.
        """
        self._look = look
        self._reader = reader
        self._agent = agent
        self._folders = folders
        self._talks = talks
        self._skipped = skipped
        self._known: dict[Path, tuple[tuple[int, int], Mapping[str, Version]]] = {}

    def of(self, folder: Path) -> "Databases":
        """The same kind of source for another folder."""
        return Databases(self._reader, self._agent, lambda: [folder], self._talks, self._skipped)

    def roots(self) -> Sequence[Path]:
        """Folders that are watched, whether they exist or not."""
        return tuple(tree.root for tree in self._trees())

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """As `Source.discover`."""
        if under is None and self._look is not None:
            self._look()
        paths = [Path(item.uri) for item in self._reader.files(self._trees(), failures)]
        if under is not None and not any(path.is_relative_to(under) for path in paths):
            return
        seen = set(self._skipped())
        for path in paths:
            unfit = 0
            for key, version in self._versions(path, failures).items():
                if usable_id(key) is None or not _SEPARATORS.isdisjoint(key):
                    unfit += 1
                    continue
                if key in seen:
                    continue
                seen.add(key)
                if under is None or path.is_relative_to(under):
                    yield SourceItem(f"{path}#{key}", f"{self._agent}:{key}", *version)
            if unfit:
                reason = f"{unfit} conversation(s) are not read: their ids cannot be used"
                failures.append(SourceFailure(str(path), reason))
        for gone in self._known.keys() - set(paths):
            del self._known[gone]

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """As `Source.read`: records of turns.

        Raises:
            ForeignDatabaseError: the database cannot be read.
        """
        path, _mark, key = item.uri.rpartition("#")
        with self._reader.database(Path(path)) as database:
            records = list(self._talks.records(database, Path(path), key))
        return raw_lines(records, offset)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Not asked of things that are rewritten."""
        del item, start, end
        return b""

    def _trees(self) -> Sequence[LogTree]:
        return [self._talks.tree(folder) for folder in absolute(self._folders())]

    def _versions(self, path: Path, failures: list[SourceFailure]) -> Mapping[str, Version]:
        """Conversations of a database; as they were at the last look when it cannot be read."""
        signature = self._reader.signature(path)
        known = self._known.get(path)
        if known is not None and known[0] == signature:
            return known[1]
        try:
            with self._reader.database(path) as database:
                versions = dict(self._talks.versions(database))
        except ForeignDatabaseError as error:
            failures.append(SourceFailure(str(path), str(error)))
            return {} if known is None else known[1]
        self._known[path] = (signature, versions)
        return versions
